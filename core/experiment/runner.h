// Runs the points of a sweep on this machine, each as a process of its own, as many at once as there are workers.
#ifndef EGGROLL_EXPERIMENT_RUNNER_H
#define EGGROLL_EXPERIMENT_RUNNER_H

#include <vector>

#include "experiment/launcher.h"
#include "experiment/workers.h"

namespace eggroll {

// See Launcher::run().
SweepResult run_sweep(const Sweep& sweep, const std::vector<Worker>& workers, const LaunchOptions& options,
                      const SweepHooks& hooks);

}  // namespace eggroll

#endif
