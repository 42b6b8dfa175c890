// Turns numbers into sentences: what is broken, with the program's own names, and what to do about it.
#ifndef EGGROLL_MONITOR_VERDICTS_H
#define EGGROLL_MONITOR_VERDICTS_H

#include <string>
#include <vector>

#include "monitor/report.h"
#include "program/program.h"

namespace eggroll {

// If values were normally distributed and as wide as the whole range (a standard deviation of 127), this share of them
// would lie at +-127. Beyond this share, clipping loses more than the range can tell apart.
inline constexpr double kSaturated = 0.32;
// The share of a value's channels that no token changes. Beyond it, the few that change are not worth the op.
inline constexpr double kDead = 0.95;
// The mean share of a head's weight on one position. Beyond it, all other positions add less than a twentieth to the
// result.
inline constexpr double kOneToken = 0.95;
// Steps after which a tensor must have moved. A rule that carries fractions, with a learning rate of 0.1 and a steady
// direction, takes ten steps to its first whole unit, and may take twice that while the direction forms.
inline constexpr uint64_t kStepsToMove = 20;
// The votes of all tensors together must stand out by this many standard deviations of chance. Chance alone does that
// in one look of forty.
inline constexpr double kChance = 2.0;
// From this share of pairs without fitness on, votes are missing because the perturbation is too small.
inline constexpr double kManyWithout = 0.25;
// From this share of pairs without fitness on, there are next to no votes.
inline constexpr double kNearlyAllWithout = 0.9;
// Bits per unit that the perturbed members lose beyond the model. From the first on the perturbation is too large.
// Within the second on either side it may well be larger; beyond that side, training and held-out data differ too much
// to tell.
inline constexpr double kCostly = 1.0;
inline constexpr double kFree = 0.1;

// report: all but its verdicts. Verdicts come in the order values, heads, tensors, votes. A value is not named if the
// values that it is made of explain its state. Where there are no votes, or next to none, that comes first, and only
// saturated values follow, which can be its cause: all else would follow from it.
std::vector<std::string> verdicts_of(const Program& program, const MonitorReport& report);

}  // namespace eggroll

#endif
