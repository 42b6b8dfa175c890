// Rebuilds weights from the seed, the journal and, if votes are masked, the data, without a forward pass.
#ifndef EGGROLL_TRAIN_REPLAY_H
#define EGGROLL_TRAIN_REPLAY_H

#include <cstdint>
#include <vector>

#include "train/checkpoint.h"
#include "train/run_folder.h"
#include "train/setup.h"

namespace eggroll {

struct Replayed {
  uint64_t steps = 0;
  std::vector<WeightTensor> weights;
};

// Applies the journal's first `steps` entries (0: all) to the initial weights. Throws Error if the journal belongs to
// another configuration or holds fewer entries. Opens the data if votes depend on what was read.
Replayed replay(const Learner& learner, const ConfigNode& config, const RunFolder& folder, uint64_t steps);

}  // namespace eggroll

#endif
