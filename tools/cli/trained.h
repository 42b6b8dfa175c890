// A run's model as one of its checkpoints holds it.
#ifndef EGGROLL_TOOLS_CLI_TRAINED_H
#define EGGROLL_TOOLS_CLI_TRAINED_H

#include <cstdint>
#include <filesystem>
#include <string>

#include "plugin/instance.h"
#include "train/run_folder.h"
#include "train/setup.h"

namespace eggroll {

struct Trained {
  BackendSession session;
  uint64_t step;            // steps done
  std::string data_sha256;  // of the data that they were trained on
};

// chosen: see choose_checkpoint(). weights: "weights" or "average". Throws Error where the checkpoint is another run's
// or damaged, or the run keeps no average.
Trained open_trained(const Learner& learner, const ConfigNode& config, const RunFolder& folder,
                     const std::string& chosen, const std::string& weights);

}  // namespace eggroll

#endif
