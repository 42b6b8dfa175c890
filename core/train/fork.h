// Composes a fork: a run of its own that goes on from a checkpoint of another run, with other settings.
#ifndef EGGROLL_TRAIN_FORK_H
#define EGGROLL_TRAIN_FORK_H

#include <functional>
#include <string>
#include <vector>

#include "config/tree.h"
#include "train/run_folder.h"

namespace eggroll {

struct Forked {
  RunFolder folder;
  ConfigNode config;  // the run's own, as its folder keeps it
  std::string name;   // RUN or RUN@CHECKPOINT, as it was typed
  // Composes the user's configuration files with these overrides. Throws Error.
  std::function<ConfigNode(const std::vector<std::string>& overrides)> compose;
  // Called with what the fork leaves behind of the run.
  std::function<void(const std::string& sentence)> say;
};

// The fork's overrides: what the run was composed of, its files by absolute paths, but for its stop rules and for what
// belongs to the user's machine; then the changes; then init. Throws Error if the changes set init, or if the
// files no longer compose the run's own settings.
std::vector<std::string> fork_overrides(const Forked& run, const std::vector<std::string>& changes);

}  // namespace eggroll

#endif
