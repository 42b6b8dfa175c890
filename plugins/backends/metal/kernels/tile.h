// A tile, as one thread of its threadgroup sees it.
//
// Work on channels is cut so that a simdgroup has every eighth row, and of a row a lane has every 32nd word of four
// channels. Where sums over a row are needed each four lanes have one, and of its words a lane every fourth.
#ifndef EGGROLL_METAL_TILE_H
#define EGGROLL_METAL_TILE_H

#include "draw.h"

struct Tile {
  constant ForwardArgs* args;
  device const int8_t* weights;
  device const half* halves;
  device const int32_t* tables;
  device const egg_loss_tables* loss_tables;
  device const int8_t* noise_values;  // see NoiseArgs
  device const uint32_t* inputs;
  device const uint32_t* targets;
  device const uint8_t* resets;
  device const uint32_t* index_rows;  // (streams, tokens, index_count)
  device int8_t* states;
  device int8_t* kept;           // see kBindKept
  device uint8_t* workspace;     // of the tile
  threadgroup uint8_t* scratch;  // see kStaging
  uint32_t number;               // of the tile in the chunk
  uint32_t rows;                 // those that are members
  uint32_t lane;
  uint32_t simdgroup;
  uint32_t token;

  uint32_t thread_number() const { return simdgroup * kLanes + lane; }
  // The row of this thread's four lanes. Beyond the last row it is the last: the lanes do as the others, for sums take
  // all lanes, but write nothing.
  uint32_t quad_row() const { return min(thread_number() / 4, rows - 1); }
  bool quad_has_row() const { return thread_number() / 4 < rows; }
  uint32_t quad_lane() const { return lane % 4; }
  uint32_t row_of_call(uint32_t row) const { return args->first_row + number * kTileRows + row; }
  // The row's stream, or of draws its place, counted from the call's first.
  uint32_t place(uint32_t row) const { return row_of_call(row) / args->members_per_stream; }
  bool is_of_draws() const { return args->move.places.tokens != 0; }
  // Where the place of a row of draws lies in its window; all others begin with their window.
  uint32_t first_position(uint32_t row) const {
    return is_of_draws() ? (args->move.places.first + place(row)) % args->move.places.tokens : 0;
  }
  // Draws near the window's end have fewer tokens: they stay at its last token, and their loss does not change.
  bool is_in_window(uint32_t row) const {
    return !is_of_draws() || first_position(row) + token < args->move.places.tokens;
  }
  // Where the row's token lies in its window.
  uint32_t position(uint32_t row) const {
    return is_in_window(row) ? first_position(row) + token : args->move.places.tokens - 1;
  }
  // The entry of the window's first token in the streams' lists, and that of the row's token.
  uint64_t window(uint32_t row) const {
    const uint64_t first = uint64_t(place(row)) * (is_of_draws() ? 1 : args->tokens);
    return args->first_entry + first - first_position(row);
  }
  uint64_t entry(uint32_t row) const { return window(row) + position(row); }
  int32_t sign(uint32_t row) const { return row % 2 == 0 ? 1 : -1; }

  device const int8_t* noise(uint32_t row, uint32_t at) const {
    return reinterpret_cast<device const int8_t*>(workspace) + (row / 2) * args->noise_bytes + at;
  }
  uint64_t member(uint32_t row) const { return args->first_member + number * kTileRows + row; }
  device int8_t* state(uint32_t row, uint32_t at) const { return states + member(row) * args->state_stride + at; }
  device int64_t* loss(uint32_t row) const {
    return reinterpret_cast<device int64_t*>(state(row, args->state_stride - kLossBytes));
  }
  device int8_t* row_at(Place place, uint32_t row) const {
    return reinterpret_cast<device int8_t*>(workspace + place.offset) + row * row_bytes(place);
  }
  device int8_t* narrow(Place place, uint32_t row) const {
    return reinterpret_cast<device int8_t*>(workspace + place.offset) + row * place.padded;
  }
  device int32_t* wide(Place place, uint32_t row) const {
    return reinterpret_cast<device int32_t*>(workspace + place.offset) + row * place.padded;
  }
};

// ---- Four channels of a row: word u has channels 4u to 4u + 3 ----

inline Four unpacked(uint32_t word) {
  Four four;
  for (uint32_t i = 0; i < 4; ++i) four.at[i] = static_cast<int32_t>(word << (24 - 8 * i)) >> 24;
  return four;
}
inline uint32_t packed(Four four) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; ++i) word |= (static_cast<uint32_t>(four.at[i]) & 255u) << (8 * i);
  return word;
}
inline Four load_bytes(device const int8_t* row, uint32_t u) {
  return unpacked(reinterpret_cast<device const uint32_t*>(row)[u]);
}

// Loads four channels of a row that may lie anywhere, int8 or wide as the place says.
inline Four load_from(device const int8_t* row, Place place, uint32_t u) {
  if (place.wide == 0) return load_bytes(row, u);
  Four four;
  for (uint32_t i = 0; i < 4; ++i) four.at[i] = reinterpret_cast<device const int32_t*>(row)[4 * u + i];
  return four;
}
inline Four load(thread const Tile& tile, Place place, uint32_t row, uint32_t u) {
  return load_from(tile.row_at(place, row), place, u);
}

// Clips if the value is not wide.
inline void store(thread const Tile& tile, Place place, uint32_t row, uint32_t u, Four four) {
  if (place.wide != 0) {
    for (uint32_t i = 0; i < 4; ++i) tile.wide(place, row)[4 * u + i] = four.at[i];
    return;
  }
  for (uint32_t i = 0; i < 4; ++i) four.at[i] = egg_clip8(four.at[i]);
  reinterpret_cast<device uint32_t*>(tile.narrow(place, row))[u] = packed(four);
}

// Where a vector parameter begins as the row's member sees it; there has to be one.
inline device const int8_t* vector_of(thread const Tile& tile, constant DeviceOp& op, uint32_t which, uint32_t row) {
  return tile.noise(row, static_cast<uint32_t>(op.vectors[which]) + row % 2 * op.out.padded);
}

// Adds the bias, if there is one.
inline Four with_bias(thread const Tile& tile, constant DeviceOp& op, uint32_t row, uint32_t u, Four four) {
  if (op.vectors[1] < 0) return four;
  const Four bias = load_bytes(vector_of(tile, op, 1, row), u);
  for (uint32_t i = 0; i < 4; ++i) four.at[i] += bias.at[i];
  return four;
}

inline int32_t dot_four(Four a, Four b) {
  return a.at[0] * b.at[0] + a.at[1] * b.at[1] + a.at[2] * b.at[2] + a.at[3] * b.at[3];
}

#endif
