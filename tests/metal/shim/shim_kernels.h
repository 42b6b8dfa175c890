// The kernels as the shim runs them.
#ifndef EGGROLL_TESTS_METAL_SHIM_KERNELS_H
#define EGGROLL_TESTS_METAL_SHIM_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace eggroll::metal {

// One thread's run. buffers: by Binding.
struct ShimCall {
  void* const* buffers;
  uint8_t* scratch;
  uint32_t group;
};
struct ShimKernel {
  size_t argument_bytes;
  std::span<const int> bindings;  // of its buffers, the arguments left out
  void (*run)(const ShimCall& call, uint32_t simdgroup, uint32_t lane);
};
// The index is an enum Kernel.
extern const ShimKernel kShimKernels[9];
// Kernel::kForward on int8 matrix units.
extern const ShimKernel kShimInt8Forward;

}  // namespace eggroll::metal

#endif
