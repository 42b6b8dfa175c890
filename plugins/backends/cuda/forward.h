// The forward pass: a launch for all tokens of a call.
#ifndef EGGROLL_CUDA_FORWARD_H
#define EGGROLL_CUDA_FORWARD_H

#include <cuda_runtime.h>

#include "eggroll/arithmetic.h"
#include "layout.h"

namespace eggroll::cuda {

// Rows are members, two a pair, or streams of the unperturbed model.
struct ForwardArgs {
  const DeviceOp* ops;
  uint32_t op_count;
  uint32_t tokens;
  uint32_t rows;         // of this launch
  uint32_t paired;       // 1: members; 0: streams
  uint32_t first;        // number of the launch's first row in the batch
  uint32_t group;        // rows that read the same stream
  const int8_t* noise;   // of the first pair
  size_t pair_stride;    // of the noise; 0: every row reads the same
  uint32_t ranks;        // draws of every matrix; 0 for the unperturbed model
  uint32_t shared_row;   // bytes of a row's values in shared memory; linear's q lie behind all rows
  size_t workspace_row;  // and in the workspace
  int8_t* states;        // of the first row
  size_t state_stride;
  const uint32_t* inputs;  // (streams, tokens), as targets and resets
  const uint32_t* targets;
  const uint8_t* resets;
  int64_t* losses;  // (rows)
  int8_t* logits;   // (rows, vocab) or null
  uint32_t vocab;
  uint32_t context;
  char* workspace;
  size_t workspace_stride;  // of a block
  const egg_loss_tables* loss_tables;
  int32_t nearest;
  int32_t q_shift;      // of linear's x*B
  int32_t embed_shift;  // of embed's A*B
};

// Bytes of shared memory that a block takes beside the values.
uint32_t forward_extra_shared(uint32_t ranks);

// all_shared: the plan keeps no value in the workspace.
void launch_forward(const ForwardArgs& args, bool all_shared, uint32_t blocks, cudaStream_t stream);

// Allows launches so much shared memory, on the current device.
void prepare_forward(uint32_t shared_bytes);

}  // namespace eggroll::cuda

#endif
