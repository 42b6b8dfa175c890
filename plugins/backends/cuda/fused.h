// The forward pass of programs that are a chain of known segments, each a few ops made as one: see fused_plan.h for
// which. A warpgroup has a tile, or two share one; another brings weights and noise to them, in the order in which they
// are used.
#ifndef EGGROLL_CUDA_FUSED_H
#define EGGROLL_CUDA_FUSED_H

#include <cuda_runtime.h>

#include "fused_layout.h"

struct egg_loss_tables;

namespace eggroll::cuda {

struct FusedArgs {
  uint32_t tokens;
  uint32_t rows;                        // of this launch: members, two a pair, or streams of the unperturbed model
  uint32_t paired;                      // 1: members
  uint32_t first;                       // number of the launch's first row in the batch
  uint32_t group;                       // rows that read the same stream
  const int8_t* noise;                  // of the first tile; see noise_place, and NoisePlaces
  size_t tile_noise;                    // bytes from tile to tile; 0: all read the same
  const unsigned long long* stages_of;  // where the weights of a token lie; 0: a stage that stays empty
  FusedFeed feeds[kMostFusedGroups];    // of a tile's warpgroups; slots: of the tile's noise
  FusedShape shape;
  int8_t* states;  // of the first row
  size_t state_stride;
  const uint32_t* inputs;  // (streams, tokens), as targets and resets
  const uint32_t* targets;
  const uint8_t* resets;
  const uint32_t* row_numbers;  // (streams, tokens, index_count)
  uint32_t index_count;
  int64_t* losses;  // (rows)
  int8_t* logits;   // (rows, vocab) or null
  uint32_t vocab;
  int32_t loss_unit;
  const egg_loss_tables* loss_tables;
  NoiseValues values_of_noise;  // for keyed draws
  int32_t nearest;
  int32_t q_shift;       // of linear's x*B
  int32_t embed_shift;   // of embed's A*B
  int32_t joint_shift;   // the same of tables that share a perturbation
  uint32_t mean_factor;  // 2^24 / channels, rounded up: see egg_l1_mean
  uint32_t blocks;       // of x
  uint32_t logit_blocks;
  uint32_t segment_count;
  FusedTable tables[kMostFusedTables];
  FusedSegment segments[kMostFusedSegments];
};
static_assert(sizeof(FusedArgs) <= 32764, "CUDA's limit");

// Allows launches on the current device this amount of shared memory.
void prepare_fused(uint32_t shared_bytes);
void launch_fused(const FusedArgs& args, uint32_t blocks, cudaStream_t stream);

}  // namespace eggroll::cuda

#endif
