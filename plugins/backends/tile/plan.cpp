#include "plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace eggroll::tile {
namespace {

uint32_t groups_of(int32_t size, uint32_t depth) {
  const uint32_t groups = (static_cast<uint32_t>(size) + 3) / 4;
  return (groups + depth - 1) / depth * depth;
}

// Gives each temporary value a place; one whose last reader has run gives its place to the next of the same size.
void place_values(Plan& plan) {
  const egg_program& program = *plan.program;
  std::vector<uint32_t> last_use(program.value_count);
  for (uint32_t i = 0; i < program.op_count; ++i) {
    for (const int32_t in : program.ops[i].in) {
      if (in >= 0) last_use[static_cast<size_t>(in)] = i;
    }
  }
  // The caller may ask for the logits when the token is done.
  last_use[static_cast<size_t>(program.ops[program.op_count - 1].in[0])] = program.op_count;
  std::multimap<uint32_t, size_t> free;
  plan.place.resize(program.value_count);
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    if (op.out >= 0 && program.values[op.out].is_state == 0) {
      const auto out = static_cast<size_t>(op.out);
      const uint32_t size = plan.room[out];
      if (const auto found = free.find(size); found != free.end()) {
        plan.place[out] = found->second;
        free.erase(found);
      } else {
        plan.place[out] = plan.frame_groups;
        plan.frame_groups += size;
      }
      last_use[out] = std::max(last_use[out], i);
    }
    std::set<int32_t> touched{op.out, op.in[0], op.in[1], op.in[2]};
    touched.erase(-1);
    for (const int32_t value : touched) {
      const auto v = static_cast<size_t>(value);
      if (last_use[v] == i && program.values[v].is_state == 0) free.emplace(plan.room[v], plan.place[v]);
    }
  }
}

}  // namespace

Plan::Plan(const egg_session_spec& spec, uint32_t depth)
    : program(spec.program), noise(spec.noise), context(static_cast<size_t>(spec.program->context)) {
  for (uint32_t i = 0; i < program->param_count; ++i) {
    const egg_param& p = program->params[i];
    PlanParam param;
    param.vector = p.kind == EGG_PARAM_VECTOR;
    param.perturbed = p.perturbed != 0;
    param.rows = static_cast<uint32_t>(p.rows);
    param.cols = static_cast<uint32_t>(p.cols);
    param.row_groups = groups_of(p.rows, param.vector ? depth : 1);
    param.col_groups = param.vector ? 0 : groups_of(p.cols, depth);
    param.ranks = !param.perturbed ? 0 : param.vector ? 1 : static_cast<uint32_t>(noise.rank);
    param.voters = voters_of(spec, i);
    params.push_back(param);
  }
  for (uint32_t i = 0; i < program->op_count; ++i) {
    const egg_op& op = program->ops[i];
    if (op.code == EGG_OP_EMBED) params[static_cast<size_t>(op.param[0])].by_embed = true;
    if (op.code == EGG_OP_LINEAR) params[static_cast<size_t>(op.param[0])].by_linear = true;
  }
  for (uint32_t i = 0; i < program->value_count; ++i) {
    const egg_value& value = program->values[i];
    groups.push_back(groups_of(value.size, depth));
    room.push_back(groups.back() * (value.is_wide != 0 ? 4 : 1));
    widest = std::max(widest, groups.back());
    if (value.is_state == 0) continue;
    states.push_back({i, static_cast<uint32_t>(value.size), groups.back(), state_bytes, state_groups});
    state_bytes += static_cast<size_t>(value.size);
    state_groups += groups.back();
  }
  caches.resize(program->value_count);
  byte_tables.resize(program->table_count);
  for (uint32_t i = 0; i < program->op_count; ++i) {
    if (program->ops[i].code == EGG_OP_LUT) {
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
