#include "monitor/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "eggroll/arithmetic.h"
#include "eggroll/reproducible_math.h"

namespace eggroll {
namespace {

double log2_of(double x) { return reproducible_log(x) / 0.69314718055994530942; }

// The weights of one query, each non-negative.
HeadSpread spread_of_weights(const std::vector<int32_t>& weights) {
  double total = 0.0;
  double largest = 0.0;
  double sum = 0.0;  // of w log2 w
  for (const int32_t w : weights) {
    if (w == 0) continue;
    total += w;
    largest = std::max<double>(largest, w);
    sum += w * log2_of(w);
  }
  if (total == 0.0) return {};
  return {std::max(0.0, log2_of(total) - sum / total), largest / total};
}

}  // namespace

Spread spread_of(std::span<const int8_t> values) {
  std::array<int64_t, 256> counts{};
  for (const int8_t value : values) ++counts[static_cast<size_t>(value + 128)];
  const auto n = static_cast<double>(values.size());
  int64_t sum = 0;
  int64_t squares = 0;
  double entropy = log2_of(n);
  for (int64_t value = -128; value < 128; ++value) {
    const int64_t count = counts[static_cast<size_t>(value + 128)];
    if (count == 0) continue;
    sum += value * count;
    squares += value * value * count;
    const auto c = static_cast<double>(count);
    entropy -= c * log2_of(c) / n;
  }
  Spread spread;
  spread.mean = static_cast<double>(sum) / n;
  spread.std = std::sqrt(std::max(0.0, static_cast<double>(squares) / n - spread.mean * spread.mean));
  spread.entropy_bits = std::max(0.0, entropy);
  spread.saturated = static_cast<double>(counts[128 - 127] + counts[128 + 127]) / n;
  spread.zeros = static_cast<double>(counts[128]) / n;
  return spread;
}

double constant_share(std::span<const int8_t> values, size_t channels) {
  size_t constant = 0;
  for (size_t c = 0; c < channels; ++c) {
    bool same = true;
    for (size_t i = c; i < values.size() && same; i += channels) same = values[i] == values[c];
    constant += same ? 1 : 0;
  }
  return static_cast<double>(constant) / static_cast<double>(channels);
}

std::vector<HeadSpread> heads_of(const egg_program& program, const egg_op& op, std::span<const int8_t> queries,
                                 std::span<const int8_t> keys, std::span<const size_t> first_visible) {
  const auto channels = static_cast<size_t>(program.values[op.out].size);
  const auto head = static_cast<size_t>(op.head);
  const int32_t* table = program.tables[op.table].entries;
  const int32_t nearest = program.rounding == EGG_ROUND_NEAREST ? 1 : 0;
  std::vector<HeadSpread> heads(channels / head);
  std::vector<int32_t> weights;  // scores at first
  size_t counted = 0;
  for (size_t i = 0; i < first_visible.size(); ++i) {
    if (first_visible[i] == i) continue;
    ++counted;
    for (size_t h = 0; h < heads.size(); ++h) {
      weights.clear();
      for (size_t j = first_visible[i]; j <= i; ++j) {
        int32_t product = 0;
        for (size_t c = h * head; c < (h + 1) * head; ++c)
          product += queries[i * channels + c] * keys[j * channels + c];
        weights.push_back(egg_rshift(product, op.attr, nearest));
      }
      const int32_t largest = *std::max_element(weights.begin(), weights.end());
      for (int32_t& weight : weights) weight = table[egg_attention_index(weight, largest, op.mode)];
      const HeadSpread spread = spread_of_weights(weights);
      heads[h].entropy_bits += spread.entropy_bits;
      heads[h].largest += spread.largest;
    }
  }
  if (counted == 0) return {};
  for (HeadSpread& spread : heads) {
    spread.entropy_bits /= static_cast<double>(counted);
    spread.largest /= static_cast<double>(counted);
  }
  return heads;
}

}  // namespace eggroll
