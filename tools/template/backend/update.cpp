#include "update.h"

#include "eggroll/row_voters.h"
#include "eggroll/rule_arithmetic.h"

namespace backend {
namespace {

// Z = sum over pairs and ranks of f * A * B', exact; (rows, cols).
std::vector<int64_t> count_votes(const Model& model, uint32_t param, const egg_update& u) {
  const egg_param& p = model.program.params[param];
  const egg_voters& voters = model.lowered.params[param].voters;
  const auto rows = static_cast<size_t>(p.rows);
  const auto cols = static_cast<size_t>(p.cols);
  std::vector<int64_t> votes(rows * cols);
  for (uint32_t pair = voters.first_pair; pair < voters.first_pair + voters.pairs; ++pair) {
    const int32_t fitness = u.fitness[pair];
    const Noise noise = draw(model, u.step, pair, param);
    if (p.kind == EGG_PARAM_VECTOR) {
      for (size_t i = 0; i < rows; ++i) votes[i] += fitness * noise.a[i] * noise.b[i];
      continue;
    }
    for (size_t r = 0; r < static_cast<size_t>(model.lowered.noise.rank); ++r) {
      for (size_t i = 0; i < rows; ++i) {
        const int32_t fa = fitness * noise.a[r * rows + i];
        for (size_t j = 0; j < cols; ++j) votes[i * cols + j] += fa * noise.b[r * cols + j];
      }
    }
  }
  return votes;
}

// The same of one row of a masked table, over its voters: those from `first` up to `last`.
std::vector<int64_t> count_row_votes(const Model& model, uint32_t param, const egg_update& u, uint32_t row,
                                     const eggroll::RowVoters::Pairs* first, const eggroll::RowVoters::Pairs* last) {
  std::vector<int8_t> b(static_cast<size_t>(model.program.params[param].cols));
  std::vector<int64_t> votes(b.size());
  for (; first != last; ++first) {
    for (uint32_t pair = first->begin; pair < first->end; ++pair) {
      for (uint32_t r = 0; r < model.lowered.params[param].ranks; ++r) {
        const int32_t fa = u.fitness[pair] * model.source.value(u.step, pair, param, EGG_SIDE_A, r, row);
        model.source.fill(u.step, pair, param, EGG_SIDE_B, r, b.data(), static_cast<uint32_t>(b.size()));
        for (size_t j = 0; j < b.size(); ++j) votes[j] += fa * b[j];
      }
    }
  }
  return votes;
}

// What nodes read of a weight.
struct RuleInputs {
  int64_t vote;
  float vote_std;
  int32_t weight;
  const float* scalars;
  Slots& slots;  // read and replaced
  size_t at;     // of the weight in its parameter
};

// What a node without operands reads.
struct NodeInputs {
  const egg_rule_node& node;
  const RuleInputs& in;

  uint32_t vote_i32() const { return static_cast<uint32_t>(in.vote); }
  uint32_t vote_f32() const { return egg_bits_of(static_cast<float>(in.vote)); }
  uint32_t vote_std() const { return egg_bits_of(in.vote_std); }
  uint32_t weight() const { return static_cast<uint32_t>(in.weight); }
  uint32_t slot() const { return in.slots[static_cast<size_t>(node.index)][in.at]; }
  uint32_t scalar() const { return egg_bits_of(in.scalars[node.index]); }
  uint32_t const_i32() const { return static_cast<uint32_t>(node.integer); }
  uint32_t const_f32() const { return egg_bits_of(node.real); }
};

// One weight's rule. A node's value is kept as its four bytes; its op says whether they are an int32 or a float32.
class RuleRun {
 public:
  explicit RuleRun(const egg_rule& rule) : rule_(rule), nodes_(rule.node_count) {}

  // Returns the weight's change.
  int32_t run(const RuleInputs& in) {
    for (uint32_t n = 0; n < rule_.node_count; ++n) {
      const egg_rule_node& node = rule_.nodes[n];
      const auto operand = [&](int k) { return node.in[k] < 0 ? 0 : nodes_[static_cast<size_t>(node.in[k])]; };
      nodes_[n] = egg_rule_value<egg_float32>(node.code, NodeInputs{node, in}, operand(0), operand(1), operand(2));
    }
    // Every node has read the old slots by now.
    for (uint32_t s = 0; s < rule_.slot_count; ++s) {
      in.slots[s][in.at] = nodes_[static_cast<size_t>(rule_.slots[s].node)];
    }
    return static_cast<int32_t>(nodes_[static_cast<size_t>(rule_.delta)]);
  }

 private:
  const egg_rule& rule_;
  std::vector<uint32_t> nodes_;
};

// Applies the rule to the weights from `first` on, one a vote; returns how many moved.
int64_t move_weights(RuleRun& rule, Weights& weights, size_t first, const std::vector<int64_t>& votes, float vote_std,
                     const float* scalars, Slots& slots) {
  int64_t changed = 0;
  for (size_t i = 0; i < votes.size(); ++i) {
    int8_t& weight = weights[first + i];
    const int32_t delta = rule.run({votes[i], vote_std, weight, scalars, slots, first + i});
    const auto moved = static_cast<int8_t>(egg_moved(weight, delta));
    changed += moved != weight ? 1 : 0;
    weight = moved;
  }
  return changed;
}

}  // namespace

int64_t update_param(Model& model, const egg_rule& rule, uint32_t param, const egg_update& u, Slots& slots) {
  RuleRun one(rule);
  Weights& weights = model.weights[param];
  if (!model.lowered.params[param].masked) {
    return move_weights(one, weights, 0, count_votes(model, param, u), u.vote_stds[param], u.scalars, slots);
  }
  // Rows that nobody reads stay as they are.
  eggroll::RowVoters found;
  found.find(model.spec, param, u);
  int64_t changed = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const eggroll::RowVoters::Row& row = found.rows()[i];
    const eggroll::RowVoters::Pairs* voters = found.voters().data();
    const std::vector<int64_t> votes =
        count_row_votes(model, param, u, row.row, voters + row.first_voters, voters + found.rows()[i + 1].first_voters);
    changed += move_weights(one, weights, row.row * votes.size(), votes, row.vote_std, u.scalars, slots);
  }
  return changed;
}

}  // namespace backend
