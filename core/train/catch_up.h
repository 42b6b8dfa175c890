// Finds the steps after a run's newest checkpoint that the run's files hold.
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
  std::vector<JournalEntry> entries;         // from the first on, one per step
  std::optional<egg_evaluation> evaluation;  // after the last of them
  StepRecord last;                           // the metrics' line of the last entry
};

// Reads the known steps from `first` on and before `last`, the run's last step, which ends with a checkpoint. origin:
// the run's first step. evaluations: those in the newest checkpoint. unit: the dataset's. A step that the files hold
// only in part is left out and done again. JournalWriter refuses a damaged header and a damaged last entry before the
// checkpoint, MetricsFile all damage before it. Other damage gives a warning, except an end that was cut short. Throws
// if journal and checkpoint disagree on an evaluation.
KnownSteps steps_known(const RunFolder& folder, const std::string& config_hash,
                       std::span<const egg_evaluation> evaluations, uint64_t first, uint64_t last, uint64_t origin,
                       const std::string& unit, const std::function<void(const std::string&)>& warn);

}  // namespace eggroll

#endif
