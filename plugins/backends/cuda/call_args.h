// The arguments of every forward pass, fused or op by op.
#ifndef EGGROLL_CUDA_CALL_ARGS_H
#define EGGROLL_CUDA_CALL_ARGS_H

#include <cstddef>
#include <cstdint>

#include "layout.h"

struct egg_loss_tables;

namespace eggroll::cuda {

// Rows are members, two per pair, or streams of the unperturbed model.
struct CallArgs {
  uint32_t tokens;
  uint32_t rows;                // of this launch
  uint32_t paired;              // 1: members; 0: streams
  uint32_t first;               // number of the launch's first row in the batch
  uint32_t members_per_stream;  // rows that read the same stream
  const int8_t* noise;          // of the first tile; see noise_place
  size_t tile_noise;            // bytes from tile to tile; 0: all tiles read the same noise
  int8_t* states;               // of the first row
  size_t state_stride;
  const uint32_t* inputs;  // (streams, tokens), as targets and resets
  const uint32_t* targets;
  const uint8_t* resets;
  const uint32_t* row_numbers;  // (streams, tokens, index_count)
  uint32_t index_count;
  NoiseValues values_of_noise;  // for keyed draws
  int64_t* losses;              // (rows)
  int8_t* logits;               // (rows, vocab) or null
  uint32_t vocab;
  const egg_loss_tables* loss_tables;
  int32_t nearest;
  int32_t q_shift;      // of linear's x*B
  int32_t embed_shift;  // of embed's A*B
};

// The compilers of host and device lay these out alike.
static_assert(sizeof(CallArgs) == 168);

}  // namespace eggroll::cuda

#endif
