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

// The embeds, linears and adds that the value is the sum of, in the program's order. A sum is followed to its parts
// where nothing else reads them.
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

// The mean square of an error's channel: what a vote's null deviation is made of. This order of operations in double
// precision is part of the definition, as it is in site_vote_std.
inline double error_moment(const egg_site_sums& sums, int32_t size) {
  if (sums.tokens == 0) return 0.0;
  return static_cast<double>(sums.squares) / (static_cast<double>(sums.tokens) * static_cast<double>(size));
}

// The null deviation of a vote. squares: of the factors that errors are multiplied by: the reads of a table's row, the
// inputs of a matrix's column, the tokens of a bias.
inline float site_vote_std(int64_t squares, double moment) {
  return static_cast<float>(std::sqrt(static_cast<double>(squares) * moment));
}

}  // namespace eggroll

#endif
