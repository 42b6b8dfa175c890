// Opens every point of a sweep before the first runs: plugins, program, dataset, memory.
#ifndef EGGROLL_EXPERIMENT_CHECK_POINTS_H
#define EGGROLL_EXPERIMENT_CHECK_POINTS_H

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/sweep.h"
#include "plugin/folders.h"

namespace eggroll {

struct PointCheck {
  std::string error;   // the sentence; "" where the point can run
  std::string device;  // "" where it runs elsewhere
  uint64_t memory_bytes = 0;
  // The sources of its numbers, in addition to its settings; empty if it cannot run.
  std::string program_hash;
  std::string rule_hash;
  std::vector<PluginRecord> plugins;
};

// Returns one check for each point, in order. here: the points run on this machine. If they do not, this machine's
// memory says nothing, and another backend stands in for one that cannot run on it. Plugins are opened in child
// processes, so that a plugin that crashes is an error of its point. Call it before the process has threads. Where
// can_compute_after_fork() is false, plugins are opened in this process, and such a crash ends it before any point
// begins.
std::vector<PointCheck> check_points(const std::vector<SweepPoint>& points, const std::vector<PluginFolder>& plugins,
                                     bool here);

// Throws Error if points that have ended were made with another op set, model program or update rule than the checks
// say: they are then not taken as done. Returns the names of plugins of which other builds, with the same arithmetic,
// made some of the points: "gru, sign_es".
std::string require_reusable(const Sweep& sweep, const std::vector<PointCheck>& checks);

}  // namespace eggroll

#endif
