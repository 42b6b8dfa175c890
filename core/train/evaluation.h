// Held-out evaluation of the unperturbed model.
#ifndef EGGROLL_TRAIN_EVALUATION_H
#define EGGROLL_TRAIN_EVALUATION_H

#include <cstdint>

#include "data/streams.h"
#include "plugin/instance.h"

namespace eggroll {

// The exact sums of an evaluation. Processes add theirs up before the record's Evaluation is made of them.
struct HeldOutSums {
  int64_t loss_q16 = 0;  // sum of -log2 p over the scored tokens, Q16 bits
  Scored scored;
  double bits_per_unit() const { return static_cast<double>(loss_q16) / 65536.0 / static_cast<double>(scored.units); }
};

// Runs streams [first, first + count) from zero states. state_bytes is the program's.
HeldOutSums evaluate_held_out(BackendSession& session, const Dataset& dataset, const HeldOutStreams& streams,
                              uint32_t state_bytes, uint32_t first, uint32_t count);

}  // namespace eggroll

#endif
