// What the engine works out once from a program: where each value lives and which forms of each parameter it needs.
// Channels come in quads: four channels are one 32-bit lane. Sizes here are in quads, rounded up to `depth`.
#ifndef EGGROLL_TILE_PLAN_H
#define EGGROLL_TILE_PLAN_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/lowered_program.h"

namespace eggroll::tile {

inline constexpr size_t kMostRanks = 64;  // of a matrix's perturbation
// The bytes of weights in a part, if steps can be cut: a quarter of the L2 cache of Intel's servers since 2023, half of
// the L2 cache of AMD's. The rest of the cache is for the values that parts keep, which are not counted.
inline constexpr size_t kPartBytes = size_t{512} << 10;
inline constexpr size_t kTokensTogether = 8;  // tokens that a tile takes through a part before the next part

struct PlanParam : LoweredParam {
  uint32_t row_quads = 0;  // of four rows
  uint32_t col_quads = 0;  // of four columns, a multiple of depth; 0 for a vector

  size_t padded_bytes() const { return size_t{row_quads} * 4 * col_quads * 4; }
};

struct PlanState : LoweredState {
  uint32_t quads;
  size_t quads_before;  // in the state of one tile
};

// Where an attention keeps a call's keys and values, in quads from the start of a tile's cache. Keys have the shape
// (context, quads), values (context / 4 rounded up, four times the quads).
struct PlanCache {
  size_t keys = 0;
  size_t values = 0;
};

// Steps that a tile takes for a few tokens before it goes on to the next part. So if not all weights fit in the L2
// cache, they come to it once for those tokens. A part must both read and store a state, or do neither.
struct PlanPart {
  size_t begin;  // of its steps
  size_t end;
  std::vector<PlanState> states;
};

// Temporary values share memory if their lifetimes allow it.
struct Plan : LoweredProgram {
  Plan(const egg_session_spec& spec, uint32_t depth);

  std::vector<PlanParam> forms;   // by parameter
  std::vector<uint32_t> quads;    // of each value
  std::vector<uint32_t> room;     // quads of memory for a value: four times as many if it is wide
  std::vector<size_t> place;      // of each temporary value, in quads from the start of the frame
  std::vector<PlanCache> caches;  // by the value that the attention makes
  std::vector<PlanState> tile_states;
  std::vector<PlanPart> parts;
  size_t together = 1;         // tokens that a tile takes through a part: 1 if there is one part
  std::vector<uint32_t> kept;  // values that a later part reads: a place for each of those tokens
  std::vector<std::array<uint8_t, 256>> byte_tables;  // by table: those of 256 bytes
  size_t frame_quads = 0;                             // that the temporary values take
  size_t cache_quads = 0;
  size_t state_quads = 0;
  uint32_t widest = 0;  // quads of the largest value
  size_t context = 0;   // positions of a call that attention or rope may see

  bool is_wide(int32_t value) const { return value >= 0 && program->values[value].is_wide != 0; }
};

}  // namespace eggroll::tile

#endif
