// Votes of pairs, and the rule that turns a vote into a weight's change.
#ifndef UPDATE_H
#define UPDATE_H

#include <cstdint>
#include <vector>

#include "token_step.h"

namespace backend {

// (slots, weights) of one parameter; the four bytes of an int32 or a float32.
using Slots = std::vector<std::vector<uint32_t>>;

// Moves the weights and slots of one perturbed parameter; returns how many weights moved.
int64_t update_param(Model& model, const egg_rule& rule, uint32_t param, const egg_update& update, Slots& slots);

}  // namespace backend

#endif
