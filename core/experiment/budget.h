// The limits of a sweep and of its points.
#ifndef EGGROLL_EXPERIMENT_BUDGET_H
#define EGGROLL_EXPERIMENT_BUDGET_H

#include <cstdint>
#include <optional>

#include "config/tree.h"

namespace eggroll {

// Limits a whole sweep; absent fields do not apply. Once one is spent, no point begins, and running points save.
struct SweepBudget {
  std::optional<double> seconds;   // of wall time, of one launch
  std::optional<uint64_t> steps;   // of all points together
  std::optional<uint64_t> tokens;  // member tokens of all points together
};

struct Spent {
  double seconds = 0.0;
  uint64_t steps = 0;
  uint64_t tokens = 0;
};

// Limits one point's process, which is killed beyond a limit.
struct PointLimits {
  std::optional<double> seconds;         // of wall time
  std::optional<uint64_t> memory_bytes;  // resident
};

// Reads the sections sweep.budget and sweep.limits. Throws Error with file and line.
SweepBudget read_budget(const ConfigNode& config);
PointLimits read_limits(const ConfigNode& config);

}  // namespace eggroll

#endif
