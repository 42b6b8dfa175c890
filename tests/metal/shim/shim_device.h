// A Metal device made of this machine's processors. It runs the kernels' own sources; see threadgroup.h.
#ifndef EGGROLL_TESTS_METAL_SHIM_DEVICE_H
#define EGGROLL_TESTS_METAL_SHIM_DEVICE_H

#include <memory>

#include "device.h"

namespace eggroll::metal {

// Faults that a test may plant in all shim devices. A dispatch of short_kernel gets its buffer short_buffer cut by
// short_bytes.
struct ShimFaults {
  uint64_t seed = 1;         // chooses the order in which threads run
  int short_kernel = -1;     // a Kernel; -1: none
  int short_buffer = 0;      // a Binding
  size_t short_bytes = 16;   // or all of the buffer, if it is smaller
  uint64_t free_memory = 0;  // the memory that a device reports as free; 0: the machine's
  bool has_int8_units = false;
  uint32_t slice_tokens = 0;  // see Device
  // One in this number of the command buffers that may run again is refused after a part of its work; 0: none.
  uint32_t refuses_one_of = 0;
  int refused_kernel = -1;  // a Kernel: each of its command buffers is refused; -1: none
};
// As the environment says at first: EGGROLL_SHIM_SLICE_TOKENS, EGGROLL_SHIM_REFUSES_ONE_OF, each a
// number.
ShimFaults& shim_faults();

// Command buffers that shim devices have refused.
uint64_t shim_refusals();

std::unique_ptr<Device> open_shim_device();

// The buffer that a dispatch binds there. Throws Error if it binds none.
const Buffer& bound_buffer(const Dispatch& dispatch, int binding);

}  // namespace eggroll::metal

#endif
