// Single values of the noise, in device code.
#ifndef EGGROLL_CUDA_DRAW_CUH
#define EGGROLL_CUDA_DRAW_CUH

#include "eggroll/noise.h"
#include "layout.h"

namespace eggroll::cuda {

__device__ inline int32_t draw_of(const NoiseValues& noise, uint64_t key, uint32_t side, uint32_t index) {
  if (noise.table != nullptr) return __ldg(noise.table + egg_noise_table_index(key, side, index, noise.table_log2));
  return __ldg(noise.values + egg_noise_byte(key, index));
}

}  // namespace eggroll::cuda

#endif
