#include "cli/trained.h"

#include <fmt/format.h>

#include "eggroll/error.h"
#include "record/sentence.h"
#include "system/files.h"
#include "train/average.h"
#include "train/checkpoint.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"
#include "train/session_io.h"

namespace eggroll {
namespace fs = std::filesystem;

namespace {

// A run that goes on may remove a checkpoint while it is read: then the choice is made again.
Checkpoint load_chosen(const Learner& learner, const ConfigNode& config, const RunFolder& folder,
                       const std::string& chosen) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    const fs::path path = choose_checkpoint(folder, chosen, "--checkpoint is");
    try {
      Checkpoint checkpoint = load_checkpoint(path);
      require_same_run(path, checkpoint.identity, identity_of(learner, config, folder));
      return checkpoint;
    } catch (const Error&) {
      if (i == kTries || is_there(path)) throw;
    }
  }
}

}  // namespace

Trained open_trained(const Learner& learner, const ConfigNode& config, const RunFolder& folder,
                     const std::string& chosen, const std::string& weights) {
  const bool average = weights == "average";
  if (average && !learner.average) {
    throw Error(
        fmt::format("--weights is average, and the run in {} keeps no average of its weights; leave --weights "
                    "out, or begin a run with optimizer.average",
                    folder.path.string()));
  }
  const Checkpoint checkpoint = load_chosen(learner, config, folder, chosen);
  if (chosen == "best") {
    const BestCheckpoint best = require_best(folder);
    if (best.step != best.best_step) {
      print_error("eggroll", fmt::format("the best evaluation was after {} steps, and {} keeps no checkpoint of it: "
                                         "this is the best of those that it keeps",
                                         best.best_step, folder.path.string()));
    }
  }
  Trained trained{learner.open_session(), checkpoint.step, checkpoint.data_sha256};
  restore_session(trained.session, learner, checkpoint);
  if (average) swap_in_average(trained.session, learner);
  return trained;
}

}  // namespace eggroll
