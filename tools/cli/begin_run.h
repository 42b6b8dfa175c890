// What eggroll run and eggroll fork share.
#ifndef EGGROLL_CLI_BEGIN_RUN_H
#define EGGROLL_CLI_BEGIN_RUN_H

#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace eggroll {

// Throws Error if the configuration is that of a sweep.
void require_no_sweep(const ConfigNode& config);

// Trains the run that was composed of these overrides. registry_of: finds the plugins for its configuration. Returns
// the exit code.
int begin_run(ConfigNode config, const Overrides& overrides, const std::vector<std::string>& command_line,
              bool show_monitor, const std::function<Registry(const ConfigNode&)>& registry_of);

}  // namespace eggroll

#endif
