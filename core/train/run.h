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

// What the caller is told, in this order. Each may be empty. All processes call them.
struct RunHooks {
  // Several processes share the run and have met; not called where this one is alone.
  std::function<void(const Processes&)> joined;
  // All parts of the run are open, and nothing is written yet.
  std::function<void(const Setup&)> opened;
  // The folder is locked and has its config.yaml; training begins.
  std::function<void(const RunFolder&, const Processes&)> begins;
  TrainHooks train;
  // This process has failed and is about to end all others, which wait for it. Not called where it is alone.
  std::function<void(const Processes&, const std::string& sentence)> fails;
};

struct RunResult {
  RunRecord record;  // whole on process 0
  RunFolder folder;
  uint64_t steps = 0;             // that the configuration asks for
  bool leads = true;              // this process is process 0
  bool ended_before = false;      // the folder's record is of a run that has ended; no step was done
  std::string other_builds = {};  // of plugins that made such a run, with the same arithmetic; see other_builds()
};

// Whether the run has ended: completed, or stopped by the rules that the configuration still has.
bool has_ended(const RunRecord& record, const ConfigNode& config);

// Throws Error where a run that has ended was made with another op set than today's: the same settings give other
// numbers now. folder: the run's.
void require_same_ops(const RunRecord& record, const std::filesystem::path& folder);

// Also where its model program or its update rule are not those of this identity. What its backend was built from does
// not matter, because all backends give the same bits.
void require_same_arithmetic(const RunRecord& record, const RunIdentity& now, const std::filesystem::path& folder);

// The names of the model and the optimizer, or of one of them, where their files are others than those that made the
// run: "gru, sign_es"; "" where they are the same.
std::string other_builds(const RunRecord& record, const std::vector<PluginRecord>& now);

// Begins the run, or goes on with it, and returns once it has ended or a signal has stopped it. The configuration is
// resolved and its paths are absolute; where several processes share the run, that of process 0 counts. folder_of: the
// run's folder, which need not exist. Throws Error; where several processes share the run, a failure of one ends them
// all.
RunResult run_in_folder(const ConfigNode& config,
                        const std::function<std::filesystem::path(const ConfigNode&)>& folder_of,
                        const Registry& registry, const Invocation& invocation, const RunHooks& hooks);

}  // namespace eggroll

#endif
