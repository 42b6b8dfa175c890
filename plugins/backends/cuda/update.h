// Noise in device memory, the forms of the weights, votes and rules: launches.
#ifndef EGGROLL_CUDA_UPDATE_H
#define EGGROLL_CUDA_UPDATE_H

#include <cuda_runtime.h>

#include "eggroll/plugin.h"
#include "fused_layout.h"
#include "layout.h"

namespace eggroll::cuda {

// Jobs of one launch, on the device, in the order of their pieces: see jobs.cuh.
template <class Job>
struct JobList {
  const Job* jobs;
  uint32_t count;
  uint32_t pieces;
};

struct NoiseArgs {
  const Segment* segments;
  uint32_t segment_count;
  const int8_t* values;  // (256), the distribution's
  const int8_t* table;   // of the source `table`; else null
  int32_t table_log2;
  uint64_t seed;
  uint64_t step;
  uint32_t first_pair;
  uint32_t tiles;  // of kTilePairs pairs each, also where some do not exist
  int32_t vector_shift;
  int32_t nearest;
  int32_t perturb;            // 0: members' vectors are the plain weights, and there are no draws
  const NoisePlaces* places;  // of the forward layout's blocks; null: in their order
  int8_t* out;                // (tiles, tile_bytes), see noise_place
  size_t tile_bytes;
};
void launch_noise(const NoiseArgs& args, cudaStream_t stream);

// Draws for votes. In a tile's block of 64 values each has its 32 pairs in a row: 16 and 16, the second 16 first in
// every second four of values, which spreads them over the banks. Side A is multiplied by its pair's fitness, a number
// of 14 bits: 64 * high + low, low in [-32, 31]; behind the segment of the low numbers lies one of the high. fitness:
// (pairs), of the first pair on; further pairs of the last tile count nothing.
void launch_vote_noise(const NoiseArgs& args, const int8_t* fitness, uint32_t pairs, cudaStream_t stream);

// Weights (rows, cols), as they cross the seam, into rows of `stride` bytes, and back.
void launch_pad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);
void launch_unpad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);

// What linears read: 16 inputs of an output in each unit of 16 bytes, in an order that the form says.
enum FormKind : int32_t {
  // For each block of outputs, each block of inputs, each j < 8 and each lane the inputs 16 i + 4 (lane % 4) to + 3,
  // i < 4, of one output, which is 16 c + 2 j + e for column 2 c + e = lane / 4 of the product's tile j: so a thread's
  // sums are of 16 neighbouring outputs.
  kFragments,
  // What comes from the ring. For each two blocks of outputs, each block of inputs, both with zeros up to an even
  // number of blocks, each of the two and each 16 inputs the 64 outputs, in the fragments' order: output 16 c + 2 j + e
  // at place 8 j + 2 c + e.
  kStages,
  // What comes to the fused forward pass, 64 outputs and all inputs a stage, or 64 inputs and all outputs: for each 16
  // inputs the outputs, each 64 in the order above. The 16 inputs are 16 c + 4 w to + 3, c < 4, of a block of 64, one
  // such 16 for each w < 4: what a thread has of its own sums, four neighbours of 16, is then one word of what the
  // tensor cores take from it.
  kFusedOutputs,
  kFusedInputs
};

// A form of a parameter's padded rows, (out_blocks * 64, in_blocks * 64).
struct FormJob {
  uint32_t first;  // of its pieces among those of all jobs
  FormKind kind;
  const int8_t* rows;  // of `stride` bytes
  int8_t* form;
  uint32_t real_rows;
  uint32_t stride;
  uint32_t out_blocks;
  uint32_t in_blocks;
};
uint32_t form_pieces(const FormJob& job);
// Makes `pieces` pieces from `first` on anew.
void launch_forms(const JobList<FormJob>& forms, uint32_t first, uint32_t pieces, cudaStream_t stream);

// Adds to *sum a hash of each value and its place, under a key: the same in whatever order, and of whatever device.
void launch_checksum(const int8_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream);
void launch_checksum(const uint32_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream);

// Where the votes of one parameter come from and go. Offsets are in a pair's noise; strides from rank to rank.
struct VoteJob {
  uint32_t first;  // of its pieces among those of all jobs
  uint32_t ranks;
  uint32_t rows;
  uint32_t cols;  // 1 for a vector
  uint32_t a_offset;
  uint32_t a_stride;  // the high numbers lie in the middle
  uint32_t b_offset;
  uint32_t b_stride;
  long long* votes;  // (rows, cols)
};

struct VoteArgs {
  const int8_t* noise;  // (tiles, tile_bytes), from launch_vote_noise
  size_t tile_bytes;
  uint32_t tiles;
  uint32_t most_ranks;
  JobList<VoteJob> list;  // of all matrices or of all vectors
};
uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols);
uint32_t vector_vote_pieces(uint32_t rows);
// Allows launches the shared memory that they take, on the current device.
void prepare_votes();
// Adds to the jobs' votes.
void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream);
void launch_vector_votes(const VoteArgs& args, cudaStream_t stream);

// Adds up votes of several places, `cells` each, on devices that this one can read.
void launch_sum_votes(const long long* const* parts, uint32_t part_count, long long* votes, size_t cells,
                      cudaStream_t stream);

// The rule's work on one parameter.
struct RuleJob {
  uint32_t first;          // of its pieces among those of all jobs
  uint32_t param;          // its place in vote_stds and changed
  const long long* votes;  // (rows, cols)
  int8_t* weights;         // padded rows
  uint32_t rows;
  uint32_t cols;
  uint32_t stride;
  uint32_t* slots;  // (slot_count, rows, cols)
};
struct RuleArgs {
  const egg_rule_node* nodes;
  uint32_t node_count;
  const int32_t* slot_nodes;  // (slot_count)
  uint32_t slot_count;
  int32_t delta;
  const float* scalars;
  const float* vote_stds;
  unsigned long long* changed;
  uint32_t* scratch;  // (rule_scratch) where that is not 0, else null
  JobList<RuleJob> list;
};
uint32_t rule_pieces(size_t weights);
// Words of device memory that a rule with this number of nodes works in.
size_t rule_scratch(uint32_t node_count);
void launch_rule(const RuleArgs& args, cudaStream_t stream);

}  // namespace eggroll::cuda

#endif
