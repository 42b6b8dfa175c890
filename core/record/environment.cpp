#include "record/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "eggroll/machine.h"
#include "eggroll/plugin.h"
#include "eggroll_commit.h"
#include "record/files.h"

namespace eggroll {
namespace {

// By prefix: "avx512" stands for its whole family.
bool is_relevant(std::string_view feature) {
  constexpr std::array<std::string_view, 16> kPrefixes = {"avx",   "amx",  "asimd",  "sve",  "sme",  "sse4_",
                                                          "ssse3", "fma",  "popcnt", "bmi2", "f16c", "gfni",
                                                          "i8mm",  "bf16", "neon",   "fphp"};
  if (feature == "smep") return false;  // memory protection on x86; sme is Arm's
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return feature.substr(0, prefix.size()) == prefix; });
}

}  // namespace

Environment capture_environment() {
  Environment environment;
  environment.host_version = EGGROLL_VERSION;
  environment.host_commit = EGGROLL_COMMIT;
  environment.compiler = EGGROLL_COMPILER;
  environment.abi = fmt::format("{}.{}", EGG_ABI_MAJOR, EGG_ABI_MINOR);
  environment.spec_hash = hex64(EGG_SPEC_HASH);
  utsname names{};
  ::uname(&names);
  environment.system = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  const std::filesystem::path cpuinfo = "/proc/cpuinfo";
  environment.cpu = parse_cpuinfo(std::filesystem::exists(cpuinfo) ? read_file(cpuinfo) : "");
  return environment;
}

Cpu parse_cpuinfo(std::string_view text) {
  Cpu cpu;
  cpu.model = cpu_model(text);
  cpu.cores = static_cast<uint32_t>(cpuinfo_values(text, "processor").size());
  for (const char* key : {"flags", "Features"}) {  // of x86, of Arm
    const std::vector<std::string> features = cpuinfo_values(text, key);
    if (features.empty()) continue;
    std::istringstream words(features.front());
    for (std::string word; words >> word;) {
      if (is_relevant(word)) cpu.features.push_back(word);
    }
  }
  return cpu;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string hex64(uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace eggroll
