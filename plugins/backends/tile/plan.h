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

struct PlanParam : LoweredParam {
  uint32_t row_quads = 0;  // of four rows
  uint32_t col_quads = 0;  // of four columns, a multiple of depth; 0 for a vector
};

struct PlanState : LoweredState {
  uint32_t quads;
  size_t quads_before;  // in the state of one tile
};

// What an attention keeps of a call, in quads from the start of a tile's cache: keys are (context, quads), values are
// (context / 4 rounded up, four times the quads).
struct PlanCache {
  size_t keys = 0;
  size_t values = 0;
};

// Temporary values share memory where their lifetimes allow it.
struct Plan : LoweredProgram {
  Plan(const egg_session_spec& spec, uint32_t depth);

  std::vector<PlanParam> forms;   // by parameter
  std::vector<uint32_t> quads;    // of each value
  std::vector<uint32_t> room;     // what a value takes: four times its quads where it is wide
  std::vector<size_t> place;      // of each temporary value, in quads from the start of the frame
  std::vector<PlanCache> caches;  // by the value that the attention makes
  std::vector<PlanState> tile_states;
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
