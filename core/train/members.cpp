#include "train/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <system_error>

#include "eggroll/threads_given.h"
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
  int64_t loss;     // of its members
  uint64_t tokens;  // scored, of the streams whose first member is its own
  uint64_t units;
  uint64_t weights;
  double seconds;
  uint64_t wants_end;
};

Members::Members(const Setup& setup, BackendSession& session, Processes& processes)
    : setup_(setup),
      session_(session),
      processes_(processes),
      shares_(member_shares(setup.learner, processes.size())),
      own_(shares_[processes.index()]),
      site_parts_(setup.learner, shares_, processes.index()),
      given_(threads_given(Threads::number(setup.learner.threads) + 1).count),
      threads_(static_cast<int>(std::max(1U, given_ - 1))),
      held_out_(session, setup.dataset, setup.learner.program->state_bytes(), &threads_),
      d_(own_.count / 2) {
  static_assert(sizeof(Header) == 48);
  const uint64_t head = sizeof(Header) + setup.learner.sites.size() * sizeof(egg_site_sums);
  for (const MemberShare& share : shares_) sizes_.push_back(head + setup.fitness.packed_bytes(share.count / 2));
  if (given_ <= Threads::number(setup.learner.threads)) return;
  try {
    side_thread_.emplace(std::chrono::microseconds(0));
  } catch (const std::system_error&) {
    // The system may refuse a thread that it had a moment ago.
  }
}

uint64_t Members::bytes_per_step() const {
  return *std::max_element(sizes_.begin(), sizes_.end()) + site_parts_.bytes_per_step();
}

const Scores& Members::score(uint64_t step, const StepMessage& message) {
  if (step >= filled_end_) end_filling();
  if (filled(step).step != step) {
    fill(step);
    filled_end_ = step + 1;
  }
  const auto began = Clock::now();
  const int64_t loss = evaluate_own(step);
  scores_.forward_seconds = seconds_since(began);
  scores_.gather_seconds = 0.0;
  scores_.loss = 0;
  scores_.scored = {};
  scores_.messages.clear();
  const Scored& scored = filled(step).scored;
  const Header own{
      loss, scored.tokens, scored.units, message.weights, message.seconds, message.wants_end ? uint64_t{1} : 0};
  if (processes_.alone()) {
    add(own);
    setup_.fitness.of_differences(d_, scores_.fitness, &threads_);
  } else {
    gather(own);
  }
  end_filling();
  scored_ = step;
  return scores_;
}

std::future<void> Members::begin_beside_update(const std::function<void()>& work) {
  // Where a step takes milliseconds, reading data takes a part of them. Three steps ahead, it has until the end of the
  // next evaluation.
  filling_end_ = std::max(filled_end_, std::min(scored_ + batches_.size(), setup_.learner.train.steps));
  is_filling_ = true;
  const auto fill_later = [this, first = filled_end_] {
    try {
      for (uint64_t s = first; s < filling_end_; ++s) fill(s);
    } catch (...) {
      // score() tries again where it needs the batch, and says what is wrong.
    }
  };
  if (!work) {
    on_side_thread(fill_later);
    return {};
  }
  const auto task = std::make_shared<std::packaged_task<void()>>(work);
  on_side_thread([task, fill_later] {
    (*task)();
    fill_later();
  });
  return task->get_future();
}

void Members::on_side_thread(const std::function<void()>& work) {
  if (side_thread_) return side_thread_->start(work);
  work();
}

void Members::end_filling() {
  if (!is_filling_) return;
  is_filling_ = false;
  filled_end_ = filling_end_;
  if (side_thread_) side_thread_->wait();
}

void Members::fill(uint64_t step) {
  Filled& filled = batches_[step % batches_.size()];
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each;
  setup_.streams.fill(step, filled.batch, first, (own_.first + own_.count - 1) / each + 1 - first, &threads_);
  // A stream that begins with another process's members is counted there.
  filled.scored = count_scored(filled.batch, setup_.dataset, own_.first % each != 0 ? 1 : 0, &threads_);
  filled.step = step;
}

// The call that evaluates own members, from the first of their first stream on.
egg_evaluate Members::call_of_own(uint64_t step) const {
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each * each;  // of the first stream's members
  const uint32_t count = own_.first + own_.count - first;
  return {sizeof(egg_evaluate), each, step, first, count, filled(step).batch.view(), nullptr, nullptr};
}

std::optional<egg_evaluate> Members::known_call(uint64_t step) const {
  if (step >= filled_end_ || filled(step).step != step) return std::nullopt;
  return evaluates_whole_streams() ? std::optional(call_of_own(step)) : std::nullopt;
}

// Whether own members are all that read their streams, so that one call evaluates them.
bool Members::evaluates_whole_streams() const {
  const uint32_t each = setup_.learner.train.members_per_stream;
  return own_.first % each == 0 && own_.count % each == 0;
}

void Members::expect_losses() {
  if (evaluates_whole_streams()) session_.expect_losses(own_.count, &threads_);
}

// Leaves the differences of own pairs in d_. Returns the sum of own losses.
int64_t Members::evaluate_own(uint64_t step) {
  egg_evaluate call = call_of_own(step);
  scores_.sites.assign(setup_.learner.sites.size(), egg_site_sums{});
  call.sites = scores_.sites.data();
  const std::optional<egg_evaluate> next = known_call(step + 1);
  if (next) call.next = &*next;
  int64_t sum = 0;
  each_call(call, session_.indices(), own_.first, own_.count, [&](const egg_evaluate& part) {
    sum += session_.differences_of(part, d_.data() + (part.first - own_.first) / 2, &threads_);
  });
  return sum;
}

void Members::add(const Header& header) {
  scores_.loss += header.loss;
  scores_.scored.tokens += header.tokens;
  scores_.scored.units += header.units;
  scores_.messages.push_back({header.seconds, header.weights, header.wants_end != 0});
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
  setup_.fitness.of_packed(parts, pairs, scores_.fitness, &threads_);
}

const BatchBuffer& Members::batch_of_all(uint64_t step) {
  if (processes_.alone() && filled(step).step == step) return filled(step).batch;
  setup_.fill_read(step, all_);
  return all_;
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
