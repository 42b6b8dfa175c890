// What a run's files know beyond its newest checkpoint.
#ifndef EGGROLL_TRAIN_CATCH_UP_H
#define EGGROLL_TRAIN_CATCH_UP_H

#include <cstdint>
#include <optional>
#include <vector>

#include "train/journal.h"
#include "train/run_folder.h"

namespace eggroll {

// Steps whose weights follow from a checkpoint without a forward pass, which needs a program without states: those with
// fitness in the journal and figures in the metrics.
struct KnownSteps {
  std::vector<JournalEntry> entries;         // from the first on, one a step
  std::optional<egg_evaluation> evaluation;  // after the last of them
  uint64_t member_tokens = 0;                // of the run, by then
  uint64_t unique_tokens = 0;
};

// Of the run with this configuration's hash, from `first` steps on, and before its last step, which ends with a
// checkpoint. None where the files say nothing that can be used: the steps are then done again, and nothing is lost.
KnownSteps steps_known(const RunFolder& folder, const std::string& config_hash, uint64_t first, uint64_t last);

}  // namespace eggroll

#endif
