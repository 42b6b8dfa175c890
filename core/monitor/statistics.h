// Statistics of int8 values, weights and attention heads. They have the same bits on every machine.
#ifndef EGGROLL_MONITOR_STATISTICS_H
#define EGGROLL_MONITOR_STATISTICS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

struct Spread {
  double mean = 0.0;
  double std = 0.0;           // about the mean
  double entropy_bits = 0.0;  // of the values that occur: 0 to 8
  double saturated = 0.0;     // share at +-127
  double zeros = 0.0;         // share
};

// values: at least one.
Spread spread_of(std::span<const int8_t> values);

// The share of channels that have the same value in all samples. values: (samples, channels).
double constant_share(std::span<const int8_t> values, size_t channels);

// One head, over the queries that see at least two positions.
struct HeadSpread {
  double entropy_bits = 0.0;  // mean, of the weights: log2 of the positions where they are even
  double largest = 0.0;       // mean share of the weight on the position that has most
};

// op: an attention of the program. queries, keys: (samples, channels) as the op reads them. Sample i sees the samples
// from first_visible[i] to i. By head; empty if no query sees two positions.
std::vector<HeadSpread> heads_of(const egg_program& program, const egg_op& op, std::span<const int8_t> queries,
                                 std::span<const int8_t> keys, std::span<const size_t> first_visible);

}  // namespace eggroll

#endif
