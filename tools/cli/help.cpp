// eggroll help.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/misuse.h"

namespace eggroll {

void commands::declare_help(CommandLine& line) {
  static std::string described;
  CLI::App* command = line.add("help", "Describe a command: eggroll help run", [&line] {
    const CLI::App& all = line.app;
    // CLI::App::help() would describe the command that was called, which is this one.
    fmt::print("{}", described.empty()
                         ? all.get_formatter()->make_help(&all, all.get_name(), CLI::AppFormatMode::Normal)
                         : command_named(all, described).help(all.get_name()));
    return 0;
  });
  line.takes(command, "command", described, "Its name; all commands if it is left out", {Words::kCommands});
}

}  // namespace eggroll
