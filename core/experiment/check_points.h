// Every point of a sweep opened before the first runs: plugins, program, dataset, memory.
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
};

// One for each of the points, in their order. here: they run on this machine; where they do not, its memory says
// nothing, and a backend that cannot run on it is stood in for by one that can. Plugins are opened in processes of
// their own: one that crashes when it is opened is an error of its point. Call it before the process has threads. Where
// can_compute_after_fork() is false they are opened in this process, and such a crash ends it, before anything has
// begun.
std::vector<PointCheck> check_points(const std::vector<SweepPoint>& points, const std::vector<PluginFolder>& plugins,
                                     bool here);

}  // namespace eggroll

#endif
