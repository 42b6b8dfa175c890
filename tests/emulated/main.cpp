// Usage: eggroll_emulated --config-dir DIR check PLUGIN, or eggroll_emulated plugins. Both do what eggroll does.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "eggroll/error.h"

namespace {

int run(const std::vector<std::string>& words) {
  const bool known = words.size() > 2 && words[0] == "--config-dir";
  const eggroll::HostOptions host{{known ? words[1] : ""}};
  if (known && words.size() == 4 && words[2] == "check") return eggroll::check_command(host, {words[3], {}, {}});
  if (known && words.size() == 3 && words[2] == "plugins") return eggroll::plugins_command(host, false);
  throw eggroll::Error("expected --config-dir DIR check PLUGIN, or --config-dir DIR plugins");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "eggroll_emulated: {}\n", error.what());
    return 1;
  }
}
