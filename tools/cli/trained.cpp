#include "cli/trained.h"

#include <fmt/format.h>

#include <charconv>

#include "eggroll/error.h"
#include "system/files.h"
#include "train/average.h"
#include "train/checkpoint.h"
#include "train/identity.h"
#include "train/session_io.h"

namespace eggroll {
namespace fs = std::filesystem;

fs::path choose_checkpoint(const RunFolder& folder, const std::string& chosen) {
  const auto newest = latest_checkpoint(folder.path);
  if (!newest) throw Error(fmt::format("{} has no checkpoint yet; let the run go on first", folder.path.string()));
  if (chosen == "last") return *newest;
  uint64_t step = 0;
  const char* end = chosen.data() + chosen.size();
  const auto [stop, status] = std::from_chars(chosen.data(), end, step);
  if (status != std::errc() || stop != end) {
    throw Error(fmt::format("--checkpoint is '{}', expected last or a number of steps; correct it", chosen));
  }
  return checkpoint_after(folder.path, step);
}

namespace {

// A run that goes on may remove a checkpoint while it is read: then the choice is made again.
Checkpoint load_chosen(const Learner& learner, const ConfigNode& config, const RunFolder& folder,
                       const std::string& chosen) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    const fs::path path = choose_checkpoint(folder, chosen);
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
  Trained trained{learner.open_session(), checkpoint.step, checkpoint.data_sha256};
  restore_session(trained.session, learner, checkpoint);
  if (average) swap_in_average(trained.session, learner);
  return trained;
}

}  // namespace eggroll
