#include "experiment/budget.h"

#include <string>
#include <vector>

#include "experiment/section.h"

namespace eggroll {
namespace {

constexpr int64_t kMost = int64_t{1} << 62;

std::optional<double> seconds_of(Settings& s) {
  return s.has("seconds") ? std::optional(s.real("seconds", 1e-3, 1e9)) : std::nullopt;
}

std::optional<uint64_t> count_of(Settings& s, const char* key) {
  if (!s.has(key)) return std::nullopt;
  return static_cast<uint64_t>(s.integer(key, 1, kMost));
}

}  // namespace

SweepBudget read_budget(const ConfigNode& config) {
  return read_section(config, "sweep.budget", {"seconds", "steps", "tokens"}, {}, [](Settings& s) {
    return SweepBudget{seconds_of(s), count_of(s, "steps"), count_of(s, "tokens")};
  });
}

PointLimits read_limits(const ConfigNode& config) {
  return read_section(config, "sweep.limits", {"seconds", "memory_gib"}, {}, [](Settings& s) {
    PointLimits limits{seconds_of(s), std::nullopt};
    if (s.has("memory_gib")) {
      limits.memory_bytes = static_cast<uint64_t>(s.real("memory_gib", 1e-3, 1e6) * (1 << 30));
    }
    return limits;
  });
}

}  // namespace eggroll
