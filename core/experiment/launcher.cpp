#include "experiment/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/override.h"
#include "config/settings_block.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "experiment/runner.h"
#include "experiment/slurm_launcher.h"
#include "system/machine.h"

namespace eggroll {
namespace {

constexpr const char* kSection = "launcher";

class LocalLauncher : public Launcher {
 public:
  explicit LocalLauncher(std::vector<Worker> workers) : workers_(std::move(workers)) {}
  bool runs_here() const override { return true; }
  SweepResult run(const Sweep& sweep, const LaunchOptions& options, const SweepHooks& hooks) override {
    if (workers_.size() > 1 && !can_pin_cores() && hooks.said) {
      hooks.said(
          "this system pins no cores, so points that run at once share all cores, with backend.threads threads each");
    }
    return run_sweep(sweep, workers_, options, hooks);
  }

 private:
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Launcher> open_launcher(const ConfigNode& section, const LocalWorkers& workers) {
  const ConfigNode& name = section.at("name");
  if (scalar_text(name) == "local") {
    require_only(section, {"name"});
    return std::make_unique<LocalLauncher>(workers.workers.empty() ? even_workers(workers.jobs.value_or(1))
                                                                   : parse_workers(workers.workers));
  }
  if (scalar_text(name) != "slurm") {
    throw wrong(name.source(), fmt::format("launcher.name is {}, expected local or slurm{}; correct it",
                                           shown_value(name), near_name(scalar_text(name), {"local", "slurm"})));
  }
  if (workers.jobs || !workers.workers.empty()) {
    throw Error(
        "--jobs and --workers are for points on this machine, but launcher=slurm runs them elsewhere; leave them out, "
        "or set launcher.at_once");
  }
  return std::make_unique<SlurmLauncher>(read_slurm(section));
}

bool is_of_launcher(const std::string& override_text) {
  const std::string key = parse_override(override_text).key;
  return key.substr(0, key.find('.')) == kSection;
}

void erase_launcher(ConfigNode& config) {
  std::erase_if(config.map(), [](const ConfigNode::Entry& entry) { return entry.key == kSection; });
}

}  // namespace eggroll
