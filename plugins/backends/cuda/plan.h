// What the backend works out once from a program: the device's ops, where each value lives, and the layout of a pair's
// noise. Host code, no CUDA.
#ifndef EGGROLL_CUDA_PLAN_H
#define EGGROLL_CUDA_PLAN_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"
#include "layout.h"

namespace eggroll::cuda {

// The bytes of a pair's noise: members' vectors and the draws of matrices, for the forward pass; draws alone, for
// votes.
struct NoiseLayout {
  std::vector<Segment> segments;  // without the addresses of weights
  size_t bytes = 0;               // of a pair, a multiple of kBlock
};

struct Plan {
  // shared_limit: bytes of shared memory for values. Those that find no room there live in the workspace.
  Plan(const egg_program& program, const egg_noise& noise, uint32_t shared_limit);

  const egg_program* program;
  egg_noise noise;
  std::vector<DeviceOp> ops;      // without addresses
  std::vector<int32_t> op_param;  // of each: its first parameter, -1
  std::vector<int32_t> op_table;  // and its table
  NoiseLayout forward;
  NoiseLayout votes;
  std::vector<uint32_t> draw_offset;  // by parameter: of its first draw in the votes' layout, side A, rank 0
  uint32_t shared_row = 0;            // bytes of a row's values in shared memory
  size_t workspace_row = 0;           // and in the workspace
  size_t workspace_bytes = 0;         // of a tile
  size_t state_bytes = 0;             // of a member, as it crosses the seam
  size_t state_stride = 0;            // of a member, on the device
  struct State {
    uint32_t size;
    size_t outside;  // bytes before it, as it crosses the seam
    size_t inside;   // on the device
  };
  std::vector<State> states;
  bool all_shared = true;
};

}  // namespace eggroll::cuda

#endif
