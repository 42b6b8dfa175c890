// All orthogonal draws of a token at the logits by two fast transforms, equal to the bit to a loop over members
// (draws.h). With E+ and E- the exponentials of a logit one amplitude up and down, the members of draw k have the sums
// (S +- T_k) / 2, where S = sum E+ + E- and T_k = sum_i A_k[i] * (E+_i - E-_i). The T of all rows of the Hadamard
// matrix are one transform, and the error's sum over draws is another. Loops are plain, so that a compiler makes
// vectors of them.
#ifndef EGGROLL_LOGIT_DRAWS_H
#define EGGROLL_LOGIT_DRAWS_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "eggroll/draws.h"

namespace eggroll {

// The three smallest stages of a transform, of eight neighbours in one vector.
inline void transform_eight(int32_t* values) {
  using Eight = int32_t __attribute__((vector_size(32)));
  constexpr Eight kOdd = {0, -1, 0, -1, 0, -1, 0, -1};  // (v ^ -1) - -1 is -v
  constexpr Eight kOddPairs = {0, 0, -1, -1, 0, 0, -1, -1};
  constexpr Eight kUpper = {0, 0, 0, 0, -1, -1, -1, -1};
  Eight v;
  std::memcpy(&v, values, sizeof(v));
  v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6) + ((v ^ kOdd) - kOdd);
  v = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5) + ((v ^ kOddPairs) - kOddPairs);
  v = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3) + ((v ^ kUpper) - kUpper);
  std::memcpy(values, &v, sizeof(v));
}

// Multiplies by the Hadamard matrix of n rows, a power of two, in place: values within +-2^31 / n stay exact.
inline void hadamard_transform(int32_t* values, uint32_t n) {
  uint32_t half = 1;
  if (n >= 8) {
    for (uint32_t i = 0; i < n; i += 8) transform_eight(values + i);
    half = 8;
  }
  for (; half < n; half *= 2) {
    for (uint32_t first = 0; first < n; first += 2 * half) {
      for (uint32_t i = first; i < first + half; ++i) {
        const int32_t a = values[i];
        const int32_t b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
}

// Immutable but for its working memory: one for each thread.
class LogitDraws {
 public:
  // site: orthogonal, at what the program's loss reads.
  LogitDraws(const egg_program& program, const egg_site& site)
      : site_(site),
        size_(static_cast<uint32_t>(program.vocab)),
        unit_(program.ops[program.op_count - 1].attr),
        rows_(UINT32_C(1) << egg_log2_up(size_)),
        limit_(egg_draw_limit(site.draws)),
        signs_(rows_),
        values_(rows_),
        sums_(2 * size_t{rows_}),
        logs_(2 * size_t{rows_}) {
    for (uint32_t steps = 0; steps < exp2_.size(); ++steps)
      exp2_[steps] = egg_draw_exp2(steps, unit_, egg_log2_up(size_));
    for (uint32_t i = 0; i < EGG_LOG2_STEPS; ++i) {
      const uint64_t low = egg_log2_entry_q24(i);
      log2_[i] = low | (egg_log2_entry_q24(i + 1) - low) << 32;
    }
  }

  static uint64_t bytes(const egg_program& program) {
    const uint64_t rows = UINT64_C(1) << egg_log2_up(static_cast<uint32_t>(program.vocab));
    return sizeof(LogitDraws) + rows * 6 * sizeof(int32_t);
  }

  // logits: (vocab), a token's. key: egg_draw_key of draw 0. error: (vocab).
  // Loops have their bounds and arrays in variables of their own: members might be what a loop writes.
  void error(const int8_t* logits, uint32_t target, uint64_t key, int16_t* error) {
    const uint32_t rows = rows_;
    int32_t* const signs = signs_.data();
    int32_t* const values = values_.data();
    uint32_t* const sums = sums_.data();
    for (uint32_t i = 0; i < rows; i += 32) {
      const uint32_t word = egg_noise_word(key, i >> 5);
      for (uint32_t j = 0; j < std::min(32U, rows - i); ++j) signs[i + j] = 1 - 2 * static_cast<int32_t>(word >> j & 1);
    }
    const uint32_t both = find_deltas(logits);
    hadamard_transform(values, rows);
    for (uint32_t row = 0; row < rows; ++row) {
      const auto delta = static_cast<uint32_t>(values[row]);
      sums[row] = (both - delta) / 2;
      sums[rows + row] = (both + delta) / 2;
    }
    find_logs();
    find_differences(logits[target], target, egg_draw_offset(key));
    hadamard_transform(values, rows);
    const int32_t shift = site_.shift;
    for (uint32_t i = 0, size = size_; i < size; ++i) error[i] = egg_draw_error(signs[i] * values[i], shift);
  }

 private:
  // Leaves A_0 * (E+ - E-) in values_ and returns S.
  uint32_t find_deltas(const int8_t* logits) {
    int8_t largest = -127;  // a loop of bytes, which compilers make wide
    for (uint32_t i = 0; i < size_; ++i) largest = std::max(largest, logits[i]);
    const int32_t amplitude = site_.amplitude;
    const int32_t top = egg_clip8(largest + amplitude);
    const uint32_t* const exp2 = exp2_.data();
    const int32_t* const signs = signs_.data();
    int32_t* const values = values_.data();
    uint32_t both = 0;
    for (uint32_t i = 0, size = size_; i < size; ++i) {
      const uint32_t plus = exp2[top - egg_clip8(logits[i] + amplitude)];
      const uint32_t minus = exp2[top - egg_clip8(logits[i] - amplitude)];
      both += plus + minus;
      values[i] = signs[i] * static_cast<int32_t>(plus - minus);
    }
    std::fill(values_.begin() + size_, values_.end(), 0);
    return both;
  }

  // egg_log2_q16 of all sums: a double holds them exactly, and its bits are the logarithm's whole part and its
  // mantissa.
  void find_logs() {
    const uint32_t* const sums = sums_.data();
    const uint64_t* const log2 = log2_.data();
    int32_t* const logs = logs_.data();
    for (size_t i = 0, count = logs_.size(); i < count; ++i) {
      const auto bits = std::bit_cast<uint64_t>(static_cast<double>(sums[i]));
      const uint64_t entry = log2[bits >> 44 & 255];
      const uint64_t fraction = (entry & UINT32_MAX) + ((entry >> 32) * (bits >> 20 & 0xFFFFFF) >> 24);
      const auto whole = static_cast<int32_t>(bits >> 52) - 1023;
      logs[i] = whole * 65536 + static_cast<int32_t>((fraction + 128) >> 8);
    }
  }

  // Leaves d of the rows that are drawn in values_, and 0 in the others.
  void find_differences(int32_t logit, uint32_t target, uint32_t offset) {
    const int32_t moved =
        (egg_clip8(logit + site_.amplitude) - egg_clip8(logit - site_.amplitude)) * unit_ * signs_[target];
    const uint32_t rows = rows_;
    const uint32_t draws = site_.draws;
    const int32_t limit = limit_;
    const int32_t* const logs = logs_.data();
    int32_t* const values = values_.data();
    for (uint32_t row = 0; row < rows; ++row) {
      const int32_t of_target = egg_hadamard_bit(row, target) != 0 ? -moved : moved;
      const int32_t d = egg_clip(logs[row] - logs[rows + row] + of_target, limit);
      values[row] = ((row - offset) & (rows - 1)) < draws ? d : 0;
    }
  }

  egg_site site_;
  uint32_t size_;
  int32_t unit_;
  uint32_t rows_;
  int32_t limit_;
  std::array<uint32_t, 256> exp2_{};           // by steps below the top
  std::array<uint64_t, EGG_LOG2_STEPS> log2_;  // an entry, and the next one less it above
  std::vector<int32_t> signs_;
  std::vector<int32_t> values_;
  std::vector<uint32_t> sums_;  // of members with -A, then of those with +A
  std::vector<int32_t> logs_;
};

}  // namespace eggroll

#endif
