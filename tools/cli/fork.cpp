// eggroll fork.
#include "train/fork.h"

#include <fmt/format.h>

#include "cli/begin_run.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "train/beginning.h"

namespace eggroll {
namespace {

struct ForkArguments {
  std::string from;  // RUN or RUN@CHECKPOINT
  Overrides changes;
  std::vector<std::filesystem::path> plugins;  // folders that find_plugins_of_run() may search
  bool show_monitor = false;
};

int fork_command(const CommandLine& line, const ForkArguments& arguments) {
  const RunFolder folder = existing_run(split_name(arguments.from).run);
  const auto composed = [&](const Overrides& overrides) { return compose(config_search(line.host), overrides); };
  const Forked run{folder, run_config(folder), arguments.from, composed, say_line};
  const Overrides overrides = fork_overrides(run, arguments.changes);
  require_one_value_each(config_search(line.host), overrides);
  return begin_run(composed(overrides), overrides, line.typed, arguments.show_monitor, [&](const ConfigNode& config) {
    std::vector<std::filesystem::path> allowed = arguments.plugins;
    for (const PluginFolder& own : plugin_folders_of(config)) {
      if (own.origin == "plugins.path") allowed.push_back(own.path);
    }
    return find_plugins_of_run(run.config, allowed);
  });
}

}  // namespace

void commands::declare_fork(CommandLine& line) {
  static ForkArguments arguments;
  CLI::App* command = line.add(
      "fork",
      "Go on from a run's checkpoint under other settings, as a run of its own: eggroll fork RUN@800 train.steps=2000",
      [&line] { return fork_command(line, arguments); });
  const std::string help =
      fmt::format("{}; RUN@last, RUN@best or RUN@STEP unless the checkpoint that it ended with is meant", kRunHelp);
  line.takes(command, "run", arguments.from, help, {Words::kCheckpoints})->required();
  line.takes(command, "overrides", arguments.changes, "What to change: train.steps=2000 optimizer=es_adamw",
             {Words::kKeys});
  add_plugins(command, arguments.plugins);
  command->fallthrough();
  add_monitor(command, arguments.show_monitor);
}

}  // namespace eggroll
