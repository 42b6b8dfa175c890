// A Metal device that is this machine's processors: it runs the kernels' own sources, see threadgroup.h.
#ifndef EGGROLL_TESTS_METAL_SHIM_DEVICE_H
#define EGGROLL_TESTS_METAL_SHIM_DEVICE_H

#include <memory>

#include "device.h"

namespace eggroll::metal {

// Faults that a test may plant in all shim devices. A dispatch of short_kernel gets its buffer number short_buffer cut
// by short_bytes.
struct ShimFaults {
  uint64_t seed = 1;         // chooses the order in which threads run
  int short_kernel = -1;     // a Kernel; -1: none
  int short_buffer = 0;      // counted from 1
  size_t short_bytes = 16;   // or all of the buffer, if it is smaller
  uint64_t free_memory = 0;  // that a device reports; 0: the machine's
};
ShimFaults& shim_faults();

std::unique_ptr<Device> open_shim_device();

}  // namespace eggroll::metal

#endif
