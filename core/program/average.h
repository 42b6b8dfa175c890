// The running average of the weights. The host adds it to the rule of any optimizer, as one more slot and one more
// scalar.
//
// In a step, w is the weight, w' = clip(w + delta) is the weight after the step, and `kept` is the share of the average
// that the step keeps:
//
//   average' = average + (1 - kept) * (w' - average)
//
// The slot holds d = average - w, so a slot of zeros means that the average equals the weight. The same step for d is
//
//   d' = kept * (d - (w' - w)),
//
// computed in float32. w' - w is an integer and therefore exact, and kept is far enough below 1 that both roundings
// leave average' between average and w'. So |d| is at most 254, the span of weights. A row of a masked table that no
// member reads keeps its slots (egg_voters), this one too: its average waits, while the average of any other weight
// moves towards the weight.
#ifndef EGGROLL_PROGRAM_AVERAGE_H
#define EGGROLL_PROGRAM_AVERAGE_H

#include <cstdint>
#include <memory>
#include <string>

#include "program/rule.h"

namespace eggroll {

// The rule with the slot and the scalar, each the last of its kind. who: the optimizer. Throws Error with the key
// "average" if the optimizer uses one of their names itself.
std::unique_ptr<Rule> rule_with_average(const egg_rule& source, const std::string& who);

// The scalar of a step, counted from 0: the smaller of share and (1 + step) / (10 + step), in double precision, rounded
// once. The second is smaller in the first steps, so the average soon forgets the initial weights.
float average_kept(double share, uint64_t step);

// The average as a weight: the nearest, halves away from zero, within +-127. difference: at most 254 either way.
int8_t averaged_weight(int8_t weight, float difference);

}  // namespace eggroll

#endif
