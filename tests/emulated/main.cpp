// Usage: eggroll_emulated --config-dir DIR check PLUGIN, or eggroll_emulated plugins. Both do what eggroll does.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

int main(int argc, char** argv) {
  try {
    eggroll::CommandLine line(argc, argv);
    eggroll::commands::declare_check(line);
    eggroll::commands::declare_plugins(line);
    line.app.parse(argc, argv);
    return line.exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "eggroll_emulated: {}\n", error.what());
    return 1;
  }
}
