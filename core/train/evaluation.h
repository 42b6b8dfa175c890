// Held-out evaluation of the unperturbed model.
#ifndef EGGROLL_TRAIN_EVALUATION_H
#define EGGROLL_TRAIN_EVALUATION_H

#include <cstdint>
#include <vector>

#include "data/streams.h"
#include "plugin/instance.h"

namespace eggroll {

// The exact sums of an evaluation. Processes add theirs up before the record's Evaluation is made of them.
struct HeldOutSums {
  int64_t loss_q16 = 0;  // sum of -log2 p over the scored tokens, Q16 bits
  Scored scored;
  double bits_per_unit() const { return static_cast<double>(loss_q16) / 65536.0 / static_cast<double>(scored.units); }
};

// Evaluates the unperturbed model. It keeps its memory from one evaluation to the next, because fresh memory for
// thousands of streams takes milliseconds.
class HeldOutEvaluator {
 public:
  // All arguments must outlive this. state_bytes is the program's. threads: for the host's part of the work; null: the
  // caller's thread does it.
  HeldOutEvaluator(BackendSession& session, const Dataset& dataset, uint64_t state_bytes, Threads* threads = nullptr)
      : session_(session), dataset_(dataset), state_bytes_(state_bytes), threads_(threads) {}

  // Evaluates streams [first, first + count) from zero states.
  HeldOutSums run(const HeldOutStreams& streams, uint32_t first, uint32_t count);

 private:
  BackendSession& session_;
  const Dataset& dataset_;
  uint64_t state_bytes_;
  Threads* threads_;
  BatchBuffer batch_;
  std::vector<int8_t> states_;
  std::vector<int64_t> losses_;
};

}  // namespace eggroll

#endif
