#include "update.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "eggroll/row_voters.h"

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
  const egg_voters& voters = model.lowered.params[param].voters;
  const uint32_t lead = model.lowered.params[param].lead;
  std::vector<int8_t> b(static_cast<size_t>(model.program.params[param].cols));
  std::vector<int64_t> votes(b.size());
  for (; first != last; ++first) {
    for (uint32_t pair = first->begin; pair < first->end; ++pair) {
      for (uint32_t r = 0; r < model.lowered.params[param].ranks; ++r) {
        const int32_t a = voters.joint != 0 ? EGG_JOINT_A : model.source.value(u.step, pair, param, EGG_SIDE_A, r, row);
        const int32_t fa = u.fitness[pair] * a;
        model.source.fill(u.step, pair, lead, EGG_SIDE_B, r, b.data(), static_cast<uint32_t>(b.size()));
        for (size_t j = 0; j < b.size(); ++j) votes[j] += fa * b[j];
      }
    }
  }
  return votes;
}

int32_t truncated(float x) {
  if (std::isnan(x)) return 0;
  if (x >= 2147483648.0F) return INT32_MAX;
  if (x < -2147483648.0F) return INT32_MIN;
  return static_cast<int32_t>(x);
}

// One weight's rule. A node's value is kept as its four bytes; its op says whether they are an int32 or a float32.
class RuleRun {
 public:
  explicit RuleRun(const egg_rule& rule) : rule_(rule), nodes_(rule.node_count) {}

  // Returns the weight's change; slots[s][at] are read and replaced.
  int32_t run(int64_t vote, float vote_std, int32_t weight, const float* scalars, Slots& slots, size_t at) {
    for (uint32_t n = 0; n < rule_.node_count; ++n) {
      const egg_rule_node& node = rule_.nodes[n];
      // Unsigned, so that integer arithmetic wraps modulo 2^32 as ops.h asks.
      const auto u = [&](int k) { return nodes_[static_cast<size_t>(node.in[k])]; };
      const auto i = [&](int k) { return static_cast<int32_t>(u(k)); };
      const auto f = [&](int k) { return std::bit_cast<float>(u(k)); };
      const auto index = static_cast<size_t>(node.index);
      uint32_t& result = nodes_[n];
      switch (node.code) {
        case EGG_RULE_VOTE_I32:
          result = static_cast<uint32_t>(vote);
          break;
        case EGG_RULE_VOTE_F32:
          result = bits(static_cast<float>(vote));
          break;
        case EGG_RULE_VOTE_STD:
          result = bits(vote_std);
          break;
        case EGG_RULE_WEIGHT:
          result = static_cast<uint32_t>(weight);
          break;
        case EGG_RULE_SLOT:
          result = slots[index][at];
          break;
        case EGG_RULE_SCALAR:
          result = bits(scalars[index]);
          break;
        case EGG_RULE_CONST_I32:
          result = static_cast<uint32_t>(node.integer);
          break;
        case EGG_RULE_CONST_F32:
          result = bits(node.real);
          break;
        case EGG_RULE_IADD:
          result = u(0) + u(1);
          break;
        case EGG_RULE_ISUB:
          result = u(0) - u(1);
          break;
        case EGG_RULE_IMUL:
          result = u(0) * u(1);
          break;
        case EGG_RULE_ILT:
          result = i(0) < i(1) ? 1 : 0;
          break;
        case EGG_RULE_FADD:
          result = bits(f(0) + f(1));
          break;
        case EGG_RULE_FSUB:
          result = bits(f(0) - f(1));
          break;
        case EGG_RULE_FMUL:
          result = bits(f(0) * f(1));
          break;
        case EGG_RULE_FDIV:
          result = bits(f(0) / f(1));
          break;
        case EGG_RULE_FSQRT:
          result = bits(std::sqrt(f(0)));
          break;
        case EGG_RULE_FABS:
          result = bits(std::fabs(f(0)));
          break;
        case EGG_RULE_FLT:
          result = f(0) < f(1) ? 1 : 0;
          break;
        case EGG_RULE_SELECT:
          result = u(0) != 0 ? u(1) : u(2);
          break;
        case EGG_RULE_TO_F32:
          result = bits(static_cast<float>(i(0)));
          break;
        case EGG_RULE_TRUNC_I32:
          result = static_cast<uint32_t>(truncated(f(0)));
          break;
        default:  // refused by knows_rule_op before a session opens
          break;
      }
    }
    // Every node has read the old slots by now.
    for (uint32_t s = 0; s < rule_.slot_count; ++s) slots[s][at] = nodes_[static_cast<size_t>(rule_.slots[s].node)];
    return static_cast<int32_t>(nodes_[static_cast<size_t>(rule_.delta)]);
  }

 private:
  static uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

  const egg_rule& rule_;
  std::vector<uint32_t> nodes_;
};

// Applies the rule to the weights from `first` on, one a vote; returns how many moved.
int64_t move_weights(RuleRun& rule, Weights& weights, size_t first, const std::vector<int64_t>& votes, float vote_std,
                     const float* scalars, Slots& slots) {
  int64_t changed = 0;
  for (size_t i = 0; i < votes.size(); ++i) {
    int8_t& weight = weights[first + i];
    const int32_t delta = rule.run(votes[i], vote_std, weight, scalars, slots, first + i);
    const auto moved = static_cast<int8_t>(std::clamp<int64_t>(int64_t{weight} + delta, -127, 127));
    changed += moved != weight ? 1 : 0;
    weight = moved;
  }
  return changed;
}

}  // namespace

bool knows_rule_op(int32_t code) { return code >= EGG_RULE_VOTE_I32 && code <= EGG_RULE_TRUNC_I32; }

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
