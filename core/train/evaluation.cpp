#include "train/evaluation.h"

#include <numeric>
#include <vector>

namespace eggroll {

HeldOutSums evaluate_held_out(BackendSession& session, const Dataset& dataset, const HeldOutStreams& streams,
                              uint32_t state_bytes, uint32_t first, uint32_t count) {
  std::vector<int8_t> states(size_t{count} * state_bytes);
  std::vector<int64_t> losses(count);
  BatchBuffer batch;
  HeldOutSums result;
  if (count == 0) return result;
  for (uint64_t i = 0; i < streams.batches(); ++i) {
    streams.fill(i, batch, first, count);
    const Scored scored = count_scored(batch, dataset);
    result.scored.tokens += scored.tokens;
    result.scored.units += scored.units;
    session.infer(egg_infer{sizeof(egg_infer), 0, batch.view(), states.data(), losses.data(), nullptr});
    result.loss_q16 = std::accumulate(losses.begin(), losses.end(), result.loss_q16);
  }
  return result;
}

}  // namespace eggroll
