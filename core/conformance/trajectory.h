// Golden trajectories: short training runs of every model preset under every optimizer, with the hash of all weights
// after each step, which is the same on every backend and every machine.
#ifndef EGGROLL_CONFORMANCE_TRAJECTORY_H
#define EGGROLL_CONFORMANCE_TRAJECTORY_H

#include <string>
#include <vector>

#include "config/compose.h"
#include "conformance/check_plugin.h"
#include "plugin/registry.h"

namespace eggroll {

struct Trajectory {
  std::string name;
  std::vector<std::string> overrides;  // of the configuration
  bool has_sites = false;
};
const std::vector<Trajectory>& trajectories();

constexpr uint64_t kTrajectorySteps = 20;

// (kTrajectorySteps) sha256 of all weights. configs: with the presets; models: a registry with the models, the
// optimizers and the reference backend.
std::vector<std::string> weights_after_each_step(const Trajectory& trajectory, const ConfigSearch& configs,
                                                 const Registry& models, const ChosenPlugin& backend);

// Compares the trajectories with the hashes kept in trajectories.inc.
Check check_trajectories(const ConfigSearch& configs, const Registry& models, const ChosenPlugin& backend);

// Checks that each trajectory's session can be planned: see BackendInstance::plan_session.
Check check_plans(const ConfigSearch& configs, const Registry& models, const ChosenPlugin& backend);

}  // namespace eggroll

#endif
