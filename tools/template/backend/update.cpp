#include "update.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace backend {
namespace {

// Z = sum over pairs and ranks of f * A * B', exact; (rows, cols).
std::vector<int64_t> count_votes(const Model& model, const eggroll::NoiseSource& source, uint32_t param,
                                 const egg_update& u) {
  const egg_param& p = model.program.params[param];
  const auto rows = static_cast<size_t>(p.rows);
  const auto cols = static_cast<size_t>(p.cols);
  std::vector<int64_t> votes(rows * cols);
  for (uint32_t pair = 0; pair < u.pairs; ++pair) {
    const int32_t fitness = u.fitness[pair];
    const Noise noise = draw(model, source, u.step, pair, param);
    if (p.kind == EGG_PARAM_VECTOR) {
      for (size_t i = 0; i < rows; ++i) votes[i] += fitness * noise.a[i] * noise.b[i];
      continue;
    }
    for (size_t r = 0; r < static_cast<size_t>(model.noise.rank); ++r) {
      for (size_t i = 0; i < rows; ++i) {
        const int32_t fa = fitness * noise.a[r * rows + i];
        for (size_t j = 0; j < cols; ++j) votes[i * cols + j] += fa * noise.b[r * cols + j];
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

}  // namespace

bool knows_rule_op(int32_t code) { return code >= EGG_RULE_VOTE_I32 && code <= EGG_RULE_TRUNC_I32; }

int64_t update_param(Model& model, const egg_rule& rule, const eggroll::NoiseSource& source, uint32_t param,
                     const egg_update& update, Slots& slots) {
  const std::vector<int64_t> votes = count_votes(model, source, param, update);
  Weights& weights = model.weights[param];
  RuleRun one(rule);
  int64_t changed = 0;
  for (size_t w = 0; w < weights.size(); ++w) {
    const int32_t delta = one.run(votes[w], update.vote_stds[param], weights[w], update.scalars, slots, w);
    const auto moved = static_cast<int8_t>(std::clamp<int64_t>(int64_t{weights[w]} + delta, -127, 127));
    changed += moved != weights[w] ? 1 : 0;
    weights[w] = moved;
  }
  return changed;
}

}  // namespace backend
