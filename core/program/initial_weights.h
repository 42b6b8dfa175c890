// The weights a run begins with.
#ifndef EGGROLL_PROGRAM_INITIAL_WEIGHTS_H
#define EGGROLL_PROGRAM_INITIAL_WEIGHTS_H

#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

// (rows, cols), row-major, of parameter number param_index of a validated program; a function of (param_index, seed)
// and of the weight's place row * cols + col. Throws Error for 2^32 weights or more: noise indices have 32 bits.
std::vector<int8_t> initial_weights(const egg_param& param, uint32_t param_index, uint64_t seed);

}  // namespace eggroll

#endif
