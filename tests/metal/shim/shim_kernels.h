// The kernels as the shim runs them.
#ifndef EGGROLL_TESTS_METAL_SHIM_KERNELS_H
#define EGGROLL_TESTS_METAL_SHIM_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace eggroll::metal {

// One thread's run. buffers: the arguments first, then the dispatch's.
struct ShimCall {
  void* const* buffers;
  uint8_t* scratch;
  uint32_t group;
};
struct ShimKernel {
  size_t argument_bytes;
  size_t buffer_count;  // without the arguments
  void (*run)(const ShimCall& call, uint32_t simdgroup, uint32_t lane);
};
// The index is an enum Kernel.
extern const ShimKernel kShimKernels[4];

}  // namespace eggroll::metal

#endif
