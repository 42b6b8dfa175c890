// Points as elements of job arrays on a Slurm cluster.
#ifndef EGGROLL_EXPERIMENT_SLURM_LAUNCHER_H
#define EGGROLL_EXPERIMENT_SLURM_LAUNCHER_H

#include "experiment/launcher.h"
#include "experiment/slurm.h"

namespace eggroll {

// Submits what is left as an array with one element for each point. Then it watches the queue and the points' folders,
// whose records and hold files are the truth. What Slurm requeues goes on by itself; what Slurm ends without requeueing
// is submitted again, as long as it makes progress. It takes over elements that an earlier launch left in the queue,
// unless that launch still runs.
class SlurmLauncher : public Launcher {
 public:
  explicit SlurmLauncher(SlurmSettings settings) : settings_(std::move(settings)) {}
  bool runs_here() const override { return false; }
  SweepResult run(const Sweep& sweep, const LaunchOptions& options, const SweepHooks& hooks) override;

 private:
  SlurmSettings settings_;
};

}  // namespace eggroll

#endif
