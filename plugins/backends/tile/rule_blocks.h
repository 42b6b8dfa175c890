// Evaluates an update rule over blocks of weights, with a column of values for each node. The loops are simple, so that
// the compiler vectorizes them. Arithmetic is IEEE float32, never contracted: the project's compiler flags forbid it.
#ifndef EGGROLL_TILE_RULE_BLOCKS_H
#define EGGROLL_TILE_RULE_BLOCKS_H

#include <algorithm>
#include <cstdint>

#include "eggroll/plugin.h"
#include "eggroll/rule_arithmetic.h"
#include "memory.h"

namespace eggroll::tile {

inline constexpr size_t kRuleBlock = 256;

// A node's values, with the types of rule_arithmetic.h.
struct alignas(64) Column {
  uint32_t at[kRuleBlock];
};

// Neighbouring weights of one parameter: their votes, the places of the weights and first slots, the null deviation.
template <class Vote>
struct RuleRun {
  size_t count;
  const Vote* votes;
  int8_t* weights;
  uint32_t* slots;
  float vote_std;
  const float* vote_stds = nullptr;  // of each weight; null: vote_std is of all

  // Prefetches weights and slots, which may lie anywhere in memory.
  void prefetch(uint32_t slot_count, size_t slot_stride) const {
    for (size_t at = 0; at < count; at += 64) __builtin_prefetch(weights + at, 1);
    for (uint32_t s = 0; s < slot_count; ++s) {
      for (size_t at = 0; at < count; at += 16) __builtin_prefetch(slots + s * slot_stride + at, 1);
    }
  }
};

// Working memory of one thread. S is the instruction set: with it, builds for two sets are different functions.
template <class S>
class RuleBlocks {
 public:
  RuleBlocks(const egg_rule& rule, const float* scalars) : rule_(rule), columns_(rule.node_count) {
    for (uint32_t n = 0; n < rule.node_count; ++n) {
      const egg_rule_node& node = rule.nodes[n];
      const auto fill = [&](uint32_t value) { std::fill_n(columns_[n].at, kRuleBlock, value); };
      if (node.code == EGG_RULE_SCALAR) fill(egg_bits_of(scalars[node.index]));
      if (node.code == EGG_RULE_CONST_I32) fill(static_cast<uint32_t>(node.integer));
      if (node.code == EGG_RULE_CONST_F32) fill(egg_bits_of(node.real));
    }
  }

  // Evaluates any number of neighbouring weights, block after block. slot_stride: from one slot's cells to the next
  // slot's. Returns how many weights changed.
  template <class Vote>
  int64_t run_all(RuleRun<Vote> run, size_t slot_stride) {
    int64_t changed = 0;
    for (size_t left = run.count; left != 0; left -= run.count) {
      run.count = std::min(kRuleBlock, left);
      changed += run_block(&run, 1, slot_stride);
      run.votes += run.count;
      run.weights += run.count;
      run.slots += run.count;
      if (run.vote_stds != nullptr) run.vote_stds += run.count;
    }
    return changed;
  }

  // Evaluates runs that together have at most kRuleBlock weights.
  template <class Vote>
  int64_t run_block(const RuleRun<Vote>* runs, size_t run_count, size_t slot_stride) {
    size_t count = 0;
    for (size_t r = 0; r < run_count; ++r) count += runs[r].count;
    // Calls body(run, at): the run begins at `at` in the block. `run` is a copy, so no store changes a loop's length.
    const auto each_run = [&](const auto& body) {
      size_t at = 0;
      for (size_t r = 0; r < run_count; ++r) {
        const RuleRun<Vote> run = runs[r];
        body(run, at);
        at += run.count;
      }
    };
    for (uint32_t n = 0; n < rule_.node_count; ++n) {
      const egg_rule_node& node = rule_.nodes[n];
      Column& column = columns_[n];
      uint32_t* out = column.at;
      switch (static_cast<egg_rule_code>(node.code)) {
        case EGG_RULE_VOTE_I32:
          each_run([&](const RuleRun<Vote>& run, size_t at) {
            for (size_t i = 0; i < run.count; ++i) out[at + i] = static_cast<uint32_t>(run.votes[i]);
          });
          break;
        case EGG_RULE_VOTE_F32:
          each_run([&](const RuleRun<Vote>& run, size_t at) {
            for (size_t i = 0; i < run.count; ++i) out[at + i] = egg_bits_of(static_cast<float>(run.votes[i]));
          });
          break;
        case EGG_RULE_VOTE_STD:
          each_run([&](const RuleRun<Vote>& run, size_t at) {
            for (size_t i = 0; i < run.count; ++i) {
              out[at + i] = egg_bits_of(run.vote_stds == nullptr ? run.vote_std : run.vote_stds[i]);
            }
          });
          break;
        case EGG_RULE_WEIGHT:
          each_run([&](const RuleRun<Vote>& run, size_t at) {
            for (size_t i = 0; i < run.count; ++i) out[at + i] = static_cast<uint32_t>(int32_t{run.weights[i]});
          });
          break;
        case EGG_RULE_SLOT:
          each_run([&](const RuleRun<Vote>& run, size_t at) {
            std::copy_n(run.slots + static_cast<size_t>(node.index) * slot_stride, run.count, out + at);
          });
          break;
        case EGG_RULE_SCALAR:
        case EGG_RULE_CONST_I32:
        case EGG_RULE_CONST_F32:
          break;  // the constructor has filled it
#define EGG_COLUMN(code, name, result, operands, text)                     \
  case EGG_RULE_##code:                                                    \
    compute<&egg_rule_arithmetic<egg_float32>::name>(node, column, count); \
    break;
          EGG_RULE_ARITHMETIC(EGG_COLUMN)
#undef EGG_COLUMN
        case EGG_RULE_COUNT:
          break;
      }
    }
    for (uint32_t s = 0; s < rule_.slot_count; ++s) {
      const uint32_t* cells = columns_[static_cast<size_t>(rule_.slots[s].node)].at;
      each_run([&](const RuleRun<Vote>& run, size_t at) {
        std::copy_n(cells + at, run.count, run.slots + s * slot_stride);
      });
    }
    // As int32, because the compiler then knows that no store of a byte changes it.
    alignas(64) int32_t before[kRuleBlock];
    alignas(64) int32_t after[kRuleBlock];
    each_run([&](const RuleRun<Vote>& run, size_t at) { std::copy_n(run.weights, run.count, before + at); });
    const uint32_t* delta = columns_[static_cast<size_t>(rule_.delta)].at;
    int32_t changed = 0;
    for (size_t i = 0; i < count; ++i) {
      after[i] = egg_moved(before[i], static_cast<int32_t>(delta[i]));
      changed += after[i] != before[i] ? 1 : 0;
    }
    each_run([&](const RuleRun<Vote>& run, size_t at) {
      for (size_t i = 0; i < run.count; ++i) run.weights[i] = static_cast<int8_t>(after[at + i]);
    });
    return changed;
  }

 private:
  template <uint32_t (*op)(uint32_t, uint32_t, uint32_t)>
  void compute(const egg_rule_node& node, Column& out, size_t count) {
    const auto in = [&](int k) -> const Column& {
      return columns_[node.in[k] < 0 ? 0 : static_cast<size_t>(node.in[k])];
    };
    const Column& a = in(0);
    const Column& b = in(1);
    const Column& c = in(2);
    for (size_t i = 0; i < count; ++i) out.at[i] = op(a.at[i], b.at[i], c.at[i]);
  }

  const egg_rule& rule_;
  Buffer<Column> columns_;
};

}  // namespace eggroll::tile

#endif
