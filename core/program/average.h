// The running average of the weights, which the host adds to the rule of any optimizer: one slot and one scalar more.
//
// With w the weight, w' = clip(w + delta) what the step makes of it, and kept the share that the step keeps:
//
//   average' = average + (1 - kept) * (w' - average)
//
// The slot holds d = average - w, so that a slot of zeros says that the average is the weight. In d the same is
//
//   d' = kept * (d - (w' - w)),
//
// which a step computes in float32. w' - w is a whole number and exact, and kept is so far below 1 that both roundings
// leave average' between average and w': |d| is at most 254, the span of weights. A row of a masked table that no
// member reads keeps its slots (egg_voters), this one too: its average waits, where that of another weight comes nearer
// to the weight.
#ifndef EGGROLL_PROGRAM_AVERAGE_H
#define EGGROLL_PROGRAM_AVERAGE_H

#include <cstdint>
#include <memory>
#include <string>

#include "program/rule.h"

namespace eggroll {

// The rule with slot and scalar, each the last of its kind. who: the optimizer. Throws Error with the key "average"
// where it has one of their names itself.
std::unique_ptr<Rule> rule_with_average(const egg_rule& source, const std::string& who);

// The scalar of a step, counted from 0: the smaller of share and (1 + step) / (10 + step), in double precision, rounded
// once. So the first steps do not remember the initial weights for long.
float average_kept(double share, uint64_t step);

// The average as a weight: the nearest, halves away from zero, within +-127. difference: at most 254 either way.
int8_t averaged_weight(int8_t weight, float difference);

}  // namespace eggroll

#endif
