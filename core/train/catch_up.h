// Finds the steps that a run's files know beyond its newest checkpoint.
#ifndef EGGROLL_TRAIN_CATCH_UP_H
#define EGGROLL_TRAIN_CATCH_UP_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/journal.h"
#include "train/run_folder.h"
#include "train/step_record.h"

namespace eggroll {

// Steps after the checkpoint whose fitness is in the journal and whose figures are in the metrics. If members have no
// states, the weights after these steps follow without a forward pass.
struct KnownSteps {
  std::vector<JournalEntry> entries;         // from the first on, one a step
  std::optional<egg_evaluation> evaluation;  // after the last of them
  StepRecord last;                           // what the metrics say of it
};

// Reads the known steps from `first` on and before `last`, the run's last step, which ends with a checkpoint; origin:
// its first. The run has this configuration's hash, and its newest checkpoint knows these evaluations. unit: of the
// dataset. A step that the files hold only in part is left out and done again. Damage is a warning, because a run that
// goes on cuts it off; JournalWriter and MetricsFile refuse damage before the checkpoint. Throws if journal and
// checkpoint disagree on an evaluation.
KnownSteps steps_known(const RunFolder& folder, const std::string& config_hash,
                       std::span<const egg_evaluation> evaluations, uint64_t first, uint64_t last, uint64_t origin,
                       const std::string& unit, const std::function<void(const std::string&)>& warn);

}  // namespace eggroll

#endif
