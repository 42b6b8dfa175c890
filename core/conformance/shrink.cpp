// Cuts a failing random case down: one piece at a time, as long as it still fails.
#include <algorithm>

#include "conformance/random_program.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

constexpr size_t kMostTries = 2000;
constexpr uint64_t kVariants = 4;  // of the random numbers, for each try

// Which numbers of a list are kept, and the new place of each (-1: dropped).
std::vector<int32_t> renumber(const std::vector<bool>& kept) {
  std::vector<int32_t> to(kept.size(), -1);
  int32_t next = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) to[i] = next++;
  }
  return to;
}

template <class List>
void keep_only(List& list, const std::vector<bool>& kept) {
  size_t next = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (kept[i]) list[next++] = list[i];
  }
  list.resize(next);
}

void move_to(int32_t& id, const std::vector<int32_t>& to) {
  if (id >= 0) id = to[static_cast<size_t>(id)];
}

// ---- Programs ----

// Drops ops whose value nothing reads, then the values, parameters and sizes that no remaining op uses.
void drop_unread(RandomProgram& program) {
  for (bool dropped = true; dropped;) {
    std::vector<bool> read(program.values.size());
    for (const egg_op& op : program.ops) {
      for (const int32_t id : op.in) {
        if (id >= 0) read[static_cast<size_t>(id)] = true;
      }
    }
    const size_t before = program.ops.size();
    std::erase_if(program.ops, [&](const egg_op& op) {
      return op.code != EGG_OP_STORE && op.out >= 0 && !read[static_cast<size_t>(op.out)];
    });
    dropped = program.ops.size() < before;
  }
  std::vector<bool> values(program.values.size());
  std::vector<bool> params(program.params.size());
  for (const egg_op& op : program.ops) {
    if (op.out >= 0) values[static_cast<size_t>(op.out)] = true;
    for (const int32_t id : op.param) {
      if (id >= 0) params[static_cast<size_t>(id)] = true;
    }
  }
  std::vector<bool> indices(program.indices.size());
  for (const egg_op& op : program.ops) {
    if (op.code == EGG_OP_EMBED && op.attr > 0) indices[static_cast<size_t>(op.attr - 1)] = true;
  }
  keep_only(program.values, values);
  keep_only(program.params, params);
  keep_only(program.indices, indices);
  const std::vector<int32_t> index_to = renumber(indices);
  for (RandomProgram::Param& p : program.params) move_to(p.index, index_to);
  const std::vector<int32_t> value_to = renumber(values);
  const std::vector<int32_t> param_to = renumber(params);
  for (egg_op& op : program.ops) {
    if (op.code == EGG_OP_EMBED && op.attr > 0) op.attr = index_to[static_cast<size_t>(op.attr - 1)] + 1;
    move_to(op.out, value_to);
    for (int32_t& id : op.in) move_to(id, value_to);
    for (int32_t& id : op.param) move_to(id, param_to);
  }
  std::vector<bool> dims(program.dims.size());
  dims[0] = true;
  for (const RandomProgram::Value& v : program.values) dims[static_cast<size_t>(v.dim)] = true;
  for (const RandomProgram::Param& p : program.params) {
    dims[static_cast<size_t>(p.rows)] = true;
    if (p.cols >= 0) dims[static_cast<size_t>(p.cols)] = true;
  }
  keep_only(program.dims, dims);
  const std::vector<int32_t> dim_to = renumber(dims);
  for (RandomProgram::Value& v : program.values) move_to(v.dim, dim_to);
  for (RandomProgram::Param& p : program.params) {
    move_to(p.rows, dim_to);
    move_to(p.cols, dim_to);
  }
}

// Makes the calls ask only for members that still exist.
void clip_members(Scenario& scenario) {
  for (Action& action : scenario.actions) {
    const bool evaluate = action.kind == ActionKind::kEvaluate;
    action.first = std::min(action.first, scenario.population - (evaluate ? 2 : 1));
    action.count = std::min(action.count, scenario.population - action.first);
  }
}

// Cases that are each one piece smaller than a case.
class Cuts {
 public:
  explicit Cuts(const RandomCase& whole) : test(whole) {}

  template <class Edit>
  void program(const Edit& edit) {
    RandomCase& smaller = cases.emplace_back(test);
    edit(smaller.program);
    drop_unread(smaller.program);
  }
  template <class Edit>
  void rule(const Edit& edit) {
    edit(cases.emplace_back(test).rule);
  }
  template <class Edit>
  void scenario(const Edit& edit) {
    RandomCase& smaller = cases.emplace_back(test);
    edit(smaller.scenario);
    clip_members(smaller.scenario);
  }

  const RandomCase& test;
  std::vector<RandomCase> cases;
};

void read_instead(RandomProgram& program, int32_t from, int32_t to) {
  for (egg_op& op : program.ops) std::replace(std::begin(op.in), std::end(op.in), from, to);
}

// Values of the same size that all readers of op i's output could read in its place.
std::vector<int32_t> stand_ins(const RandomProgram& program, size_t i) {
  std::vector<int32_t> found;
  const int32_t out = program.ops[i].out;
  for (size_t id = 0; id < program.values.size(); ++id) {
    const RandomProgram::Value& v = program.values[id];
    if (static_cast<int32_t>(id) == out || v.dim != program.values[static_cast<size_t>(out)].dim) continue;
    const bool made_before = std::any_of(program.ops.begin(), program.ops.begin() + static_cast<ptrdiff_t>(i),
                                         [&](const egg_op& op) { return op.out == static_cast<int32_t>(id); });
    if (v.state || (made_before && program.ops[i].code != EGG_OP_STORE)) found.push_back(static_cast<int32_t>(id));
  }
  return found;
}

void fewer_ops(Cuts& cuts) {
  const RandomProgram& program = cuts.test.program;
  for (size_t i = 0; i + 1 < program.ops.size(); ++i) {
    const egg_op& op = program.ops[i];
    for (const int32_t other : stand_ins(program, i)) {
      cuts.program([&](RandomProgram& p) {
        if (op.code == EGG_OP_STORE) p.ops.erase(p.ops.begin() + static_cast<ptrdiff_t>(i));
        read_instead(p, op.out, other);
      });
    }
    cuts.program([&](RandomProgram& p) {
      if (op.code == EGG_OP_STORE) {
        p.ops.erase(p.ops.begin() + static_cast<ptrdiff_t>(i));  // not valid where the state is read
      } else {
        p.ops[i] = egg_op{EGG_OP_STORE, op.out, {op.out, -1, -1}, {-1, -1}, 0, -1, 0, 0};
        p.values[static_cast<size_t>(op.out)].state = true;
        p.values[static_cast<size_t>(op.out)].wide = false;
      }
    });
    if (op.code == EGG_OP_STORE && op.in[0] != op.out) {
      cuts.program([&](RandomProgram& p) { p.ops[i].in[0] = op.out; });
    }
    if (op.param[1] >= 0) cuts.program([&](RandomProgram& p) { p.ops[i].param[1] = -1; });
    if (op.head > 1) cuts.program([&](RandomProgram& p) { p.ops[i].head = 1; });
    if (op.out >= 0 && program.values[static_cast<size_t>(op.out)].wide) {
      cuts.program([&](RandomProgram& p) { p.values[static_cast<size_t>(op.out)].wide = false; });
    }
    if (op.code == EGG_OP_EMBED && op.in[0] >= 0) {
      cuts.program([&](RandomProgram& p) { p.ops[i].in[0] = -1; });
    }
    if (op.code == EGG_OP_ADD && op.in[1] >= 0) {
      cuts.program([&](RandomProgram& p) { p.ops[i].in[1] = -1; });
    }
  }
}

void smaller_sizes(Cuts& cuts) {
  for (size_t i = 0; i < cuts.test.program.dims.size(); ++i) {
    const int32_t size = cuts.test.program.dims[i];
    const int32_t least = i == 0 ? 2 : 1;
    for (const int32_t smaller : {least, size / 2, size - 1}) {
      if (smaller >= least && smaller < size) {
        cuts.program([&](RandomProgram& p) { p.dims[i] = smaller; });
      }
    }
  }
  for (const int32_t context : {1, cuts.test.program.context / 2, cuts.test.program.context - 1}) {
    if (context < 1 || context >= cuts.test.program.context) continue;
    cuts.program([&](RandomProgram& p) { p.context = context; });
  }
  for (size_t i = 0; i < cuts.test.program.indices.size(); ++i) {
    if (cuts.test.program.indices[i].log2_rows > 0) {
      cuts.program([&](RandomProgram& p) { --p.indices[i].log2_rows; });
    }
  }
  for (size_t i = 0; i < cuts.test.program.params.size(); ++i) {
    if (cuts.test.program.params[i].frozen) cuts.program([&](RandomProgram& p) { p.params[i].frozen = false; });
  }
}

// ---- Rules ----

std::vector<bool> read_nodes(const RandomRule& rule) {
  std::vector<bool> read(rule.nodes.size());
  read[static_cast<size_t>(rule.delta)] = true;
  for (const RandomRule::Slot& slot : rule.slots) read[static_cast<size_t>(slot.node)] = true;
  for (const egg_rule_node& node : rule.nodes) {
    for (const int32_t id : node.in) {
      if (id >= 0) read[static_cast<size_t>(id)] = true;
    }
  }
  return read;
}

template <class Visit>
void each_node_number(RandomRule& rule, Visit&& visit) {
  for (egg_rule_node& node : rule.nodes) {
    for (int32_t& id : node.in) visit(id);
  }
  visit(rule.delta);
  for (RandomRule::Slot& slot : rule.slots) visit(slot.node);
}

void drop_node(RandomRule& rule, size_t dropped) {
  std::vector<bool> kept(rule.nodes.size(), true);
  kept[dropped] = false;
  keep_only(rule.nodes, kept);
  const std::vector<int32_t> to = renumber(kept);
  each_node_number(rule, [&](int32_t& id) { move_to(id, to); });
}

void drop_slot(RandomRule& rule, size_t dropped, const egg_rule_node& instead) {
  const auto number = static_cast<int32_t>(dropped);
  for (egg_rule_node& node : rule.nodes) {
    if (node.code != EGG_RULE_SLOT) continue;
    if (node.index == number) {
      node = instead;
    } else if (node.index > number) {
      --node.index;
    }
  }
  rule.slots.erase(rule.slots.begin() + static_cast<ptrdiff_t>(dropped));
}

// Drops each node that nothing reads. Replaces every other node by one of its operands or by a constant.
void fewer_nodes(Cuts& cuts) {
  const auto constant = [](char type) {
    return egg_rule_node{type == 'i' ? EGG_RULE_CONST_I32 : EGG_RULE_CONST_F32, {-1, -1, -1}, 0, 1, 1.0F};
  };
  const std::vector<char> types = rule_types(make_rule(cuts.test.rule)->view());
  const std::vector<bool> read = read_nodes(cuts.test.rule);
  for (size_t s = 0; s < cuts.test.rule.slots.size(); ++s) {
    cuts.rule([&](RandomRule& rule) { drop_slot(rule, s, constant(rule.slots[s].type)); });
  }
  for (size_t i = cuts.test.rule.nodes.size(); i-- > 0;) {
    const egg_rule_node& node = cuts.test.rule.nodes[i];
    if (!read[i]) {
      cuts.rule([&](RandomRule& rule) { drop_node(rule, i); });
      continue;
    }
    for (const int32_t operand : node.in) {
      if (operand < 0 || types[static_cast<size_t>(operand)] != types[i]) continue;
      cuts.rule([&](RandomRule& rule) {
        each_node_number(rule, [&](int32_t& id) { id = id == static_cast<int32_t>(i) ? operand : id; });
      });
    }
    if (node.code != EGG_RULE_CONST_I32 && node.code != EGG_RULE_CONST_F32) {
      cuts.rule([&](RandomRule& rule) { rule.nodes[i] = constant(types[i]); });
    }
  }
}

// ---- Scenarios ----

// Tries three smaller numbers: `least`, half of the present one in whole units, and one unit less.
void smaller_number(Cuts& cuts, size_t action, uint32_t Action::*field, uint32_t least, uint32_t unit) {
  const uint32_t now = cuts.test.scenario.actions[action].*field;
  for (const uint32_t smaller : {least, now / 2 / unit * unit, now - std::min(now, unit)}) {
    if (smaller < least || smaller >= now) continue;
    cuts.scenario([&](Scenario& s) { s.actions[action].*field = smaller; });
  }
}

void simpler_action(Cuts& cuts, size_t i) {
  const Action& action = cuts.test.scenario.actions[i];
  const bool evaluate = action.kind == ActionKind::kEvaluate;
  const bool infer = action.kind == ActionKind::kInfer;
  if (evaluate || infer || action.kind == ActionKind::kUpdate) smaller_number(cuts, i, &Action::tokens, 1, 1);
  if (evaluate || infer) {
    smaller_number(cuts, i, &Action::streams, infer ? 1 : 0, 1);
  }
  if (!infer) {
    smaller_number(cuts, i, &Action::first, 0, evaluate ? 2 : 1);
    smaller_number(cuts, i, &Action::count, evaluate ? 2 : 1, evaluate ? 2 : 1);
  }
  if (evaluate && action.members_per_stream != action.count) {
    cuts.scenario([&](Scenario& s) { s.actions[i].members_per_stream = s.actions[i].count; });
  }
  if (action.step != 0) cuts.scenario([&](Scenario& s) { s.actions[i].step = 0; });
}

void simpler_scenario(Cuts& cuts) {
  const Scenario& scenario = cuts.test.scenario;
  for (size_t i = 0; i < scenario.actions.size(); ++i) {
    cuts.scenario([&](Scenario& s) { s.actions.erase(s.actions.begin() + static_cast<ptrdiff_t>(i)); });
  }
  for (const uint32_t population : {2U, scenario.population / 4 * 2, scenario.population - 2}) {
    if (population < 2 || population >= scenario.population) continue;
    cuts.scenario([&](Scenario& s) { s.population = population; });
  }
  for (size_t i = 0; i < scenario.actions.size(); ++i) simpler_action(cuts, i);
  for (const int32_t rank : {1, scenario.noise.rank / 2, scenario.noise.rank - 1}) {
    if (rank < 1 || rank >= scenario.noise.rank) continue;
    cuts.scenario([&](Scenario& s) { s.noise.rank = rank; });
  }
  if (scenario.noise.source == EGG_NOISE_TABLE) {
    cuts.scenario([](Scenario& s) {
      s.noise.source = EGG_NOISE_COUNTER;
      s.noise.table_log2 = 0;
    });
  }
  if (scenario.no_target != 0) cuts.scenario([](Scenario& s) { s.no_target = 0; });
  if (scenario.masked) cuts.scenario([](Scenario& s) { s.masked = false; });
  if (scenario.split != 0) cuts.scenario([](Scenario& s) { s.split = 0; });
  if (scenario.reset != 0) cuts.scenario([](Scenario& s) { s.reset = 0; });
}

bool is_valid(const RandomCase& test) {
  try {
    require_valid(test);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// A cut moves the random numbers, which may hide the failure, so each cut is tried with other numbers as well.
bool still_fails(RandomCase& smaller, const std::function<bool(const RandomCase&)>& fails) {
  for (uint64_t variant = 0; variant < kVariants; ++variant) {
    if (fails(smaller)) return true;
    ++smaller.scenario.seed;
    ++smaller.scenario.noise.seed;
  }
  return false;
}

}  // namespace

RandomCase shrink(const RandomCase& test, const std::function<bool(const RandomCase&)>& fails) {
  RandomCase best = test;
  size_t tries = 0;
  for (bool found = true; found;) {
    Cuts cuts(best);
    simpler_scenario(cuts);
    fewer_ops(cuts);
    smaller_sizes(cuts);
    fewer_nodes(cuts);
    found = false;
    for (RandomCase& smaller : cuts.cases) {
      if (!is_valid(smaller)) continue;
      if (++tries > kMostTries) return best;
      if (!still_fails(smaller, fails)) continue;
      best = std::move(smaller);
      found = true;
      break;
    }
  }
  return best;
}

}  // namespace eggroll
