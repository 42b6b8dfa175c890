// From numbers to sentences: what is broken, by the program's own names, and what to do about it.
#ifndef EGGROLL_MONITOR_VERDICTS_H
#define EGGROLL_MONITOR_VERDICTS_H

#include <string>
#include <vector>

#include "monitor/report.h"
#include "program/program.h"

namespace eggroll {

// The share of values and weights at +-127 in a normal distribution as wide as the whole range (a standard deviation of
// 127). Beyond it, clipping loses more than the range can tell apart.
inline constexpr double kSaturated = 0.32;
// Share of a value's channels that no token changes; beyond it the few that change are not worth the op.
inline constexpr double kDead = 0.95;
// Mean share of a head's weight on one position: what all others add to its result is then less than a twentieth.
inline constexpr double kOneToken = 0.95;
// Steps after which a tensor must have moved: a rule that carries fractions, at a learning rate of 0.1 in a steady
// direction, takes ten to its first whole unit, and twice that may pass while the direction forms.
inline constexpr uint64_t kStepsToMove = 20;
// Standard deviations of chance that the votes of all tensors together must stand out by: chance alone does so once in
// forty looks.
inline constexpr double kChance = 2.0;

// report: all but its verdicts. Verdicts come in the order values, heads, tensors, votes. A value is not named if the
// values that it is made of explain its state.
std::vector<std::string> verdicts_of(const Program& program, const MonitorReport& report);

}  // namespace eggroll

#endif
