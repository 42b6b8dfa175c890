// The forward pass of programs that are a chain of fused ops, each of which does a few ops of the program as one;
// fused_plan.h says which programs are. One warpgroup has a tile, or two share one. Another warpgroup brings weights
// and noise to them, in the order in which they are used.
#ifndef EGGROLL_CUDA_FUSED_H
#define EGGROLL_CUDA_FUSED_H

#include <cuda_runtime.h>

#include "call_args.h"
#include "fused_layout.h"

namespace eggroll::cuda {

struct FusedArgs : CallArgs {           // noise lies as NoisePlaces say
  const unsigned long long* stages_of;  // where the weights of a token lie; 0: a stage that stays empty
  FusedFeed feeds[kMostFusedGroups];    // of a tile's warpgroups; noise stages: of the tile
  FusedShape shape;
  FusedShared at;
  int32_t loss_unit;
  uint32_t mean_factor;   // 2^24 / channels, rounded up: see egg_l1_mean
  uint32_t clips_sums;    // 1: see kMostScaled
  uint32_t blocks;        // of x
  uint32_t logit_blocks;  // that are kept on the chip; 0: none, they are made twice
  uint32_t nothing;       // always 0, which the compiler does not know
  uint32_t seat_tokens;   // if rows are members: the most tokens that a seat does
  uint32_t*
      handed_over;  // by seat and warp: 1 from the end of its first part until the next seat goes on with that tile
  // If rows are tokens: what all luts, ropes and attentions have in common.
  const int8_t* look_up;   // 256, see lut
  const int32_t* angles;   // (context, head)
  const int32_t* weights;  // 256, below 2^15
  uint32_t head;           // channels: 16, 32 or 64
  int32_t weighting;
  int32_t score_shift;
  uint32_t context;
  uint32_t op_count;
  alignas(16) FusedTable tables[kMostFusedTables];  // several fields are read at once
  FusedOp ops[kMostFusedOps];
  FusedNeed needs[kMostFusedOps];  // of each op, if rows are tokens
};
static_assert(sizeof(FusedArgs) == 17808);  // CUDA's limit is 32764

// Allows launches of the kernel for these arguments to use this amount of shared memory on the current device. It does
// not touch other kernels: the driver loads a kernel when it is first touched, and kernels run slower if many are
// loaded.
void prepare_fused(const FusedShape& shape, uint32_t blocks, uint32_t logit_blocks, uint32_t shared_bytes);
void launch_fused(const FusedArgs& args, uint32_t blocks, cudaStream_t stream);

}  // namespace eggroll::cuda

#endif
