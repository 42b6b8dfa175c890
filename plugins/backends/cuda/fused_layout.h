// What the host and the kernel of the fused forward pass share. fused_plan.h says what this pass is.
#ifndef EGGROLL_CUDA_FUSED_LAYOUT_H
#define EGGROLL_CUDA_FUSED_LAYOUT_H

#include <cstdint>

#include "layout.h"

namespace eggroll::cuda {

constexpr uint32_t kMostFusedBlocks = 4;  // of 64 channels, in the value that goes from fused op to fused op
constexpr uint32_t kMostFusedOps = 256;
constexpr uint32_t kMostFusedTables = 32;
constexpr uint32_t kMostFusedStages = 8;
constexpr uint32_t kMostNoiseStages = 16;
constexpr uint32_t kNoiseBlock = kTilePairs * kBlock;  // 64 channels of a tile's pairs
constexpr uint32_t kNoiseStage = 2 * kNoiseBlock;
constexpr uint32_t kValueBlock = kTileRows * kBlock;  // 64 channels of a tile's rows
constexpr uint32_t kMostFusedGroups = 2;              // warpgroups that share a tile
constexpr uint32_t kMostFusedTiles = 4;               // of a block of threads
constexpr uint32_t kMostBlockWarps = 16;              // that work on tiles, in a block of threads
constexpr uint32_t kSharedWords = 6;                  // of each row, that such warpgroups exchange
constexpr uint32_t kMostFusedRanks = 8;               // draws of a side
constexpr int32_t kMostScaled = 1 << 30;              // of a scaled sum; a larger one might not fit
constexpr uint32_t kMoreSums = 3;                     // with several ranks: q that a row keeps at a time

// What the rows of a tile are: members; or a span of kSpan tokens of each member of a pair; or short windows, up to
// kMostWindow tokens each, of the members of several pairs. If rows are tokens, attention finds earlier tokens on the
// chip.
enum class Rows : uint8_t { kMembers, kSpan, kWindows };
EGG_FN constexpr bool has_tokens(Rows rows) { return rows != Rows::kMembers; }
constexpr uint32_t kSpan = kTileRows / 2;
constexpr uint32_t kFewestSpanTokens = kSpan / 2;  // of a window: with fewer, most rows would be idle
constexpr uint32_t kMostWindow = 8;
constexpr uint32_t kMostWindowBlocks = 2;  // of channels
// A lut has 16 copies on the chip. Each copy has one bank for its even entries and one for its odd entries. Entry i is
// a word, kLookUpStride bytes after entry i - 1.
constexpr uint32_t kLookUpCopies = 16;
constexpr uint32_t kLookUpStride = 4 * kLookUpCopies;
constexpr uint32_t kLookUpBytes = 256 * kLookUpStride;

// Factors that make the upper half of a word the output: sums * of_sums + q * of_q + rounding. If the linear's output
// is wide, of_sums is its shift with the guard bits, and of_q is 1.
struct Rescale {
  int32_t of_sums;
  int32_t of_q;
};

// x is the value that a fused op takes and makes.
enum FusedCode : int32_t {
  kFusedEmbed,  // x = embed(row, ... embed(row)), a chain over its tables
  kFusedGru,    // y = l1_norm(x); f, c = gates of y and the state; the state and x from gru_mix
  kFusedMlp,    // x = add(linear(linear(l1_norm(x))), x)
  kFusedHead,   // loss(linear(l1_norm(x))), or the loss after a chain of embeds adds to these logits
  // x = max_norm(add(linear(attention(q, k, v)), x)), where q, k and v are max_norm(linear(l1_norm(x))), and q and k
  // have a rope before max_norm. Its tile holds tokens. In such programs norms have a bias, as have the output of
  // kFusedEmbed and both linears of kFusedMlp, which is x = max_norm(add(linear(lut(linear(l1_norm(x)))), x)).
  kFusedAttention
};

struct FusedOp {
  int32_t code;
  uint32_t blocks;       // of 64 channels: between an MLP's linears, of the head's logits
  uint32_t state;        // a GRU's, in a member's states
  uint32_t next_state;   // of the GRU op that comes after this one, the first after the last
  uint32_t first_table;  // of an embedding or a head: its tables
  uint32_t table_count;
  // A GRU's: f of y, f of the state, the candidate of y, the candidate of the state. An MLP's: in their order. An
  // attention's: v, k, q, and the last linear.
  Rescale linears[4];
};

// If rows are tokens: the stages that an op takes, of weights at each step, of noise only once.
struct FusedNeed {
  uint32_t stages;
  uint32_t noise_stages;
};

// A table. Each token reads one of its rows.
struct FusedTable {
  const int8_t* weights;  // rows of `stride`
  uint32_t stride;
  uint32_t row_of;    // 0: the token is the row, i: index i - 1 of the batch is
  uint32_t a;         // where in a pair's noise the table's draws of side A lie, or their key
  uint32_t a_stride;  // from one rank's draws to the next
  SideA side_a;
};
// Each of a row's threads looks up one table.
constexpr uint32_t kTablesAtOnce = 4;
constexpr uint32_t kMostHeadTables = 2 * kTablesAtOnce;

// A stage of weights holds 64 outputs with all inputs, or 64 inputs with all outputs.
EGG_FN uint32_t fused_stage_bytes(uint32_t blocks) { return blocks * kBlock * kBlock; }

// Where a block of 64 values of a pair's noise lies: its number among the blocks of the stream, in the order in which a
// token takes them, two per stage, or a number after those. A block that two ops take has a second place.
struct NoisePlaces {
  uint16_t first;
  uint16_t second;
};
constexpr uint16_t kNoPlace = 0xffff;

// The stages that come to the rings of a tile's warpgroup, or of all tiles, for each token: a part of the list of
// stages of weights, and a part of the list of stages of noise.
struct FusedFeed {
  uint32_t first_stage;
  uint32_t stage_count;
  uint32_t first_noise_stage;
  uint32_t noise_stage_count;
  uint32_t repeated_noise_stages;  // the last of those, which come again
};

// Whether a thread works on half of a product of 64 outputs at a time, which takes fewer registers.
EGG_FN constexpr bool is_halved(uint32_t blocks, uint32_t warpgroups, bool has_more_ranks, bool tokens) {
  return blocks == 1 && warpgroups == 1 && !has_more_ranks && !tokens;
}
// Warpgroups that work on tiles in a block of threads: values of few channels leave registers for more of them.
EGG_FN constexpr uint32_t most_workers(uint32_t blocks, uint32_t warpgroups, bool has_more_ranks, bool tokens) {
  if (is_halved(blocks, warpgroups, has_more_ranks, tokens)) return kMostFusedTiles;
  return warpgroups == 1 && blocks <= (tokens ? 1 : 2) ? 3 : 2;
}
// Registers of a worker's thread. Threads of the warpgroup that brings weights and noise have 24 registers. A
// multiprocessor has 64 K registers.
EGG_FN constexpr uint32_t worker_registers(uint32_t workers) { return workers == 4 ? 112 : workers == 3 ? 160 : 240; }

// Warpgroups take blocks of 64 channels alternately.
EGG_FN uint32_t blocks_of_group(uint32_t blocks, uint32_t group, uint32_t warpgroups) {
  return (blocks + warpgroups - 1 - group) / warpgroups;
}

// An MLP's sums of the other warpgroup's channels, which a warpgroup leaves in stages of its ring. A unit is four sums,
// 16 bytes, for each thread.
EGG_FN uint32_t exchanged_units(uint32_t blocks, uint32_t group) { return 8 * blocks_of_group(blocks, 1 - group, 2); }
EGG_FN uint32_t exchanged_stages(uint32_t blocks, uint32_t group) {
  return divide_up(exchanged_units(blocks, group), 2 * blocks);
}

// A block of threads: its tiles, the warpgroups that share each tile, and the lengths of its rings.
struct FusedShape {
  uint32_t tiles;
  uint32_t warpgroups;
  uint32_t stages;
  uint32_t noise_stages;
  uint32_t ranks;  // draws of a side; if several, warpgroups is 1
  Rows rows;
  uint32_t span;        // tokens of a member in a tile: 1, kSpan, or a power of two up to kMostWindow
  uint32_t noise_slot;  // bytes of a stage of the ring of noise: of kSpan, what the longest op takes
  uint32_t steps;       // the most in which a tile of tokens takes a window
  uint32_t caches;      // bytes of a tile's keys and values, or of its logits if these take more
};

// A seat works on one tile of members at a time, and a block has shape.tiles seats. This is the work of one seat in a
// launch. If there are more tiles than seats, all tokens of tile 0, then those of tile 1 and so on make one list, which
// is cut into equal shares, one for each seat. A cut may go through a tile. Then one seat does the tile's first part
// before all else, and the next seat does its last part after all else. As no share is shorter than a tile, a seat that
// comes to its last part has done as many tokens as that tile's first part has, or more. So seats never
// wait for each other for ever: the seats of a block read the same weights, so none gets far ahead of another.
struct FusedSeat {
  uint32_t tokens;       // all that the seat does
  uint32_t first_part;   // the first tokens of tile first_tile + whole_tiles
  uint32_t first_tile;   // of the whole tiles, which follow the first part
  uint32_t whole_tiles;  // their number
  uint32_t last_part;    // the last tokens of tile first_tile - 1
};
// Tokens of a tile: [begin, end). None: begin is end.
struct Stretch {
  uint32_t tile;
  uint32_t begin;
  uint32_t end;
};

// The most tokens that a seat does.
EGG_FN uint32_t seat_tokens(uint32_t tiles, uint32_t tokens, uint32_t seats) {
  return tiles < seats ? tokens : static_cast<uint32_t>((uint64_t{tiles} * tokens + seats - 1) / seats);
}
EGG_FN FusedSeat seat_at(uint32_t seat, uint32_t seats, uint32_t tiles, uint32_t tokens) {
  if (tiles < seats) return {seat < tiles ? tokens : 0, 0, seat, seat < tiles ? 1u : 0u, 0};
  const uint64_t all = uint64_t{tiles} * tokens;
  const uint64_t begin = seat * all / seats;
  const uint64_t end = (seat + 1) * all / seats;
  const auto before = static_cast<uint32_t>(begin % tokens);
  const uint32_t first = static_cast<uint32_t>(begin / tokens) + (before > 0 ? 1 : 0);
  const auto last = static_cast<uint32_t>(end / tokens);
  return {static_cast<uint32_t>(end - begin), static_cast<uint32_t>(end % tokens), first, last - first,
          before > 0 ? tokens - before : 0};
}
// Stretch number i of a seat's work.
EGG_FN Stretch stretch_of(const FusedSeat& seat, uint32_t i, uint32_t tokens) {
  if (seat.first_part > 0 && i == 0) return {seat.first_tile + seat.whole_tiles, 0, seat.first_part};
  if (seat.first_part > 0) --i;
  if (i < seat.whole_tiles) return {seat.first_tile + i, 0, tokens};
  return {seat.first_tile - 1, tokens - seat.last_part, i == seat.whole_tiles ? tokens : tokens - seat.last_part};
}
// The tile of a seat's token number i, or kNoTile after its last token.
constexpr uint32_t kNoTile = UINT32_MAX;
EGG_FN uint32_t tile_of_token(const FusedSeat& seat, uint32_t i, uint32_t tokens) {
  if (i >= seat.tokens) return kNoTile;
  if (i < seat.first_part) return seat.first_tile + seat.whole_tiles;
  const uint32_t tile = (i - seat.first_part) / tokens;
  return tile < seat.whole_tiles ? seat.first_tile + tile : seat.first_tile - 1;
}

// Members in a tile, and pairs in a tile.
EGG_FN uint32_t tile_members(const FusedShape& shape) { return kTileRows / shape.span; }
EGG_FN uint32_t tile_pairs(const FusedShape& shape) { return kTilePairs / shape.span; }
// Parts of a tile's caches: one for each of its two members, or one for each warp's short windows.
EGG_FN constexpr uint32_t cache_parts(Rows rows) { return rows == Rows::kSpan ? 2 : 4; }

// Keys and values of an attention lie by part and block of channels; the values of 32 positions by channel. Both have
// room for whole spans.
EGG_FN uint32_t cache_block_bytes(uint32_t context) { return padded(context, kSpan) * kBlock; }

// Shared memory in bytes from its start: the rings of weights, one for each warpgroup of a tile, then those of noise,
// one for each warpgroup.
struct FusedShared {
  uint32_t noise;
  uint32_t values;       // of a tile: x, a scratch value of the same size, and the state's
  uint32_t tile_values;  // bytes
  uint32_t state;        // in a tile's values; or keys and values, and at last the logits
  uint32_t tables;       // 2^-x for the loss, reciprocals, weights of attention
  uint32_t look_up;      // a lut, see kLookUpCopies
  uint32_t losses;       // of each row
  uint32_t words;        // what warpgroups that share a tile exchange, or q of several ranks
  uint32_t tile_words;   // bytes of the latter
  uint32_t barriers;     // of the rings of weights, then of noise: filled, free; then one more
  uint32_t seats;        // of each tile at work
  uint32_t bytes;
};
// x and the scratch value together have room for the logits that are kept. If rows are tokens, each step has an x, and
// there is no scratch value.
EGG_FN FusedShared fused_shared(uint32_t blocks, uint32_t logit_blocks, const FusedShape& shape) {
  const bool tokens = has_tokens(shape.rows);
  const uint32_t tiles = shape.tiles;
  const uint32_t stages = shape.warpgroups * shape.stages;
  const uint32_t noise_stages = tiles * shape.warpgroups * shape.noise_stages;
  const uint32_t kept = logit_blocks > 2 * blocks ? logit_blocks : 2 * blocks;
  const uint32_t front = tokens ? shape.steps * blocks : kept;
  FusedShared s{};
  s.noise = stages * fused_stage_bytes(blocks);
  s.values = s.noise + padded(noise_stages * shape.noise_slot, 128);
  s.state = front * kValueBlock;
  s.tile_values = s.state + (tokens ? shape.caches : blocks * kValueBlock);
  s.tables = s.values + tiles * s.tile_values;
  s.look_up = s.tables + (256 + 128 + (tokens ? 256 : 0)) * 4;
  s.losses = s.look_up + (tokens ? kLookUpBytes : 0);
  s.words = s.losses + tiles * kTileRows * 8;
  s.tile_words = shape.ranks > 1 ? (divide_up(shape.ranks, 2) * kMoreSums + shape.ranks - 1) * kTileRows * 4 : 0;
  s.barriers =
      s.words + (shape.warpgroups > 1 ? shape.warpgroups * kSharedWords * kTileRows * 4 : tiles * s.tile_words);
  s.seats = s.barriers + 16 * (stages + noise_stages + 1);
  s.bytes = s.seats + (tokens ? 0 : tiles * static_cast<uint32_t>(sizeof(FusedSeat)));
  return s;
}

// The compilers of host and device lay these out alike.
static_assert(sizeof(Rescale) == 8);
static_assert(sizeof(FusedOp) == 56);
static_assert(sizeof(FusedNeed) == 8);
static_assert(sizeof(FusedTable) == 32);
static_assert(sizeof(NoisePlaces) == 4);
static_assert(sizeof(FusedFeed) == 20);
static_assert(sizeof(FusedShape) == 40);
static_assert(kMostBlockWarps == kMostFusedTiles * 4);
static_assert(sizeof(FusedSeat) == 20);
static_assert(sizeof(FusedShared) == 48);

}  // namespace eggroll::cuda

#endif
