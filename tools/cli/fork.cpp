// eggroll fork.
#include "train/fork.h"

#include "cli/begin_run.h"
#include "cli/runs.h"

#include "cli/terminal.h"
#include "train/beginning.h"

namespace eggroll {

int fork_command(const HostOptions& host, const ForkArguments& arguments, const Overrides& changes,
                 const std::vector<std::string>& command_line, bool show_monitor) {
  const RunFolder folder = existing_run(split_name(arguments.from).run);
  const Forked run{folder, run_config(folder), arguments.from};
  const auto composed = [&](const Overrides& overrides) { return compose(config_search(host), overrides); };
  const Overrides overrides = fork_overrides(run, changes, {composed, say_line});
  require_one_value_each(config_search(host), overrides);
  return begin_run(composed(overrides), overrides, command_line, show_monitor, [&](const ConfigNode& config) {
    std::vector<std::filesystem::path> allowed = arguments.plugins;
    for (const PluginFolder& own : plugin_folders_of(config)) {
      if (own.origin == "plugins.path") allowed.push_back(own.path);
    }
    return find_plugins_of_run(run.config, allowed);
  });
}

}  // namespace eggroll
