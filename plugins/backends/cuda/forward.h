// The forward pass op by op: one launch does all tokens of a call.
#ifndef EGGROLL_CUDA_FORWARD_H
#define EGGROLL_CUDA_FORWARD_H

#include <cuda_runtime.h>

#include "call_args.h"
#include "eggroll/arithmetic.h"

namespace eggroll::cuda {

// This many ops fit in a launch's arguments, where kernels read them fastest. Longer programs lie in device memory.
constexpr uint32_t kMostInlineOps = 160;

// Draws of a site within the program. Rows are members, two per pair, of places (streams, tokens).
struct MoveArgs {
  uint64_t seed;
  uint64_t step;
  uint32_t stream;  // of the step: that of place 0
  uint32_t place;   // the launch's first
  uint32_t tokens;  // of a stream
  uint32_t number;  // of the site
  uint32_t draws;   // of a place
  int32_t amplitude;
  uint32_t orthogonal;
  uint32_t size;          // of the value
  uint32_t later;         // 0 at the places' tokens; 1 at the tokens of the horizon after them
  const uint8_t* resets;  // of the first place's token
  int8_t* cache;          // (members, cached_tokens, cached_bytes): keys and values of draws; null: there is no horizon
  uint32_t cached_tokens;
  uint32_t cached_bytes;
};

struct ForwardArgs : CallArgs {
  const DeviceOp* ops;  // all of them, in device memory
  uint32_t op_count;
  uint32_t ranks;              // draws of every matrix; 0 for the unperturbed model
  uint32_t full_ops;           // 1: the program has wide values or ops that no recurrent model has: see Plan
  uint32_t values;             // bytes of a tile's values in shared memory; the ring of weights follows all tiles'
  uint32_t stages;             // of the ring; 0: there is none
  const StageSource* sources;  // (source_count): what comes through the ring for a token, in its order
  uint32_t source_count;
  char* workspace;
  size_t workspace_stride;  // of a tile at work
  int8_t* kept;             // of each value that is kept (streams, tokens, bytes of a row); null: none is
  uint32_t first_kept;      // number of the launch's first row among those streams; for draws, of its first place
  MoveArgs move;            // for draws; else no tokens
  DeviceOp inline_ops[kMostInlineOps];
};
static_assert(sizeof(ForwardArgs) == 31056);  // CUDA's limit is 32764

// The most stages that the ring of weights has on the current device. 0: the device has no ring, because it has no
// wgmma (compute capability 9.0).
uint32_t forward_stages();

// Bytes of shared memory that a block needs in addition to the values and the ring, for a program with this number of
// ops, and this number of tiles at once.
uint32_t forward_extra_shared(uint32_t ranks, uint32_t ops, uint32_t tiles);

// Each block works on `tiles` tiles at once: 1, or 2 that share the ring.
void launch_forward(const ForwardArgs& args, uint32_t blocks, uint32_t tiles, cudaStream_t stream);

// Allows launches on the current device to use this amount of shared memory.
void prepare_forward(uint32_t shared_bytes);

}  // namespace eggroll::cuda

#endif
