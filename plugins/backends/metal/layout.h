// What the host plans and the kernels read: where values, parameters and noise lie in the device's buffers, and the
// arguments of each kernel. Plain structs of sized integers, alike in C++ and in Metal.
//
// A tile is kTileRows members in rows; rows 2k and 2k + 1 are a pair. A threadgroup has one tile for a slice of a
// call's tokens. A value lies row by row in the tile's workspace, its channels padded to a multiple of kBlock with
// zeros, which stay zeros whatever the op. Offsets and strides are in bytes unless they say otherwise.
#ifndef EGGROLL_METAL_LAYOUT_H
#define EGGROLL_METAL_LAYOUT_H

#include "eggroll/arithmetic.h"

#if defined(__METAL_VERSION__)
#define EGG_CONSTANT constant constexpr
#else
#define EGG_CONSTANT constexpr
#endif

namespace eggroll {
namespace metal {

// The index at which host and kernels bind each buffer, the same in every kernel that takes it.
enum Binding {
  kBindArguments,  // the struct of the kernel's name, such as ForwardArgs
  kBindOps,
  kBindNoiseParts,
  kBindTables,
  kBindLossTables,
  kBindNoise,
  kBindInputs,
  kBindTargets,
  kBindResets,
  kBindIndexRows,
  kBindWeights,
  kBindHalves,
  kBindSlots,
  kBindStatesBefore,
  kBindStates,
  kBindKept,  // what the forward pass leaves apart from states and losses: logits, or what sites read of each token
  kBindWorkspace,
  kBindFitness,
  kBindVoteJobs,
  kBindErrors,  // of sites: see kSquareBytes
  kBindVotes,
  kBindVotedRows,
  kBindRowVoters,
  kBindRuleNodes,
  kBindSlotNodes,
  kBindRuleJobs,
  kBindMaskedJobs,
  kBindScalars,
  kBindVoteStds,
  kBindRuleScratch,
  kBindChanged,
  kBindings
};
static_assert(kBindings <= 31, "Metal has 31 indices of buffers");

EGG_CONSTANT uint32_t kTileRows = 64;
EGG_CONSTANT uint32_t kTilePairs = kTileRows / 2;
EGG_CONSTANT uint32_t kLanes = 32;  // of a simdgroup
EGG_CONSTANT uint32_t kSimdgroups = 8;
EGG_CONSTANT uint32_t kThreads = kLanes * kSimdgroups;  // of a threadgroup, in every kernel
EGG_CONSTANT uint32_t kBlock = 64;                      // channels of values, inputs and outputs of matrices
EGG_CONSTANT uint32_t kCell = 8;                        // rows and columns of the matrix units' matrices

// Sums of products of int8 below 2^24 are exact as float32, in any order; longer ones are added in blocks, as int32.
EGG_CONSTANT uint32_t kExactSum = 1 << 24;
EGG_CONSTANT uint32_t kBlockInputs = 1024;
static_assert(kBlockInputs * 127 * 127 < kExactSum, "a block's sum is exact");
EGG_CONSTANT uint32_t kMostBlockInputs = kExactSum / (127 * 127);  // 1,040

// Threadgroup memory of the forward pass: some inputs of all rows as halves, or, when they have been multiplied, the
// sums of kBlock outputs as floats; then linear's q, (rows, ranks) int32.
EGG_CONSTANT uint32_t kStagedInputs = 2 * kBlock;
EGG_CONSTANT uint32_t kStaging = 4 * kTileRows * kBlock;
static_assert(kStaging >= 2 * kTileRows * kStagedInputs, "the sums lie where the inputs were");
static_assert(kBlockInputs % kStagedInputs == 0, "a block of inputs is staged in whole parts");
// The most ranks whose q fits, in the 32 KiB that Apple's GPUs have.
EGG_CONSTANT uint32_t kThreadgroupMemory = 32768;
static_assert(kStaging + 4 * kTileRows * 64 <= kThreadgroupMemory, "64 ranks fit");

EGG_FN uint32_t divide_up(uint32_t n, uint32_t d) { return (n + d - 1) / d; }
EGG_FN uint32_t padded(uint32_t count, uint32_t to) { return divide_up(count, to) * to; }

// A linear's matrix is stored a second time as halves, as the matrix units take it: in cells of kCell inputs by kCell
// outputs. The cells of the same outputs follow each other. stride: the number of inputs, padded.
EGG_FN uint32_t half_place(uint32_t output, uint32_t input, uint32_t stride) {
  return (output / kCell * (stride / kCell) + input / kCell) * (kCell * kCell) + input % kCell * kCell + output % kCell;
}
EGG_CONSTANT uint32_t kNoHalves = 0xffffffffu;

// Where a value lies in a tile's workspace: kTileRows rows of `padded` channels, int8, or int32 if it is wide.
struct Place {
  uint32_t offset;
  uint32_t padded;
  uint32_t size;  // channels; 0: there is no value
  uint32_t wide;
};
EGG_FN uint32_t row_bytes(Place place) { return place.wide != 0 ? 4 * place.padded : place.padded; }

// What the kernel runs: the program's ops, and three of the backend's own.
EGG_CONSTANT int32_t kLoadState = 100;
EGG_CONSTANT int32_t kKeepValue = 101;  // for sites; attr 0: zeros if the token has no target
EGG_CONSTANT int32_t kTakeValue = 102;  // what was kept; attr 1: as a draw moves it

struct DeviceOp {
  int32_t code;  // egg_op_code or kLoadState
  int32_t attr;
  int32_t head;
  int32_t mode;
  Place out;
  Place in[3];
  uint32_t matrix;    // in the weights: rows of `stride`
  uint32_t halves;    // linear: the matrix among the halves, see half_place
  uint32_t stride;    // channels of the matrix's inputs, padded
  uint32_t ranks;     // draws of the matrix, 0 if it is not perturbed
  uint32_t a;         // of side A in a pair's noise, rank 0; embed: of the keys of all ranks
  int32_t shift;      // embed: of the perturbation
  uint32_t a_stride;  // to the next rank; embed: none
  uint32_t b;
  uint32_t b_stride;
  int32_t vectors[2];  // gain and bias: the even member's in a pair's noise, the odd one's `out.padded` on; -1: none
  uint32_t table;      // its first entry among those of all tables
  uint32_t state;      // load_state, store, loss of a state: in its states; keep_value, take_value: in a place's record
  uint32_t of_state;   // loss: 1 if the logits are a state
  uint32_t caches[2];  // attention: keys and values in a tile's workspace, (rows, context, padded channels)
  uint32_t kept[2];    // the same in a place's record: what draws read of positions before their own
  uint32_t of_stream;  // attention: 1 if that of a draw's place is read too, because no draw changes it
  uint32_t scores;     // (rows, context) int32, for any attention
};

// A pair's noise is a list of parts: draws of a matrix's sides, vector parameters as both members see them, and the
// keys of side A of a matrix that an embed reads: of a draw as long as the table it takes one value.
EGG_CONSTANT int32_t kDraw = 0;
EGG_CONSTANT int32_t kVector = 1;
EGG_CONSTANT int32_t kKeys = 2;

struct NoisePart {
  int32_t kind;
  uint32_t param;
  uint32_t side;  // of a draw
  uint32_t rank;
  uint32_t size;        // values, the rest up to a multiple of kBlock is zero; or keys, a rank each
  uint32_t offset;      // in a pair's noise
  uint32_t first_pair;  // of those that perturb the parameter; to the others it is as it is
  uint32_t pairs;       // 0: it is not perturbed
  uint32_t weights;     // of a vector
};

// At the end of what a member keeps from token to token: its loss, and padding.
EGG_CONSTANT uint32_t kLossBytes = 16;

// What it takes to draw noise. Its buffer holds the distribution's 256 values, then the table of the source `table`.
struct NoiseArgs {
  uint64_t seed;
  uint64_t step;
  uint32_t first_pair;  // of the work at hand
  int32_t table_log2;   // 0: the source is `counter`
};

// Places of a site, (streams, tokens): those of a call from `first` on.
struct Places {
  uint64_t seed;
  uint64_t step;
  uint32_t stream;  // of the call's first place, in the step
  uint32_t first;
  uint32_t tokens;
  uint32_t site;
};

// Rows that are members of draws: (places, draws, 2).
struct MoveArgs {
  Places places;
  uint32_t first_kept;  // record of the first place
  uint32_t orthogonal;
  uint32_t row_mask;  // rows of the Hadamard matrix less one
  int32_t amplitude;
};

// A slice: some tiles and some tokens of a call, a threadgroup a tile. It reads the states and losses that the slice of
// the tokens before it has left, and writes others, so that it can run again if the system has stopped it.
struct ForwardArgs {
  NoiseArgs noise;
  uint64_t workspace_stride;  // of a tile
  uint32_t op_count;
  uint32_t part_count;
  uint32_t noise_bytes;   // of a pair, at the start of a tile's workspace
  uint32_t state_stride;  // of what a member keeps from token to token: its states, and its loss at the end, int64
  uint32_t tokens;        // of the call
  uint32_t first_token;   // of the slice; with token 0 the noise is drawn and the losses begin
  uint32_t end_token;
  uint32_t first_tile;    // of the slice among those of the chunk
  uint32_t rows;          // of the chunk: the tiles that have a workspace at a time
  uint32_t first_row;     // of the chunk in the call, for losses, logits and streams
  uint32_t first_entry;   // of the first row's stream in the streams' lists
  uint32_t first_member;  // of the chunk, counted from the session's first
  uint32_t members_per_stream;
  uint32_t perturbed;  // 0: the unperturbed model, a row a stream
  int32_t nearest;
  int32_t q_shift;  // of linear's x*B
  int32_t vector_shift;
  uint32_t context;
  uint32_t vocab;
  uint32_t index_count;
  uint32_t wants_logits;
  uint32_t block_inputs;  // that linear adds up as float32
  uint32_t kept_bytes;    // of a place's record. A place is a token of a stream of sites
  uint32_t place_ops;     // of draws: they run these at their place's token, and the ops after these at all later ones
  MoveArgs move;          // of draws; all zero for others
};

// The votes of one parameter: pieces of kBlock rows and columns, or of 4 * kThreads values of a vector.
struct VoteJob {
  uint32_t first;  // of its pieces among those of all jobs
  uint32_t param;
  uint32_t vector;
  uint32_t rows;
  uint32_t cols;  // 1 for a vector
  uint32_t ranks;
  uint32_t cells;       // before its votes
  uint32_t first_pair;  // of those that vote
  uint32_t pairs;
};

// Rows and columns of a piece that a thread has.
EGG_CONSTANT uint32_t kOwnRows = 4;
EGG_CONSTANT uint32_t kOwnCols = 4;
static_assert(kBlock / kOwnRows * (kBlock / kOwnCols) == kThreads, "the threads have a piece");

// Draws that are multiplied between two barriers. f*A*B is below 2^18.04, so a sum of this number of them is exact.
EGG_CONSTANT uint32_t kVoteDraws = 32;
static_assert(kVoteDraws * 127 * 46 * 46 < kExactSum, "a sum of votes is exact");
// Draws whose int32 sums cannot overflow.
EGG_CONSTANT uint32_t kVoteFlush = 7936;
static_assert(kVoteFlush % kVoteDraws == 0 && kVoteFlush < 0x80000000u / (127 * 46 * 46), "a flush fits int32");
// Threadgroup memory: keys of both sides and fitness of each draw; f*A and B as floats.
EGG_CONSTANT uint32_t kVoteKeys = kVoteDraws * (2 * 8 + 4);
EGG_CONSTANT uint32_t kVoteMemory = kVoteKeys + 2 * 4 * kVoteDraws * kBlock;

// Threadgroups, numbered from first_group on: all pieces of the first share of each job's pairs, then of the next.
struct VoteArgs {
  NoiseArgs noise;
  uint64_t cells;  // votes of all parameters, one share's
  uint32_t job_count;
  uint32_t pieces;
  uint32_t shares;
  uint32_t first_group;
};

// The rule's work on one parameter: pieces of kThreads weights.
struct RuleJob {
  uint32_t first;  // of its pieces among those of all jobs
  uint32_t param;  // its place in vote_stds and changed
  uint32_t count;
  uint32_t cols;
  uint32_t stride;  // of a row of weights
  uint32_t weights;
  uint32_t halves;      // its first, or kNoHalves
  uint32_t cells;       // before its votes
  uint32_t slots;       // before its cells, (slots, weights)
  uint32_t reads;       // votes of each weight in a share, `count` apart: ops that read a parameter of a site
  uint32_t std;         // its place among the deviations of the null
  uint32_t of_columns;  // 1: the deviations of its columns begin there
};
EGG_CONSTANT uint32_t kStays = 0xffffffffu;  // a deviation of what no token reads: weights and slots stay as they are

// A node of the rule, its real constant as bits.
struct RuleNode {
  int32_t code;
  int32_t in[3];
  int32_t index;
  uint32_t constant_bits;
};

struct RuleShape {
  uint32_t node_count;
  uint32_t slot_count;
  int32_t delta;
  uint32_t groups;  // threadgroups of the dispatch
};

// Threadgroups take every groups-th piece of those from first_piece on.
struct RuleArgs {
  RuleShape rule;
  uint64_t cells;  // votes of one share
  uint32_t shares;
  uint32_t job_count;
  uint32_t first_piece;
  uint32_t end_piece;
};

// A masked table.
struct MaskedJob {
  uint32_t param;  // its place in changed
  uint32_t count;
  uint32_t cols;
  uint32_t stride;  // of a row of weights
  uint32_t weights;
  uint32_t slots;  // before its cells, (slots, weights)
};

// A row of a masked table that has votes in a step.
struct VotedRow {
  uint64_t first_voters;  // of its ranges of pairs
  uint32_t pairs;         // in all of them
  uint32_t job;
  uint32_t row;
  uint32_t vote_std;  // a float's bits
};

struct PairRange {
  uint32_t begin;
  uint32_t end;
};

// Threadgroup memory: each simdgroup's keys of side B and f*A, a draw a lane. A lane's sum of kLanes draws fits int32.
EGG_CONSTANT uint32_t kMaskedMemory = kThreads * (8 + 4);
static_assert(kLanes < kVoteFlush, "the draws of a simdgroup's lanes fit int32");

// Simdgroups take the rows from first_row on in turn.
struct MaskedArgs {
  NoiseArgs noise;
  RuleShape rule;
  uint32_t first_row;
  uint32_t end_row;
  uint32_t ranks;
};

// The host and the device have compilers of their own.
static_assert(sizeof(Place) == 16, "");
static_assert(sizeof(DeviceOp) == 160, "");
static_assert(sizeof(NoisePart) == 36, "");
static_assert(sizeof(NoiseArgs) == 24, "");
static_assert(sizeof(Places) == 32, "");
static_assert(sizeof(MoveArgs) == 48, "");
static_assert(sizeof(ForwardArgs) == 176, "");
static_assert(sizeof(VoteJob) == 36, "");
static_assert(sizeof(VoteArgs) == 48, "");
static_assert(sizeof(RuleJob) == 48, "");
static_assert(sizeof(RuleNode) == 24, "");
static_assert(sizeof(RuleShape) == 16, "");
static_assert(sizeof(RuleArgs) == 40, "");
static_assert(sizeof(MaskedJob) == 24, "");
static_assert(sizeof(VotedRow) == 24, "");
static_assert(sizeof(PairRange) == 8, "");
static_assert(sizeof(MaskedArgs) == 56, "");
static_assert(sizeof(egg_loss_tables) == 2052, "");

}  // namespace metal
}  // namespace eggroll

#endif
