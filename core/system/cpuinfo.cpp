#include "system/cpuinfo.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "eggroll/machine.h"

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

}  // namespace eggroll
