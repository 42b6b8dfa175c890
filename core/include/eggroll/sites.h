// Which parameters vote with the errors of a site: those that enter its value linearly.
#ifndef EGGROLL_SITES_H
#define EGGROLL_SITES_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

// The op that makes a value; -1 for a state.
inline int32_t maker_of(const egg_program& program, int32_t value) {
  for (uint32_t i = 0; i < program.op_count; ++i) {
    if (program.ops[i].out == value && program.ops[i].code != EGG_OP_STORE) return static_cast<int32_t>(i);
  }
  return -1;
}

// Whether the value is what the loss reads.
inline bool is_at_loss(const egg_program& program, int32_t value) {
  return program.ops[program.op_count - 1].in[0] == value;
}

// The embeds, linears and adds whose sum is the value, in the program's order. A sum is followed to its parts if
// nothing else reads them.
inline std::vector<uint32_t> ops_of_sum(const egg_program& program, int32_t value) {
  std::vector<uint32_t> ops;
  std::vector<int32_t> parts = {value};
  while (!parts.empty()) {
    const int32_t made_by = maker_of(program, parts.back());
    parts.pop_back();
    if (made_by < 0) continue;
    const egg_op& op = program.ops[made_by];
    if (op.code != EGG_OP_EMBED && op.code != EGG_OP_LINEAR && op.code != EGG_OP_ADD) continue;
    ops.push_back(static_cast<uint32_t>(made_by));
    if (op.code == EGG_OP_LINEAR) continue;
    for (const int32_t in : op.in) {
      if (in < 0) continue;
      const auto readers = std::count_if(program.ops, program.ops + program.op_count, [&](const egg_op& other) {
        return std::find(other.in, other.in + 3, in) != other.in + 3;
      });
      if (readers == 1) parts.push_back(in);
    }
  }
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

// The ops that a draw at a value computes again at its own token.
struct OpsBehind {
  std::vector<uint32_t> ops;      // that the value changes and the loss needs; with_states also those that states need
  std::vector<uint32_t> sources;  // the value, and what else these ops read that it does not change
};

// with_states: whether later tokens' losses count.
inline OpsBehind ops_behind(const egg_program& program, int32_t value, bool with_states) {
  std::vector<bool> changed(program.value_count);
  std::vector<bool> needed(program.value_count);
  changed[static_cast<size_t>(value)] = true;
  const auto reads = [](const egg_op& op, const std::vector<bool>& of) {
    return std::any_of(op.in, op.in + 3, [&](int32_t in) { return in >= 0 && of[static_cast<size_t>(in)]; });
  };
  std::vector<bool> is_behind(program.op_count);
  const auto first = static_cast<uint32_t>(maker_of(program, value) + 1);
  for (uint32_t i = first; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    is_behind[i] = reads(op, changed);
    // A state keeps what it was until the next token.
    if (is_behind[i] && op.out >= 0 && op.code != EGG_OP_STORE) changed[static_cast<size_t>(op.out)] = true;
  }
  OpsBehind behind{{}, {static_cast<uint32_t>(value)}};
  for (uint32_t i = program.op_count; i-- > first;) {
    const egg_op& op = program.ops[i];
    const bool ends = op.code == EGG_OP_LOSS || (with_states && op.code == EGG_OP_STORE);
    // A store makes no value: an op that reads the state reads its old value.
    const bool makes = op.code != EGG_OP_STORE && op.out >= 0 && needed[static_cast<size_t>(op.out)];
    if (!is_behind[i] || (!ends && !makes)) continue;
    behind.ops.push_back(i);
    for (const int32_t in : op.in) {
      if (in >= 0) needed[static_cast<size_t>(in)] = true;
    }
  }
  std::reverse(behind.ops.begin(), behind.ops.end());
  for (uint32_t v = 0; v < program.value_count; ++v) {
    if (needed[v] && !changed[v]) behind.sources.push_back(v);
  }
  return behind;
}

// The ops that a draw within the model runs. With a horizon it stores all states, even those that it does not change,
// and then runs whole tokens.
struct OpsOfDraw : OpsBehind {
  std::vector<uint32_t> cached;  // keys and values of earlier tokens that its attention reads, here or in the horizon
};

inline OpsOfDraw ops_of_draw(const egg_program& program, const egg_site& site) {
  const bool goes_on = site.horizon > 0;
  OpsOfDraw draw{ops_behind(program, site.value, goes_on), {}};
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    const auto place = std::lower_bound(draw.ops.begin(), draw.ops.end(), i);
    const bool is_behind = place != draw.ops.end() && *place == i;
    if (op.code == EGG_OP_ATTENTION && (goes_on || is_behind)) {
      for (const int32_t in : {op.in[1], op.in[2]}) draw.cached.push_back(static_cast<uint32_t>(in));
    }
    if (op.code != EGG_OP_STORE || !goes_on || is_behind) continue;
    draw.ops.insert(place, i);
    const auto stored = static_cast<uint32_t>(op.in[0]);
    if (std::find(draw.sources.begin(), draw.sources.end(), stored) == draw.sources.end()) {
      draw.sources.push_back(stored);
    }
  }
  return draw;
}

// The mean square of an error's channel, from which the null deviation of a vote is made. This order of operations in
// double precision is part of the definition, as it is in site_vote_std.
inline double error_moment(const egg_site_sums& sums, int32_t size) {
  if (sums.tokens == 0) return 0.0;
  return static_cast<double>(sums.squares) / (static_cast<double>(sums.tokens) * static_cast<double>(size));
}

// The null deviation of a vote. squares: the sum of the squares of the factors that errors are multiplied by: the reads
// of a table's row, the inputs of a matrix's column, the tokens of a bias.
inline float site_vote_std(int64_t squares, double moment) {
  return static_cast<float>(std::sqrt(static_cast<double>(squares) * moment));
}

}  // namespace eggroll

#endif
