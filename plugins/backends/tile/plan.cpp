#include "plan.h"

#include <algorithm>

namespace eggroll::tile {
namespace {

uint32_t groups_of(uint32_t size, uint32_t depth) {
  const uint32_t groups = (size + 3) / 4;
  return (groups + depth - 1) / depth * depth;
}

// Gives each temporary value a place.
void place_values(Plan& plan) {
  FirstFit<> frame;
  plan.place.resize(plan.program->value_count);
  for (uint32_t v = 0; v < plan.program->value_count; ++v) {
    if (plan.program->values[v].is_state == 0) plan.place[v] = frame.take({plan.room[v], plan.stays[v]});
  }
  plan.frame_groups = frame.size();
}

}  // namespace

Plan::Plan(const egg_session_spec& spec, uint32_t depth)
    : LoweredProgram(spec), context(static_cast<size_t>(spec.program->context)) {
  for (const LoweredParam& p : params) {
    forms.push_back({{p}, groups_of(p.rows, p.vector ? depth : 1), p.vector ? 0 : groups_of(p.cols, depth)});
  }
  for (uint32_t i = 0; i < program->value_count; ++i) {
    const egg_value& value = program->values[i];
    groups.push_back(groups_of(static_cast<uint32_t>(value.size), depth));
    room.push_back(groups.back() * (value.is_wide != 0 ? 4 : 1));
    widest = std::max(widest, groups.back());
  }
  for (const LoweredState& state : states) {
    tile_states.push_back({{state}, groups[state.value], state_groups});
    state_groups += groups[state.value];
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
    caches[out].keys = cache_groups;
    caches[out].values = cache_groups + context * groups[out];
    cache_groups = caches[out].values + (context + 3) / 4 * 4 * groups[out];
  }
  place_values(*this);
}

}  // namespace eggroll::tile
