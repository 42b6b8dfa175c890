// Noise in device memory, the forms of the weights, votes and rules: launches.
#ifndef EGGROLL_CUDA_UPDATE_H
#define EGGROLL_CUDA_UPDATE_H

#include <cuda_runtime.h>

#include "eggroll/plugin.h"
#include "layout.h"

namespace eggroll::cuda {

struct NoiseArgs {
  const Segment* segments;
  uint32_t segment_count;
  const int8_t* values;  // (256), the distribution's
  const int8_t* table;   // of the source `table`; else null
  int32_t table_log2;
  uint64_t seed;
  uint64_t step;
  uint32_t first_pair;
  uint32_t pairs;
  int32_t vector_shift;
  int32_t nearest;
  int32_t perturb;  // 0: members' vectors are the plain weights, and there are no draws; `pairs` is 1
  int8_t* out;      // (pairs, pair_bytes)
  size_t pair_bytes;
};
void launch_noise(const NoiseArgs& args, cudaStream_t stream);

// Weights (rows, cols), as they cross the seam, into rows of `stride` bytes, and back.
void launch_pad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);
void launch_unpad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);

// Padded rows, (out_blocks * 64, in_blocks * 64), into linear's fragments: for each block of outputs, each block of
// inputs, each j < 8 and each lane the inputs 16 i + 4 (lane % 4) to + 3, i < 4, of one output, which is 16 c + 2 j + e
// for column 2 c + e = lane / 4 of the product's tile j: so a thread's sums are of 16 neighbouring outputs.
void launch_fragments(const int8_t* rows, uint32_t real_rows, uint32_t stride, int8_t* fragments, uint32_t out_blocks,
                      uint32_t in_blocks, cudaStream_t stream);

// Votes of one parameter, added to `votes` (rows, cols). noise: (pairs, pair_bytes), at the parameter's first draw.
struct VoteArgs {
  const int8_t* noise;
  size_t pair_bytes;
  uint32_t pairs;
  uint32_t ranks;
  uint32_t rows;
  uint32_t cols;  // 1 for a vector
  int32_t vector;
  uint32_t a_stride;  // from rank to rank
  uint32_t b_offset;  // from the first draw of side A to that of side B
  uint32_t b_stride;
  const int8_t* fitness;  // (pairs)
  long long* votes;
};
void launch_votes(const VoteArgs& args, cudaStream_t stream);

struct RuleArgs {
  const egg_rule_node* nodes;
  uint32_t node_count;
  const int32_t* slot_nodes;  // (slot_count)
  uint32_t slot_count;
  int32_t delta;
  const float* scalars;
  float vote_std;
  const long long* votes;  // (rows, cols)
  int8_t* weights;         // padded rows
  uint32_t rows;
  uint32_t cols;
  uint32_t stride;
  uint32_t* slots;  // (slot_count, rows, cols)
  unsigned long long* changed;
  uint32_t* scratch;  // (rule_scratch) where that is not 0, else null
};
// Words of device memory that a rule of so many nodes works in.
size_t rule_scratch(uint32_t node_count);
void launch_rule(const RuleArgs& args, cudaStream_t stream);

}  // namespace eggroll::cuda

#endif
