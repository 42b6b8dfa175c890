// Constant, or round(t * std / 16) for a gaussian noise value t, whose standard deviation is 16.
#include "program/initial_weights.h"

#include <fmt/format.h>

#include <cstdlib>

#include "eggroll/error.h"
#include "eggroll/noise_source.h"

namespace eggroll {

std::vector<int8_t> initial_weights(const egg_param& param, uint32_t param_index, uint64_t seed) {
  const int64_t count = static_cast<int64_t>(param.rows) * param.cols;
  if (count >= INT64_C(1) << 32) {
    throw Error(fmt::format("parameter '{}' has {} weights, expected fewer than 4294967296; make it smaller",
                            param.name, count),
                EGG_ERROR_CONFIG);
  }
  std::vector<int8_t> weights(static_cast<size_t>(count), egg_clip8(param.init_value));
  if (param.init == EGG_INIT_CONSTANT || param.init_value == 0) return weights;
  egg_noise noise{};
  noise.seed = seed;
  const NoiseSource source(noise);  // counter, gaussian
  source.fill(EGG_STEP_INIT, 0, param_index, EGG_SIDE_A, 0, weights.data(), static_cast<uint32_t>(count));
  for (int8_t& weight : weights) {
    const int32_t product = weight * param.init_value;
    const int32_t magnitude = (std::abs(product) + 8) / 16;  // half away from zero
    weight = egg_clip8(product < 0 ? -magnitude : magnitude);
  }
  return weights;
}

}  // namespace eggroll
