// What the commands that list or run points share: points.cpp, sweep.cpp and search.cpp.
#ifndef EGGROLL_CLI_LAUNCH_H
#define EGGROLL_CLI_LAUNCH_H

#include <memory>

#include "cli/host.h"
#include "experiment/check_points.h"
#include "experiment/launcher.h"

namespace eggroll {

// The first cure for several values of a key; see require_one_value_each().
inline constexpr const char* kAsAxis =
    "put them into sweep.product, sweep.seeds or sweep.search.params to try each, or ";

// What a launch of points needs in addition to the sweep.
struct Launch {
  std::unique_ptr<Launcher> launcher;
  LaunchOptions options;
};

// The options of eggroll sweep, which it gets in addition to overrides.
struct SweepArguments {
  LocalWorkers workers;
  bool retry_failed = false;
  bool keep_going = false;
  bool fail_fast = false;
  uint32_t breaker = 5;
};

// Throws Error if a point could not run. It says each reason once, with the first point that has it.
void require_runnable(const Sweep& sweep, const std::vector<PointCheck>& checks);
// The text after the number of points: repeated runs, and points that are no longer in the grid.
std::string leftovers(const Sweep& sweep);
// Says how the command line narrows the sweep.
void print_said(const Sweep& sweep);
// Also copies the plugins into the folder.
Launch open_launch(const Sweep& sweep, const SweepArguments& arguments, const std::filesystem::path& plugins);
// Throws Error if a point cannot run.
void check_frozen(const Sweep& sweep, const Launch& launch);
// Throws Error if points that have ended cannot be taken as done, see require_reusable().
void check_done(const Sweep& sweep, const Launch& launch);
// Throws Error if none of the points can run.
void check_some_frozen(const Sweep& sweep, const Launch& launch);
// From here on a signal ends the launch in its three stages.
void heed_stops(const Launch& launch);
// Runs the points that are left. The sweep must have been written.
SweepResult run_points(const Sweep& sweep, const Launch& launch);
// Says so; returns the exit code.
int stopped_by_signal();

// eggroll sweep, if the sweep is a search.
int search_command(const ConfigSearch& search, const Overrides& overrides, const SweepArguments& arguments);

}  // namespace eggroll

#endif
