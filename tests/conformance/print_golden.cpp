// Prints core/conformance/golden.inc from the reference backend, for the one who changes the op set or its cases.
#include <fmt/format.h>

#include "conformance/check_plugin.h"
#include "plugin/registry.h"

int main() {
  const eggroll::Registry registry({eggroll::PluginFolder{EGGROLL_BIN_DIR "/plugins", "the build"}});
  const egg_settings none{sizeof(egg_settings), 0, nullptr};
  const eggroll::BackendInstance reference(registry.choose(EGG_KIND_BACKEND, "reference"), none);
  fmt::print("// Made by tests/conformance/print_golden.cpp from the reference backend.\n");
  for (const eggroll::GoldenHash& golden : eggroll::golden_hashes(reference)) {
    fmt::print("{{\"{}\", \"{}\"}},\n", golden.what, golden.sha256);
  }
}
