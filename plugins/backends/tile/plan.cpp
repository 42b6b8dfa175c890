#include "plan.h"

#include <algorithm>

#include "eggroll/sites.h"

namespace eggroll::tile {
namespace {

uint32_t quads_of(uint32_t size, uint32_t depth) {
  const uint32_t quads = (size + 3) / 4;
  return (quads + depth - 1) / depth * depth;
}

const egg_op* op_of(const Plan& plan, size_t step) {
  const int32_t op = plan.steps[step].op;
  return op < 0 ? nullptr : &plan.program->ops[op];
}

// The steps from the first that reads or stores the state to the last.
Stay stay_of_state(const Plan& plan, const PlanState& state) {
  Stay stay = plan.stays[state.value];
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const egg_op* op = op_of(plan, i);
    if (op != nullptr && op->out == static_cast<int32_t>(state.value)) stay.include(static_cast<int32_t>(i));
  }
  return stay;
}

size_t weight_bytes(const Plan& plan, size_t step) {
  const egg_op* op = op_of(plan, step);
  if (op == nullptr || signature_of(*op).access != OpAccess::kProduct) return 0;
  return plan.forms[static_cast<size_t>(op->param[0])].padded_bytes();
}

PlanPart& part_of(Plan& plan, int32_t step) {
  return *std::find_if(plan.parts.begin(), plan.parts.end(),
                       [&](const PlanPart& part) { return step < static_cast<int32_t>(part.end); });
}

// Cuts before a step whose weights would make the part too large, at the last place where no state is in use.
void cut_parts(Plan& plan, bool is_whole) {
  std::vector<Stay> stays;
  for (const PlanState& state : plan.tile_states) stays.push_back(stay_of_state(plan, state));
  size_t begin = 0;
  size_t cut = 0;           // the last place where the part may end
  size_t bytes = 0;         // of the part
  size_t bytes_at_cut = 0;  // of these, before the cut
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const bool in_use = std::any_of(stays.begin(), stays.end(), [&](const Stay& stay) {
      return stay.begin < static_cast<int32_t>(i) && static_cast<int32_t>(i) <= stay.end;
    });
    if (!in_use) {
      cut = i;
      bytes_at_cut = bytes;
    }
    const size_t weights = weight_bytes(plan, i);
    bytes += weights;
    if (is_whole || bytes <= kPartBytes || bytes_at_cut == 0 || weights == 0) continue;
    plan.parts.push_back({begin, cut, {}});
    begin = cut;
    bytes -= bytes_at_cut;
    bytes_at_cut = 0;
  }
  plan.parts.push_back({begin, plan.steps.size(), {}});
  for (size_t i = 0; i < stays.size(); ++i) part_of(plan, stays[i].begin).states.push_back(plan.tile_states[i]);
  plan.together = plan.parts.size() > 1 ? kTokensTogether : 1;
}

// Gives each temporary value a place. One that a later part reads needs a place for each token, from the first step of
// the part that makes it to the last step of the part that reads it last.
void place_values(Plan& plan) {
  FirstFit<> frame;
  plan.place.resize(plan.program->value_count);
  for (uint32_t v = 0; v < plan.program->value_count; ++v) {
    if (plan.program->values[v].is_state != 0) continue;
    const Stay stay = plan.stays[v];
    const PlanPart& makes = part_of(plan, stay.begin);
    const PlanPart& reads = part_of(plan, stay.end);
    if (&makes == &reads) {
      plan.place[v] = frame.take({plan.room[v], stay});
      continue;
    }
    plan.kept.push_back(v);
    plan.place[v] = frame.take(
        {plan.room[v] * plan.together, {static_cast<int32_t>(makes.begin), static_cast<int32_t>(reads.end) - 1}});
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
  // Draws within the program read what any op has made of their token.
  cut_parts(*this, std::any_of(spec.sites, spec.sites + spec.site_count,
                               [&](const egg_site& site) { return !is_at_loss(*program, site.value); }));
  place_values(*this);
}

}  // namespace eggroll::tile
