// The life of a run, from its configuration to its record: whether it has ended already, its folder and its lock, and
// the processes that share it. Nothing here prints.
#ifndef EGGROLL_TRAIN_RUN_H
#define EGGROLL_TRAIN_RUN_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "plugin/registry.h"
#include "processes/processes.h"
#include "record/record.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/trainer.h"

namespace eggroll {

// Calls to the caller, in this order, on all processes. Each may be empty.
struct RunHooks {
  // Several processes share the run and have joined. Not called if this process is alone.
  std::function<void(const Processes&)> joined;
  // All parts of the run are open, and nothing is written yet.
  std::function<void(const Setup&)> opened;
  // The folder is locked and has its config.yaml; training begins.
  std::function<void(const RunFolder&, const Processes&)> begins;
  TrainHooks train;
  // This process has failed and is about to end all others, which wait for it. Not called if this process is alone.
  std::function<void(const Processes&, const std::string& sentence)> fails;
};

struct RunResult {
  RunRecord record;  // whole on process 0
  RunFolder folder;
  uint64_t steps = 0;             // the steps that the configuration asks for
  bool leads = true;              // this process is process 0
  bool ended_before = false;      // the folder's record says that the run has ended; no step was done
  std::string other_builds = {};  // plugins of which another build made that run; see other_builds()
};

// Whether the run has ended: completed, or stopped by the rules that the configuration still has.
bool has_ended(const RunRecord& record, const ConfigNode& config);

// Throws Error if a run that has ended was made with another op set than today's: the same settings give other numbers
// now. folder: the run's.
void require_same_ops(const RunRecord& record, const std::filesystem::path& folder);

// The same, and throws Error too if the record's model program or update rule differ from this identity's. The
// backend's build does not matter, because all backends give the same bits.
void require_same_arithmetic(const RunRecord& record, const RunIdentity& now, const std::filesystem::path& folder);

// The names of the model and the optimizer whose files differ from those that made the run: "gru, sign_es", or one of
// the two; "" if both are the same.
std::string other_builds(const RunRecord& record, const std::vector<PluginRecord>& now);

// Begins the run, or goes on with it, and returns once it has ended or a signal has stopped it. The configuration must
// be resolved, with absolute paths; if several processes share the run, process 0's counts. folder_of: returns the
// run's folder, which need not exist. Throws Error; if several processes share the run, a failure of one ends all.
RunResult run_in_folder(const ConfigNode& config,
                        const std::function<std::filesystem::path(const ConfigNode&)>& folder_of,
                        const Registry& registry, const Invocation& invocation, const RunHooks& hooks);

}  // namespace eggroll

#endif
