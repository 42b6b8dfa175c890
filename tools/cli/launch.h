// What the commands that run points share: sweep.cpp and search.cpp.
#ifndef EGGROLL_CLI_LAUNCH_H
#define EGGROLL_CLI_LAUNCH_H

#include <memory>

#include "cli/commands.h"
#include "experiment/launcher.h"

namespace eggroll {

// What a launch of points needs beside the sweep.
struct Launch {
  std::unique_ptr<Launcher> launcher;
  LaunchOptions options;
};

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
// Runs the points that are left. The sweep is written.
SweepResult run_points(const Sweep& sweep, const Launch& launch);
// Says so; returns the exit code.
int stopped_by_signal();

// eggroll sweep, where the sweep is a search.
int search_command(const ConfigSearch& search, const Overrides& overrides, const SweepArguments& arguments);

}  // namespace eggroll

#endif
