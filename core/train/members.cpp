#include "train/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "processes/packing.h"
#include "train/clock.h"

namespace eggroll {

void each_call(const egg_evaluate& call, uint32_t indices, uint32_t first, uint32_t count,
               const std::function<void(const egg_evaluate&)>& body) {
  const egg_batch& batch = call.batch;
  for (const uint32_t end = first + count; first < end; first += count) {
    const uint32_t stream = (first - call.first) / call.members_per_stream;
    const bool whole = (first - call.first) % call.members_per_stream == 0 && end - first >= call.members_per_stream;
    const uint32_t last = call.first + (stream + 1) * call.members_per_stream;
    count = whole ? (end - first) / call.members_per_stream * call.members_per_stream : std::min(end, last) - first;
    const size_t at = size_t{stream} * batch.tokens;
    egg_evaluate part = call;
    part.members_per_stream = whole ? call.members_per_stream : count;
    part.first = first;
    part.count = count;
    part.batch = {whole ? count / call.members_per_stream : 1,
                  batch.tokens,
                  batch.inputs + at,
                  batch.targets + at,
                  batch.resets + at,
                  batch.rows + at * indices};
    if (part.count != call.count) part.next = nullptr;
    if (call.losses != nullptr) part.losses = call.losses + (first - call.first);
    body(part);
  }
}

std::vector<MemberShare> member_shares(const Learner& learner, uint32_t processes) {
  const uint32_t streams = learner.train.population / learner.train.members_per_stream;
  if (!learner.sites.empty() && processes > streams) {
    throw Error(fmt::format(
        "{} processes share {} streams, expected at most a process for each, because a stream of sites runs "
        "once; start {} or fewer, or use a larger train.population",
        processes, streams, streams));
  }
  return shares_of(learner.train.population, learner.train.members_per_stream, processes);
}

// Heads the bytes that a process sends, before the sums of its sites; the machines of a run have the same byte order.
struct Members::Header {
  StepMessage message;
  int64_t loss;   // of its members
  Scored scored;  // of the streams whose first member is its own
};

Members::Members(const Setup& setup, BackendSession& session, Processes& processes, StepPipeline& pipeline)
    : setup_(setup),
      session_(session),
      processes_(processes),
      pipeline_(pipeline),
      shares_(member_shares(setup.learner, processes.size())),
      own_(shares_[processes.index()]),
      site_parts_(setup.learner, shares_, processes.index()),
      held_out_(session, setup.dataset, setup.learner.program->state_bytes(), &pipeline.threads()),
      d_(own_.count / 2) {
  static_assert(sizeof(Header) == 48);
  const uint64_t head = sizeof(Header) + setup.learner.sites.size() * sizeof(egg_site_sums);
  for (const MemberShare& share : shares_) sizes_.push_back(head + setup.fitness.packed_bytes(share.count / 2));
}

uint64_t Members::bytes_per_step() const {
  return *std::max_element(sizes_.begin(), sizes_.end()) + site_parts_.bytes_per_step();
}

const Scores& Members::score(uint64_t step, const StepMessage& message) {
  const egg_evaluate call = pipeline_.call(step);
  const auto began = Clock::now();
  const int64_t loss = evaluate_own(call);
  scores_.forward_seconds = seconds_since(began);
  scores_.gather_seconds = 0.0;
  scores_.loss = 0;
  scores_.scored = {};
  scores_.messages.clear();
  const Header own{message, loss, pipeline_.scored(step)};
  if (processes_.alone()) {
    add(own);
    setup_.fitness.of_differences(d_, scores_.fitness, &pipeline_.threads());
  } else {
    gather(own);
  }
  pipeline_.end_filling();
  return scores_;
}

// Leaves the differences of own pairs in d_. Returns the sum of own losses.
int64_t Members::evaluate_own(egg_evaluate call) {
  scores_.sites.assign(setup_.learner.sites.size(), egg_site_sums{});
  call.sites = scores_.sites.data();
  int64_t sum = 0;
  each_call(call, session_.indices(), own_.first, own_.count, [&](const egg_evaluate& part) {
    sum += session_.differences_of(part, d_.data() + (part.first - own_.first) / 2, &pipeline_.threads());
  });
  return sum;
}

void Members::add(const Header& header) {
  scores_.loss += header.loss;
  scores_.scored.tokens += header.scored.tokens;
  scores_.scored.units += header.scored.units;
  scores_.messages.push_back(header.message);
}

void Members::gather(const Header& header) {
  std::vector<egg_site_sums>& sites = scores_.sites;
  const size_t head = sizeof(header) + sites.size() * sizeof(egg_site_sums);
  std::vector<uint8_t> mine(head);
  std::memcpy(mine.data(), &header, sizeof(header));
  if (!sites.empty()) std::memcpy(mine.data() + sizeof(header), sites.data(), head - sizeof(header));
  setup_.fitness.pack(d_, mine);
  if (!sites.empty()) site_parts_.take(session_);
  const auto sent = Clock::now();
  processes_.begin_gather(mine, sizes_, gathered_);
  processes_.end_gather();
  if (!sites.empty()) site_parts_.gather(processes_);
  scores_.gather_seconds = seconds_since(sent);
  if (!sites.empty()) site_parts_.give(session_);
  std::fill(sites.begin(), sites.end(), egg_site_sums{});
  std::vector<std::span<const uint8_t>> parts;
  const uint8_t* at = gathered_.data();
  for (const uint64_t size : sizes_) {
    Header other{};
    std::memcpy(&other, at, sizeof(other));
    add(other);
    for (size_t i = 0; i < sites.size(); ++i) {
      egg_site_sums sums{};
      std::memcpy(&sums, at + sizeof(other) + i * sizeof(sums), sizeof(sums));
      sites[i].tokens += sums.tokens;
      sites[i].squares += sums.squares;
    }
    parts.push_back(std::span(at, size).subspan(head));
    at += size;
  }
  std::vector<uint32_t> pairs;
  for (const MemberShare& share : shares_) pairs.push_back(share.count / 2);
  setup_.fitness.of_packed(parts, pairs, scores_.fitness, &pipeline_.threads());
}

HeldOutSums Members::evaluate(const HeldOutStreams& streams) {
  const uint64_t first = uint64_t{streams.streams()} * processes_.index() / processes_.size();
  const uint64_t end = uint64_t{streams.streams()} * (processes_.index() + 1) / processes_.size();
  const HeldOutSums own = held_out_.run(streams, static_cast<uint32_t>(first), static_cast<uint32_t>(end - first));
  HeldOutSums all;
  for (const HeldOutSums& part : processes_.gather(own)) {
    all.loss_q16 += part.loss_q16;
    all.scored.tokens += part.scored.tokens;
    all.scored.units += part.scored.units;
  }
  return all;
}

std::vector<int8_t> Members::states() {
  const uint64_t bytes = setup_.learner.program->state_bytes();
  std::vector<int8_t> mine(own_.count * bytes);
  session_.get_states(own_.first, own_.count, mine.data());
  std::vector<uint64_t> sizes;
  for (const MemberShare& share : shares_) sizes.push_back(share.count * bytes);
  return processes_.collect(mine, sizes);
}

}  // namespace eggroll
