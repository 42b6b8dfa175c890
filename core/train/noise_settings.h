// The config section `noise`.
#ifndef EGGROLL_TRAIN_NOISE_SETTINGS_H
#define EGGROLL_TRAIN_NOISE_SETTINGS_H

#include <cstdint>

#include "eggroll/plugin.h"
#include "eggroll/settings.h"

namespace eggroll {

// Reads the whole section: source (counter, table), distribution (gaussian, uniform, rademacher), rank,
// sigma_shift, sigma_vector_shift, table_log2 (null for source counter). fixed_point is the program's; fixed_point +
// sigma_shift must be at least 4. Throws Error naming the key at fault.
egg_noise read_noise(Settings& settings, uint64_t seed, int32_t fixed_point);

}  // namespace eggroll

#endif
