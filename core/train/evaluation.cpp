#include "train/evaluation.h"

#include <algorithm>
#include <numeric>

#include "eggroll/threads.h"

namespace eggroll {

HeldOutSums HeldOutEvaluator::run(const HeldOutStreams& streams, uint32_t first, uint32_t count) {
  HeldOutSums result;
  if (count == 0) return result;
  states_.resize(size_t{count} * state_bytes_);
  losses_.resize(count);
  fill_elements(threads_, states_.data(), states_.size(), int8_t{0});
  for (uint64_t i = 0; i < streams.batches(); ++i) {
    streams.fill(i, batch_, first, count, threads_);
    const Scored scored = count_scored(batch_, dataset_, 0, threads_);
    result.scored.tokens += scored.tokens;
    result.scored.units += scored.units;
    session_.infer(egg_infer{sizeof(egg_infer), 0, batch_.view(), states_.data(), losses_.data(), nullptr}, threads_);
    result.loss_q16 = std::accumulate(losses_.begin(), losses_.end(), result.loss_q16);
  }
  return result;
}

}  // namespace eggroll
