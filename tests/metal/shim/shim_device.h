// A Metal device that is this machine's processors: it runs the kernels' own sources, see threadgroup.h.
#ifndef EGGROLL_TESTS_METAL_SHIM_DEVICE_H
#define EGGROLL_TESTS_METAL_SHIM_DEVICE_H

#include <memory>

#include "device.h"

namespace eggroll::metal {

// What a test may plant in all shim devices.
struct ShimFaults {
  uint64_t seed = 1;         // of the order in which threads run
  int short_kernel = -1;     // a Kernel whose
  int short_buffer = 0;      // buffer of this number, from 1 on, ends
  size_t short_bytes = 16;   // so early, or at its beginning
  uint64_t free_memory = 0;  // what a device says that it has; 0: the machine's
};
ShimFaults& shim_faults();

std::unique_ptr<Device> open_shim_device();

}  // namespace eggroll::metal

#endif
