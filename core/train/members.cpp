#include "train/members.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "eggroll/threads_given.h"
#include "processes/packing.h"
#include "system/beside.h"
#include "system/wide.h"
#include "train/clock.h"

namespace eggroll {
namespace {

// Sets the difference of each pair. Returns the sum of all losses.
EGGROLL_WIDE int64_t compare_pairs(const int64_t* losses, size_t pairs, int64_t* d) {
  int64_t sum = 0;
  for (size_t k = 0; k < pairs; ++k) {
    d[k] = losses[2 * k + 1] - losses[2 * k];
    sum += losses[2 * k + 1] + losses[2 * k];
  }
  return sum;
}

}  // namespace

void evaluate_part(BackendSession& session, const egg_evaluate& call, uint32_t first, uint32_t count, int64_t* losses,
                   Threads* threads) {
  const size_t indices = session.indices();
  const egg_batch& batch = call.batch;
  for (const uint32_t end = first + count; first < end; first += count) {
    const uint32_t stream = (first - call.first) / call.members_per_stream;
    const bool whole = (first - call.first) % call.members_per_stream == 0 && end - first >= call.members_per_stream;
    const uint32_t last = call.first + (stream + 1) * call.members_per_stream;
    count = whole ? (end - first) / call.members_per_stream * call.members_per_stream : std::min(end, last) - first;
    const size_t at = size_t{stream} * batch.tokens;
    const egg_batch part{whole ? count / call.members_per_stream : 1,
                         batch.tokens,
                         batch.inputs + at,
                         batch.targets + at,
                         batch.resets + at,
                         batch.rows + at * indices};
    session.evaluate(egg_evaluate{sizeof(egg_evaluate), whole ? call.members_per_stream : count, call.step, first,
                                  count, part, losses},
                     threads);
    losses += count;
  }
}

// Heads the bytes that a process sends; the machines of a run have the same byte order.
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
      shares_(shares_of(setup.learner.train.population, setup.learner.train.members_per_stream, processes.size())),
      own_(shares_[processes.index()]),
      given_(threads_given(Threads::number(setup.learner.threads) + 2).count),
      spare_threads_(given_ - std::min(given_, Threads::number(setup.learner.threads))),
      threads_(static_cast<int>(std::max(1U, std::min(given_ - 1, Threads::number(setup.learner.threads))))),
      held_out_(session, setup.dataset, setup.learner.program->state_bytes(), &threads_),
      d_(own_.count / 2) {
  static_assert(sizeof(Header) == 48);
  for (const MemberShare& share : shares_)
    sizes_.push_back(sizeof(Header) + setup.fitness.packed_bytes(share.count / 2));
}

uint64_t Members::bytes_per_step() const { return *std::max_element(sizes_.begin(), sizes_.end()); }

const Scores& Members::score(uint64_t step, const Word& word) {
  if (coming_.step != step) fill(step, coming_);
  if (!filling_.valid()) begin_filling(step + 1);
  const auto began = Clock::now();
  const int64_t* losses = evaluate_own();
  scores_.forward_seconds = seconds_since(began);
  scores_.gather_seconds = 0.0;
  scores_.loss = 0;
  scores_.scored = {};
  scores_.words.clear();
  const Header own = compare_own(losses, word);
  if (processes_.alone()) {
    add(own);
    setup_.fitness.of_differences(d_, scores_.fitness, &threads_);
  } else {
    gather(own);
  }
  if (filling_.valid()) filling_.wait();
  std::swap(scored_, coming_);
  std::swap(coming_, ahead_);
  begin_filling(step + 2);
  return scores_;
}

// Where a step takes milliseconds, reading its data takes a part of them: it goes on beside an update and the next
// evaluation.
void Members::begin_filling(uint64_t step) {
  filling_ = {};
  if (step < setup_.learner.train.steps) filling_ = on_spare_thread(0, [this, step] { fill(step, ahead_); });
}

void Members::fill(uint64_t step, Filled& filled) {
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each;
  setup_.streams.fill(step, filled.batch, first, (own_.first + own_.count - 1) / each + 1 - first, &threads_);
  // A stream that begins with another process's members is counted there.
  filled.scored = count_scored(filled.batch, setup_.dataset, own_.first % each != 0 ? 1 : 0, &threads_);
  filled.step = step;
}

std::future<void> Members::beside_backend(const std::function<void()>& work) const { return on_spare_thread(1, work); }

std::future<void> Members::on_spare_thread(uint32_t number, const std::function<void()>& work) const {
  // Even a thread that was there at the start may have gone to others since.
  return number < spare_threads_ ? beside(work) : std::async(std::launch::deferred, work);
}

// The call that evaluates own members, from the first of their first stream on.
egg_evaluate Members::call_of_own() const {
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each * each;  // of the first stream's members
  return {sizeof(egg_evaluate), each,   coming_.step, first, own_.first + own_.count - first,
          coming_.batch.view(), nullptr};
}

std::optional<egg_evaluate> Members::coming() const {
  if (coming_.step != scored_.step + 1) return std::nullopt;  // it could not be filled, or there is none
  const egg_evaluate call = call_of_own();
  return is_whole(call) ? std::optional(call) : std::nullopt;
}

// Whether own members are all that read the streams of this call.
bool Members::is_whole(const egg_evaluate& call) const {
  return call.first == own_.first && call.count % call.members_per_stream == 0;
}

void Members::expect_losses() {
  if (is_whole(call_of_own())) session_.expect_losses(own_.count, &threads_);
}

// The losses of own members, until the next call.
const int64_t* Members::evaluate_own() {
  const egg_evaluate call = call_of_own();
  if (is_whole(call)) return session_.losses_of(call, &threads_);
  losses_.resize(own_.count);
  evaluate_part(session_, call, own_.first, own_.count, losses_.data(), &threads_);
  return losses_.data();
}

// Leaves the differences of own pairs in d_.
Members::Header Members::compare_own(const int64_t* losses, const Word& word) {
  std::atomic<int64_t> loss = 0;
  threads_.split(d_.size(), kFewestElements, [&](size_t begin, size_t end) {
    loss += compare_pairs(losses + 2 * begin, end - begin, d_.data() + begin);
  });
  const Scored& scored = coming_.scored;
  return {loss, scored.tokens, scored.units, word.weights, word.seconds, word.wants_end ? uint64_t{1} : 0};
}

void Members::add(const Header& header) {
  scores_.loss += header.loss;
  scores_.scored.tokens += header.tokens;
  scores_.scored.units += header.units;
  scores_.words.push_back({header.seconds, header.weights, header.wants_end != 0});
}

void Members::gather(const Header& header) {
  std::vector<uint8_t> mine(sizeof(header));
  std::memcpy(mine.data(), &header, sizeof(header));
  setup_.fitness.pack(d_, mine);
  const auto sent = Clock::now();
  processes_.begin_gather(mine, sizes_, gathered_);
  processes_.end_gather();
  scores_.gather_seconds = seconds_since(sent);
  std::vector<std::span<const uint8_t>> parts;
  const uint8_t* at = gathered_.data();
  for (const uint64_t size : sizes_) {
    Header other{};
    std::memcpy(&other, at, sizeof(other));
    add(other);
    parts.push_back(std::span(at, size).subspan(sizeof(other)));
    at += size;
  }
  std::vector<uint32_t> pairs;
  for (const MemberShare& share : shares_) pairs.push_back(share.count / 2);
  setup_.fitness.of_packed(parts, pairs, scores_.fitness, &threads_);
}

const BatchBuffer& Members::batch_of_all(uint64_t step) {
  if (processes_.alone() && scored_.step == step) return scored_.batch;
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
