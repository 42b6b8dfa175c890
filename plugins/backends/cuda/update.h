// Launches that make noise in device memory, forms of the weights, and votes, and that apply rules.
#ifndef EGGROLL_CUDA_UPDATE_H
#define EGGROLL_CUDA_UPDATE_H

#include <cuda_runtime.h>

#include "eggroll/plugin.h"
#include "fused_layout.h"
#include "layout.h"
#include "rule_plan.h"

namespace eggroll::cuda {

// Jobs of one launch, on the device, in the order of their pieces: see jobs.cuh.
template <class Job>
struct JobList {
  const Job* jobs;
  uint32_t count;
  uint32_t pieces;
};

struct NoiseArgs {
  const NoisePart* parts;
  uint32_t part_count;
  NoiseValues values;
  uint64_t seed;
  uint64_t step;
  uint32_t first_pair;
  uint32_t tiles;  // of kTilePairs pairs each, even if some do not exist
  int32_t vector_shift;
  int32_t nearest;
  int32_t perturb;            // 0: members' vectors are the plain weights, and there are no draws
  const NoisePlaces* places;  // of the layout's blocks; null: in their order
  int8_t* out;                // (tiles, tile_bytes), see noise_place
  size_t tile_bytes;
  uint32_t most_blocks;  // noise_blocks()
};
void launch_noise(const NoiseArgs& args, cudaStream_t stream);
// Blocks of such a launch that the current device runs at once.
uint32_t noise_blocks();

// Copies weights (rows, cols), as calls of the contract pass them, to rows of `stride` bytes, and back.
void launch_pad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);
void launch_unpad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream);

// What linears read. Each unit of 16 bytes has 16 inputs of one output; the form says in which order.
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
  // inputs the outputs, each 64 in the order above. Each w < 4 has 16 inputs of a block of 64: 16 c + 4 w + i, with
  // c < 4 and i < 4. A thread's sums are four neighbours of 16, and so they are one word of what the tensor cores read.
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

// Adds a hash of the key, each value and its place to *sum. The result is the same in any order and on any device.
void launch_checksum(const int8_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream);
void launch_checksum(const uint32_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream);

// Where the votes of one parameter come from and go. Places and strides, from rank to rank, are of blocks of 64 values
// in the noise's layout; a vector's draws are made anew.
struct VoteJob {
  uint32_t first;  // of its pieces among those of all jobs
  uint32_t param;
  uint32_t first_voter;  // pairs [first_voter, first_voter + voters) vote
  uint32_t voters;
  uint32_t ranks;
  uint32_t rows;
  uint32_t cols;  // 1 for a vector
  uint32_t a_block;
  uint32_t a_stride;
  uint32_t b_block;
  uint32_t b_stride;
  long long* votes;  // (rows, cols)
};

// Pairs [first_pair, first_pair + pairs). Their noise must begin with a tile.
struct VoteArgs {
  const int8_t* noise;  // (tiles, tile_bytes), from launch_noise
  size_t tile_bytes;
  const NoisePlaces* places;  // as there
  NoiseValues values;
  uint64_t seed;
  uint64_t step;
  uint32_t first_pair;
  uint32_t pairs;
  uint32_t tiles;
  const int8_t* fitness;  // of the pairs, zero up to a whole tile
  int32_t most_fitness;   // no fitness has a larger magnitude
  uint32_t most_ranks;
  JobList<VoteJob> list;  // of all matrices or of all vectors
};
uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols);
uint32_t vector_vote_pieces(uint32_t rows);
// Allows launches on the current device to use the shared memory that they need.
void prepare_votes();
// Adds to the jobs' votes.
void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream);
void launch_vector_votes(const VoteArgs& args, cudaStream_t stream);

struct RuleArgs;

// A row whose votes were added up in memory: the row of the table's votes in which they lie, and their null deviation.
struct VotedRow {
  uint32_t row;
  uint32_t votes_row;
  float vote_std;
};

// Some of the pairs that vote on a row. Pairs of the streams that read the row are numbered from 0, stream after
// stream.
struct RowPiece {
  uint32_t row;
  uint32_t streams;  // where they begin in the table's list
  uint32_t first;    // pair
  uint32_t pairs;
  uint32_t votes_row;  // where the votes are added up; kNoVotesRow: no other piece has the row, and the rule takes them
  float vote_std;      // if the rule takes the votes
};
constexpr uint32_t kNoVotesRow = 0xffffffffu;
// The most pairs of a piece: 127 * 46 * 46 * 4096 < 2^31, so that sums of votes fit 32 bits.
EGG_FN uint32_t piece_pairs(uint32_t ranks) { return ranks <= 4 ? 1024 : ranks < 4096 ? 4096 / ranks : 1; }

// A masked table's part of an update. Offsets are in the noise's layout, of the matrix's sides A and B. Of side B the
// stride from rank to rank is that of the weights.
struct RowTable {
  uint32_t param;
  uint32_t rows;
  uint32_t cols;
  uint32_t stride;        // of a row of weights
  uint32_t first_reader;  // the ops that read it
  uint32_t reader_count;
  uint32_t first_voter;
  uint32_t voters;
  uint32_t key_offset;
  uint32_t b_offset;
  long long* votes;            // (rows, cols), or as many rows as VotedRow says
  unsigned long long* counts;  // (rows): pairs that vote on a row, and their streams in the upper half
  uint32_t* begins;            // (rows): where a row's streams begin in the list
  uint32_t* places;   // of each read: where its stream lies among those of its row; kNotListed: it is not in the list
  uint32_t* streams;  // the list
  RowPiece* pieces;   // in any order
  uint32_t* piece_count;
  uint32_t* stream_count;
  VotedRow* voted;  // in any order
  uint32_t* voted_count;
  int8_t* weights;  // padded rows
  uint32_t* slots;  // (slot_count, rows, cols)
};
constexpr uint32_t kNotListed = 0xffffffffu;
EGG_FN uint32_t pairs_voting(unsigned long long count) { return static_cast<uint32_t>(count); }
EGG_FN uint32_t streams_voting(unsigned long long count) { return static_cast<uint32_t>(count >> 32); }

struct RowTables {
  const RowTable* tables;
  uint32_t count;
  uint32_t most_rows;     // of one of them
  uint32_t most_readers;  // likewise
  uint32_t keeps_votes;   // 1: all votes are added up in memory, 0: only those on rows that have several pieces
};

// Pairs [first_pair, first_pair + pairs) vote, whose streams are [first_stream, first_stream + streams), of
// stream_pairs pairs each.
struct ReadArgs {
  RowTables tables;
  const uint32_t* readers;  // what says the row: 0: the token, i: index i - 1
  uint32_t first_pair;
  uint32_t pairs;
  uint32_t first_stream;
  uint32_t streams;
  uint32_t stream_pairs;
  uint32_t tokens;
  const uint32_t* inputs;       // (streams, tokens)
  const uint32_t* row_numbers;  // (streams, tokens, index_count)
  uint32_t index_count;
  uint32_t ranks;
  const double* variances;  // of a vote of one pair under the null, by table
  uint32_t most;            // pairs of a piece
  const uint8_t* counted;  // of sites, whose streams are tokens that each have a vote for each read: (streams), 0 where
                           // a token has none; else null
  uint32_t owner;          // rows whose number modulo `owners` is another have no readers
  uint32_t owners;
};
// Lists the streams that read each row, and the pieces of their pairs. Counts must be zero before.
void launch_list_streams(const ReadArgs& args, cudaStream_t stream);

// The pairs whose noise is there.
struct RowVoteArgs {
  RowTables tables;
  const int8_t* noise;  // as of VoteArgs
  size_t tile_bytes;
  const NoisePlaces* places;
  NoiseValues values;
  uint32_t ranks;
  uint32_t first_pair;
  uint32_t pairs;
  const int8_t* fitness;
  uint32_t first_stream;  // of the list
  uint32_t stream_pairs;
};
// Makes the votes of listed pieces: adds them to the tables' votes, or gives them to the rule at once.
void launch_row_votes(const RowVoteArgs& args, const RuleArgs& rule, cudaStream_t stream);

// Lists the rows that have votes. ranks: draws of each pair.
void launch_find_rows(const RowTables& tables, const double* variances, uint32_t ranks, cudaStream_t stream);
// Copies the weights of rows that another device's lists have, from its tables to these.
void launch_take_rows(const RowTables& from, const RowTables& to, cudaStream_t stream);
// Copies the rows (rows, cols) whose number modulo `step` is `first`.
void launch_copy_rows(const uint32_t* from, uint32_t* to, uint32_t rows, uint32_t cols, uint32_t first, uint32_t step,
                      cudaStream_t stream);
// Sets the votes of the rows of the last list to zero.
void launch_clear_rows(const RowTables& tables, cudaStream_t stream);

// Votes of several devices. The current device must be able to read them all.
struct VoteParts {
  const long long* const* parts;
  uint32_t count;
  long long* votes;  // their sum
};
// Adds up the first `count` cells.
void launch_sum_votes(const VoteParts& parts, size_t count, cudaStream_t stream);

// The rule's work on a parameter that is not masked.
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
// See RulePlan.
struct RuleArgs {
  const RuleNode* nodes;
  uint32_t node_count;
  uint32_t constants;
  uint32_t places;
  const int32_t* slot_places;  // (slot_count)
  uint32_t slot_count;
  int32_t delta_place;
  const float* scalars;
  const float* vote_stds;
  unsigned long long* changed;
  uint32_t* scratch;  // (rule_scratch), or null if that is 0
  JobList<RuleJob> list;
  const RowTable* tables;
  uint32_t table_count;
};
uint32_t rule_pieces(uint32_t rows, uint32_t cols);
// Words of device memory that a rule works in.
size_t rule_scratch(uint32_t constants, uint32_t places);
void launch_rule(const RuleArgs& args, cudaStream_t stream);

// The compilers of host and device lay these out alike.
static_assert(sizeof(JobList<VoteJob>) == 16);
static_assert(sizeof(NoiseArgs) == 112);
static_assert(sizeof(FormJob) == 40);
static_assert(sizeof(VoteJob) == 56);
static_assert(sizeof(VoteArgs) == 112);
static_assert(sizeof(VotedRow) == 12);
static_assert(sizeof(RowPiece) == 24);
static_assert(sizeof(RowTable) == 136);
static_assert(sizeof(RowTables) == 24);
static_assert(sizeof(ReadArgs) == 112);
static_assert(sizeof(RowVoteArgs) == 104);
static_assert(sizeof(RuleJob) == 48);
static_assert(sizeof(RuleArgs) == 104);

}  // namespace eggroll::cuda

#endif
