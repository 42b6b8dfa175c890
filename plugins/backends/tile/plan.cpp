#include "plan.h"

#include <algorithm>

namespace eggroll::tile {
namespace {

uint32_t quads_of(uint32_t size, uint32_t depth) {
  const uint32_t quads = (size + 3) / 4;
  return (quads + depth - 1) / depth * depth;
}

// Gives each temporary value a place.
void place_values(Plan& plan) {
  FirstFit<> frame;
  plan.place.resize(plan.program->value_count);
  for (uint32_t v = 0; v < plan.program->value_count; ++v) {
    if (plan.program->values[v].is_state == 0) plan.place[v] = frame.take({plan.room[v], plan.stays[v]});
  }
  plan.frame_quads = frame.size();
}

}  // namespace

Plan::Plan(const egg_session_spec& spec, uint32_t depth)
    : LoweredProgram(spec), context(static_cast<size_t>(spec.program->context)) {
  for (const LoweredParam& p : params) {
    forms.push_back({{p}, quads_of(p.rows, p.vector ? depth : 1), p.vector ? 0 : quads_of(p.cols, depth)});
  }
  for (uint32_t i = 0; i < program->value_count; ++i) {
    const egg_value& value = program->values[i];
    quads.push_back(quads_of(static_cast<uint32_t>(value.size), depth));
    room.push_back(quads.back() * (value.is_wide != 0 ? 4 : 1));
    widest = std::max(widest, quads.back());
  }
  for (const LoweredState& state : states) {
    tile_states.push_back({{state}, quads[state.value], state_quads});
    state_quads += quads[state.value];
  }
  caches.resize(program->value_count);
  byte_tables.resize(program->table_count);
  for (uint32_t i = 0; i < program->op_count; ++i) {
    if (signature_of(program->ops[i]).table == OpTable::kBytes) {
      const auto table = static_cast<size_t>(program->ops[i].table);
      std::transform(program->tables[table].entries, program->tables[table].entries + 256, byte_tables[table].begin(),
                     [](int32_t entry) { return static_cast<uint8_t>(entry); });
    }
    if (program->ops[i].code != EGG_OP_ATTENTION) continue;
    const auto out = static_cast<size_t>(program->ops[i].out);
    caches[out].keys = cache_quads;
    caches[out].values = cache_quads + context * quads[out];
    cache_quads = caches[out].values + (context + 3) / 4 * 4 * quads[out];
  }
  place_values(*this);
}

}  // namespace eggroll::tile
