// Looks inside an integer model while it is trained: at values, attention, weights and votes after a step. It reads the
// run's weights and computes in sessions of its own, so that it does not change the run.
#ifndef EGGROLL_MONITOR_MONITOR_H
#define EGGROLL_MONITOR_MONITOR_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "monitor/probe.h"
#include "monitor/report.h"
#include "monitor/votes.h"
#include "plugin/instance.h"
#include "program/program.h"

namespace eggroll {

// The run that is looked at; the program must outlive the monitor.
struct MonitoredRun {
  const BackendInstance& backend;
  const Program& program;
  egg_noise noise;
  uint32_t population;
  int32_t threads;
  const std::vector<egg_voters>& voters;
  uint32_t members_per_stream;
};

class Monitor {
 public:
  Monitor(const MonitoredRun& run, const Dataset& dataset);

  // Every step's votes, or the last kVoteSteps at least; see VoteMeter::add.
  void add_votes(VotedStep step) { votes_.add(std::move(step)); }

  // session: the run's, of which the weights are read. changed: weights that the last step moved, by parameter.
  // cost_of_noise: see MonitorReport.
  MonitorReport look(BackendSession& session, uint64_t steps_done, const std::vector<int64_t>& changed,
                     std::optional<double> cost_of_noise);

 private:
  void look_at_values(const ModelWeights& weights, MonitorReport& report);

  const Program& program_;
  Probe probe_;
  VoteMeter votes_;
  ModelWeights first_weights_;
};

}  // namespace eggroll

#endif
