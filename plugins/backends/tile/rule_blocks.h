// Evaluation of an update rule over blocks of weights, a column of values for each node: the loops are plain, so that
// the compiler makes vectors of them. IEEE float32, never contracted (the project's flags see to that).
#ifndef EGGROLL_TILE_RULE_BLOCKS_H
#define EGGROLL_TILE_RULE_BLOCKS_H

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "eggroll/arithmetic.h"
#include "eggroll/plugin.h"
#include "memory.h"

namespace eggroll::tile {

inline constexpr size_t kRuleBlock = 256;

// Which member is live follows from the node's type.
union alignas(64) Column {
  int32_t i[kRuleBlock];
  uint32_t u[kRuleBlock];
  float f[kRuleBlock];
};

// Weights side by side of one parameter: their votes, where they and their first slots are, their null deviation.
template <class Vote>
struct RuleRun {
  size_t count;
  const Vote* votes;
  int8_t* weights;
  uint32_t* slots;
  float vote_std;
};

// Working memory of one thread. S: the instruction set, so that no two builds of it are one
// function.
template <class S>
class RuleBlocks {
 public:
  RuleBlocks(const egg_rule& rule, const float* scalars) : rule_(rule), columns_(rule.node_count) {
    for (uint32_t n = 0; n < rule.node_count; ++n) {
      const egg_rule_node& node = rule.nodes[n];
      Column& out = columns_[n];
      if (node.code == EGG_RULE_SCALAR) std::fill_n(out.f, kRuleBlock, scalars[node.index]);
      if (node.code == EGG_RULE_CONST_I32) std::fill_n(out.i, kRuleBlock, node.integer);
      if (node.code == EGG_RULE_CONST_F32) std::fill_n(out.f, kRuleBlock, node.real);
    }
  }

  // Weights side by side of any number, block after block. slot_stride: from one slot's cells to the next slot's.
  // Returns how many weights changed.
  template <class Vote>
  int64_t run_all(RuleRun<Vote> run, size_t slot_stride) {
    int64_t changed = 0;
    for (size_t left = run.count; left != 0; left -= run.count) {
      run.count = std::min(kRuleBlock, left);
      changed += run_block(&run, 1, slot_stride);
      run.votes += run.count;
      run.weights += run.count;
      run.slots += run.count;
    }
    return changed;
  }

  // Runs with together at most kRuleBlock weights.
  template <class Vote>
  int64_t run_block(const RuleRun<Vote>* runs, size_t run_count, size_t slot_stride) {
    const auto each_run = [&](const auto& body) {
      size_t at = 0;
      for (size_t r = 0; r < run_count; ++r) {
        body(runs[r], at);
        at += runs[r].count;
      }
      return at;
    };
    const size_t count = each_run([](const RuleRun<Vote>&, size_t) {});
    for (uint32_t n = 0; n < rule_.node_count; ++n) {
      const egg_rule_node& node = rule_.nodes[n];
      Column& out = columns_[n];
      if (node.code == EGG_RULE_VOTE_I32) {
        each_run([&](const RuleRun<Vote>& run, size_t at) {
          for (size_t i = 0; i < run.count; ++i) out.i[at + i] = static_cast<int32_t>(run.votes[i]);
        });
      } else if (node.code == EGG_RULE_VOTE_F32) {
        each_run([&](const RuleRun<Vote>& run, size_t at) {
          for (size_t i = 0; i < run.count; ++i) out.f[at + i] = static_cast<float>(run.votes[i]);
        });
      } else if (node.code == EGG_RULE_VOTE_STD) {
        each_run([&](const RuleRun<Vote>& run, size_t at) { std::fill_n(out.f + at, run.count, run.vote_std); });
      } else if (node.code == EGG_RULE_WEIGHT) {
        each_run([&](const RuleRun<Vote>& run, size_t at) { std::copy_n(run.weights, run.count, out.i + at); });
      } else if (node.code == EGG_RULE_SLOT) {
        const size_t first = static_cast<size_t>(node.index) * slot_stride;
        each_run([&](const RuleRun<Vote>& run, size_t at) { std::copy_n(run.slots + first, run.count, out.u + at); });
      } else {
        compute(node, n, count);
      }
    }
    for (uint32_t s = 0; s < rule_.slot_count; ++s) {
      const uint32_t* cells = columns_[static_cast<size_t>(rule_.slots[s].node)].u;
      each_run([&](const RuleRun<Vote>& run, size_t at) {
        std::copy_n(cells + at, run.count, run.slots + s * slot_stride);
      });
    }
    // In columns, which bytes cannot be a part of as far as the compiler knows.
    Column before;
    Column after;
    each_run([&](const RuleRun<Vote>& run, size_t at) { std::copy_n(run.weights, run.count, before.i + at); });
    const int32_t* delta = columns_[static_cast<size_t>(rule_.delta)].i;
    int32_t changed = 0;
    for (size_t i = 0; i < count; ++i) {
      // A delta beyond 254 saturates as one of 254 does.
      after.i[i] = std::clamp(before.i[i] + std::clamp(delta[i], -254, 254), -127, 127);
      changed += after.i[i] != before.i[i] ? 1 : 0;
    }
    each_run([&](const RuleRun<Vote>& run, size_t at) {
      for (size_t i = 0; i < run.count; ++i) run.weights[i] = static_cast<int8_t>(after.i[at + i]);
    });
    return changed;
  }

 private:
  template <class Body>
  void each(uint32_t n, size_t count, const Body& body) {
    Column& out = columns_[n];
    for (size_t i = 0; i < count; ++i) body(i, out);
  }

  void compute(const egg_rule_node& node, uint32_t n, size_t count) {
    const auto in = [&](int k) -> const Column& {
      return columns_[node.in[k] < 0 ? 0 : static_cast<size_t>(node.in[k])];
    };
    const Column& a = in(0);
    const Column& b = in(1);
    const Column& c = in(2);
#define EGG_COLUMN(CODE, ...)                                    \
  case EGG_RULE_##CODE:                                          \
    each(n, count, [&](size_t i, Column& out) { __VA_ARGS__; }); \
    break;
    switch (static_cast<egg_rule_code>(node.code)) {
      EGG_COLUMN(IADD, out.u[i] = a.u[i] + b.u[i])
      EGG_COLUMN(ISUB, out.u[i] = a.u[i] - b.u[i])
      EGG_COLUMN(IMUL, out.u[i] = a.u[i] * b.u[i])
      EGG_COLUMN(ILT, out.i[i] = a.i[i] < b.i[i] ? 1 : 0)
      EGG_COLUMN(FADD, out.f[i] = a.f[i] + b.f[i])
      EGG_COLUMN(FSUB, out.f[i] = a.f[i] - b.f[i])
      EGG_COLUMN(FMUL, out.f[i] = a.f[i] * b.f[i])
      EGG_COLUMN(FDIV, out.f[i] = a.f[i] / b.f[i])
      EGG_COLUMN(FSQRT, out.f[i] = std::sqrt(a.f[i]))
      EGG_COLUMN(FABS, out.u[i] = a.u[i] & 0x7fffffffU)
      EGG_COLUMN(FLT, out.i[i] = a.f[i] < b.f[i] ? 1 : 0)
      EGG_COLUMN(SELECT, out.u[i] = a.i[i] != 0 ? b.u[i] : c.u[i])
      EGG_COLUMN(TO_F32, out.f[i] = static_cast<float>(a.i[i]))
      EGG_COLUMN(TRUNC_I32, out.i[i] = egg_trunc_i32(a.f[i]))
      case EGG_RULE_VOTE_I32:
      case EGG_RULE_VOTE_F32:
      case EGG_RULE_WEIGHT:
      case EGG_RULE_SLOT:
      case EGG_RULE_VOTE_STD:
      case EGG_RULE_SCALAR:
      case EGG_RULE_CONST_I32:
      case EGG_RULE_CONST_F32:
      case EGG_RULE_COUNT:
        break;  // filled by the constructor or by run
    }
#undef EGG_COLUMN
  }

  const egg_rule& rule_;
  Buffer<Column> columns_;
};

}  // namespace eggroll::tile

#endif
