// What the host plans and the kernels read: where values, parameters and noise lie in device memory.
//
// A tile is kTileRows members in rows: in each slab of 16 rows, row r < 8 is the even member of a pair and row r + 8
// its odd one, so that one thread of a matrix fragment holds both and reads their noise once. Channels come in units
// of 16 bytes, and a value in planes: one unit of every row. Eight rows of a plane are what a tensor core reads at
// once. All sizes below are in bytes unless they say otherwise.
#ifndef EGGROLL_CUDA_LAYOUT_H
#define EGGROLL_CUDA_LAYOUT_H

#include <cstddef>
#include <cstdint>

#include "eggroll/arithmetic.h"

namespace eggroll::cuda {

constexpr uint32_t kTileRows = 64;
constexpr uint32_t kTilePairs = kTileRows / 2;
constexpr uint32_t kTileThreads = 256;  // that work on a tile's rows
constexpr uint32_t kUnit = 16;          // bytes that a thread loads at once
constexpr uint32_t kBlock = 64;         // inputs, or outputs, in a block of a matrix
// 32 more than the rows' units: the four threads of a row then use different quarters of the banks.
constexpr uint32_t kPlane = kTileRows * kUnit + 32;
// Weights that are brought to shared memory at once: of two blocks of outputs and two of inputs, those that do not
// exist zero.
constexpr uint32_t kPart = 2 * kBlock * kBlock;
constexpr uint32_t kParts = 2;
constexpr uint32_t kStage = kParts * kPart;

EGG_FN constexpr uint32_t divide_up(uint32_t n, uint32_t d) { return (n + d - 1) / d; }
EGG_FN uint32_t padded(uint32_t count, uint32_t to) { return divide_up(count, to) * to; }

// Where a value lies: its first plane `offset` bytes from the start of the tile's values, `bytes` bytes in each row, a
// multiple of 64; a wide one four for each channel. A row keeps to its part of every plane, so that a warp may go on to
// the next op while others are still at this one, as long as it keeps to its rows.
struct Place {
  uint32_t offset;
  uint32_t bytes;
  uint32_t size;   // channels
  uint8_t shared;  // 1: in shared memory, 0: in the tile's workspace
  uint8_t wide;    // 1: int32
};

// A vector parameter as members see it: even and odd member of a pair, each padded with zeros to `kBlock`.
struct VectorNoise {
  int32_t offset;  // in a pair's noise; -1: there is no such parameter
  int32_t odd;     // from the even member's values to the odd one's
};

// What a pair's noise holds for side A of a matrix, for an embed. For a masked table it holds the key that any draw is
// made from, because few of its many rows are read. For a matrix that is never perturbed it holds nothing.
enum SideA : uint8_t { kDrawnA, kKeyedA, kNoA };

// Kernels run the program's ops and these ops of the backend. kKeep leaves a value in device memory, where the sites of
// a session read it. Draws take it from there: kTake as it is, kMove as a draw perturbs it. kAttendOfDraw is the
// draws' attention, which reads earlier keys and values there and, at tokens of a horizon, in the draws' own cache.
enum DeviceCode : int32_t { kLoadState = 100, kKeep, kTake, kMove, kAttendOfDraw };

// Ops that the smallest kernel has for int8 values. All other ops are in the full kernel, because an op that a kernel
// has but never runs still takes registers from the ops that it runs.
EGG_FN constexpr bool is_plain(int32_t code) {
  return code == EGG_OP_EMBED || code == EGG_OP_LINEAR || code == EGG_OP_L1_NORM || code == EGG_OP_ADD ||
         code == EGG_OP_GRU_GATE || code == EGG_OP_GRU_MIX || code == EGG_OP_STORE || code == EGG_OP_LOSS;
}

struct alignas(16) DeviceOp {
  int32_t code;                // egg_op_code or DeviceCode
  uint8_t all_shared;          // 1: every value of the op is in shared memory
  uint8_t streamed;            // linear: 1: the weights come through the ring
  uint8_t takes_inputs_place;  // linear: 1: the last one or two blocks of outputs may overwrite inputs
  uint8_t small_weights;       // attention: 1: no weight is above 2^15 - 1
  int32_t attr;                // as egg_op.attr
  int32_t head;
  int32_t mode;
  Place out;
  Place in[3];
  const int8_t* matrix;  // linear: stages or fragments, see update.h; embed: rows of `matrix_stride`
  uint32_t matrix_stride;
  uint32_t in_blocks;
  uint32_t out_blocks;
  int32_t ranks;      // draws of the matrix, 0 if it is not perturbed
  uint32_t a_offset;  // of the matrix's draws of rank 0 in a pair's noise, or of their keys
  uint32_t a_stride;  // to the next rank
  uint32_t b_offset;
  uint32_t b_stride;
  VectorNoise vectors[2];  // as egg_op.param: gain, bias
  const int32_t* table;
  const int8_t* byte_table;  // lut
  uint32_t state_offset;     // load_state, store; loss of a state: in a member's states
  uint8_t of_state;          // loss: 1: the logits are a state
  uint8_t side_a;            // embed: SideA
  uint8_t of_stream;         // attention of draws: 1: no draw changes the key and the value at its own token
  size_t keys_offset;        // attention: in a tile's workspace, (context, units of out, rows) of 16 bytes; keep, take,
                             // move and the attention of draws: in what is kept
  size_t values_offset;
  size_t scores_offset;  // likewise: (context, kTileThreads) int32, for any attention; for that of draws, in a token's
                         // part of their cache
};

// Stages of a linear's weights.
EGG_FN uint32_t stages_of(const DeviceOp& op) { return divide_up(op.out_blocks, 2) * divide_up(op.in_blocks, kParts); }

// A stage of weights, which comes through the ring once per token, and noise that is needed soon after it.
struct StageSource {
  const int8_t* weights;
  uint32_t noise_begin;  // in a pair's noise
  uint32_t noise_end;
};

// A pair's noise is a list of parts. The noise of a tile's pairs lies together: all pairs' first 64 bytes, then all
// pairs' next 64 bytes, and so on. See noise_place.
// kDraw: the draws of a matrix's side and rank. kVector: a vector as the pair's members see it. kKey: see SideA.
enum NoisePartKind : int32_t { kDraw, kVector, kKey };
constexpr uint32_t kKeyBytes = 8;

struct NoisePart {
  int32_t kind;
  uint32_t param;
  uint32_t side;  // of a draw
  uint32_t rank;
  uint32_t size;    // values; the rest up to a multiple of `kBlock` is zero
  uint32_t offset;  // in a pair's noise
  int32_t perturbed;
  uint32_t first_voter;  // the first of `voters` pairs; for other pairs, draws are zero
  uint32_t voters;
  const int8_t* weights;  // of a vector; its odd member's values follow at `kBlock`-padded size
};

// With this and a key, values of the noise are made: see noise.h.
struct NoiseValues {
  const int8_t* values;  // (256), the distribution's
  const int8_t* table;   // of the source `table`; else null
  int32_t table_log2;
};

// Where byte `at` of a pair's noise lies in its tile's noise. pair: its number within the tile.
EGG_FN size_t noise_place(uint32_t pair, uint32_t at) {
  return (size_t{at / kBlock} * kTilePairs + pair) * kBlock + at % kBlock;
}

// The compilers of host and device lay these out alike.
static_assert(sizeof(Place) == 16);
static_assert(sizeof(VectorNoise) == 8);
static_assert(sizeof(DeviceOp) == 192);
static_assert(sizeof(StageSource) == 16);
static_assert(sizeof(NoisePart) == 48);
static_assert(sizeof(NoiseValues) == 24);

}  // namespace eggroll::cuda

#endif
