// Prints a file of core/conformance from the reference backend: `print_golden` prints golden.inc, `print_golden
// trajectories` prints trajectories.inc. Run it after a change of the op set, its cases or the presets.
#include <fmt/format.h>

#include <string>

#include "conformance/check_plugin.h"
#include "conformance/trajectory.h"
#include "plugin/registry.h"

namespace eggroll {
namespace {

void print_ops(const ChosenPlugin& reference) {
  const BackendInstance backend(reference, egg_settings{sizeof(egg_settings), 0, nullptr});
  for (const GoldenHash& golden : golden_hashes(backend)) {
    fmt::print("{{\"{}\", \"{}\"}},\n", golden.what, golden.sha256);
  }
}

void print_trajectories(const ChosenPlugin& reference, const Registry& registry) {
  const ConfigSearch configs{{EGGROLL_SOURCE_DIR "/configs"}};
  for (const Trajectory& trajectory : trajectories()) {
    fmt::print("{{\"{}\",\n {{", trajectory.name);
    const char* before = "";
    for (const std::string& hash : weights_after_each_step(trajectory, configs, registry, reference)) {
      fmt::print("{}\"{}\"", before, hash);
      before = ",\n  ";
    }
    fmt::print("}}}},\n");
  }
}

}  // namespace
}  // namespace eggroll

int main(int argc, char** argv) {
  const eggroll::Registry registry({eggroll::PluginFolder{EGGROLL_BIN_DIR "/plugins", "the build"}});
  const eggroll::ChosenPlugin reference = registry.choose(EGG_KIND_BACKEND, "reference");
  const bool trajectories = argc > 1 && argv[1] == std::string("trajectories");
  fmt::print("// Made by tests/conformance/print_golden.cpp from the reference backend.\n");
  trajectories ? eggroll::print_trajectories(reference, registry) : eggroll::print_ops(reference);
}
