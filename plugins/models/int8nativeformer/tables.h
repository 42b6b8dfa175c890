// The model's constants, of the same bits on every machine. An entry is the integer nearest to the formula's value,
// which reproducible_math.h gives to more digits than an entry has.
#ifndef EGGROLL_INT8NATIVEFORMER_TABLES_H
#define EGGROLL_INT8NATIVEFORMER_TABLES_H

#include <cmath>
#include <cstdint>
#include <vector>

#include "eggroll/arithmetic.h"
#include "eggroll/reproducible_math.h"

namespace eggroll::former {

inline int32_t nearest(double x) { return static_cast<int32_t>(std::llround(x)); }

inline double power_of_two(double x) { return reproducible_exp(x * 0.69314718055994530942); }

// By x + 128: the GELU of x where `one` means 1.0.
inline std::vector<int32_t> gelu_table(int32_t one) {
  std::vector<int32_t> entries;
  for (int32_t x = -128; x < 128; ++x) {
    const double gauss = 0.5 * (1.0 + reproducible_erf(static_cast<double>(x) / one * 0.70710678118654752440));
    entries.push_back(egg_clip(nearest(x * gauss), 127));
  }
  return entries;
}

// By the steps below the largest score: 2^(scale - steps / steps_per_bit), 0 where that is below 1. So an entry is off
// by less than 1.
inline std::vector<int32_t> softmax_weights(double steps_per_bit, int32_t scale) {
  std::vector<int32_t> entries;
  for (int32_t steps = 0; steps < EGG_ATTENTION_TABLE; ++steps) {
    const double bits = scale - steps / steps_per_bit;
    entries.push_back(bits < 0.0 ? 0 : nearest(power_of_two(bits)));
  }
  return entries;
}

// By score + 128: 2^scale / (1 + 2^(-score / steps_per_bit)). An entry is off by at most 1/2.
inline std::vector<int32_t> sigmoid_weights(double steps_per_bit, int32_t scale) {
  std::vector<int32_t> entries;
  for (int32_t score = -128; score < 128; ++score) {
    entries.push_back(nearest((1 << scale) / (1.0 + power_of_two(-score / steps_per_bit))));
  }
  return entries;
}

// (context, head / 2, 2): cosine and sine of p * base^(-2i / head) times 2^20, pair i at position p.
inline std::vector<int32_t> rope_table(int32_t context, int32_t head, double base) {
  const double unit = 1 << EGG_ROPE_BITS;
  std::vector<double> steps;  // a pair's angle from one position to the next
  for (int32_t channel = 0; channel < head; channel += 2) {
    steps.push_back(reproducible_exp(reproducible_log(base) * -channel / head));
  }
  std::vector<int32_t> entries;
  for (int32_t p = 0; p < context; ++p) {
    for (const double step : steps) {
      entries.push_back(nearest(reproducible_cos(p * step) * unit));
      entries.push_back(nearest(reproducible_sin(p * step) * unit));
    }
  }
  return entries;
}

}  // namespace eggroll::former

#endif
