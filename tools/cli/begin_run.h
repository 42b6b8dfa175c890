// Functions that eggroll run and eggroll fork share, and those of eggroll run that have their own file.
#ifndef EGGROLL_CLI_BEGIN_RUN_H
#define EGGROLL_CLI_BEGIN_RUN_H

#include <functional>
#include <string>
#include <vector>

#include "cli/host.h"

namespace eggroll {

// Throws Error if the configuration is that of a sweep.
void require_no_sweep(const ConfigNode& config);

// Trains the run that was composed of these overrides. registry_of: finds the plugins for its configuration.
// show_monitor: prints each look of the monitor; if monitor.every is 0, there is one at every held-out evaluation.
// Returns the exit code.
int begin_run(ConfigNode config, const Overrides& overrides, const std::vector<std::string>& command_line,
              bool show_monitor, const std::function<Registry(const ConfigNode&)>& registry_of);

// eggroll run --multirun. All runs are composed before the first begins. A run that fails does not stop the others.
int multirun_command(const HostOptions& host, const Overrides& overrides, bool show_monitor);

}  // namespace eggroll

#endif
