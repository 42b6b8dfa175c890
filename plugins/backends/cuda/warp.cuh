// What the threads of a warp do together.
#ifndef EGGROLL_CUDA_WARP_CUH
#define EGGROLL_CUDA_WARP_CUH

#include "eggroll/plugin.h"

namespace eggroll::cuda {

constexpr uint32_t kAll = 0xffffffffu;  // lanes

// Adds up what all threads of the warp have found.
__device__ inline void add_sums(egg_site_sums* to, unsigned long long tokens, unsigned long long squares) {
  for (uint32_t d = 16; d > 0; d /= 2) {
    tokens += __shfl_down_sync(kAll, tokens, d);
    squares += __shfl_down_sync(kAll, squares, d);
  }
  if (threadIdx.x % 32 != 0 || squares + tokens == 0) return;
  auto* const sums = reinterpret_cast<unsigned long long*>(to);
  atomicAdd(sums, tokens);
  atomicAdd(sums + 1, squares);
}

}  // namespace eggroll::cuda

#endif
