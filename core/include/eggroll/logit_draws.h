// All draws of a token at the logits, equal to the bit to a loop over members (draws.h). With E+ and E- the
// exponentials of a logit one amplitude up and down, the members of draw k have the sums (S +- T_k) / 2, where S = sum
// E+ + E- and T_k = sum_i A_k[i] * (E+_i - E-_i). The T of all rows of the Hadamard matrix are one fast transform, and
// the error's sum over draws is another. Independent draws are added up one by one. Loops are plain, so that a compiler
// makes vectors of them.
#ifndef EGGROLL_LOGIT_DRAWS_H
#define EGGROLL_LOGIT_DRAWS_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
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

// Adds 32 values, each less where its bit of the word is set: eight in one vector, `step` behind the eight before them.
inline void add_signed_word(const int32_t* values, size_t step, uint32_t word, int32_t* to) {
  using Eight = int32_t __attribute__((vector_size(32)));
  constexpr Eight kPlaces = {0, 1, 2, 3, 4, 5, 6, 7};
  for (uint32_t j = 0; j < 32; j += 8) {
    Eight v;
    Eight sums;
    std::memcpy(&v, values + j / 8 * step, sizeof(v));
    std::memcpy(&sums, to + j, sizeof(sums));
    const Eight mask = -((static_cast<int32_t>(word >> j) - Eight{}) >> kPlaces & 1);  // (v ^ -1) - -1 is -v
    sums += (v ^ mask) - mask;
    std::memcpy(to + j, &sums, sizeof(sums));
  }
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

// Calls change its working memory, so each thread needs an object of its own.
class LogitDraws {
 public:
  // site: a site at the value that the program's loss reads.
  LogitDraws(const egg_program& program, const egg_site& site)
      : site_(site),
        size_(static_cast<uint32_t>(program.vocab)),
        unit_(program.ops[program.op_count - 1].attr),
        rows_(UINT32_C(1) << egg_log2_up(size_)),
        at_once_(is_orthogonal() ? rows_ : std::min(rows_, site.draws)),
        limit_(egg_draw_limit(site.draws)),
        signs_(rows_, 1),
        values_(padded(rows_)),
        totals_(is_orthogonal() ? 0 : values_.size()),
        sums_(2 * size_t{at_once_}),
        logs_(2 * size_t{at_once_}) {
    for (uint32_t steps = 0; steps < exp2_.size(); ++steps)
      exp2_[steps] = egg_draw_exp2(steps, unit_, egg_log2_up(size_));
    for (uint32_t i = 0; i < EGG_LOG2_STEPS; ++i) {
      const uint64_t low = egg_log2_entry_q24(i);
      log2_[i] = low | (egg_log2_entry_q24(i + 1) - low) << 32;
    }
  }

  static uint64_t bytes(const egg_program& program) {
    const uint64_t rows = UINT64_C(1) << egg_log2_up(static_cast<uint32_t>(program.vocab));
    return sizeof(LogitDraws) + (5 * rows + 2 * padded(rows)) * sizeof(int32_t);
  }

  // logits: (vocab), a token's. key_of(draw): egg_draw_key of the token. error: (vocab).
  // Loops take bounds and arrays from local variables: a compiler must assume that their writes change members.
  template <class KeyOf>
  void error(const int8_t* logits, uint32_t target, const KeyOf& key_of, int16_t* error) {
    const int32_t moved =
        (egg_clip8(logits[target] + site_.amplitude) - egg_clip8(logits[target] - site_.amplitude)) * unit_;
    if (is_orthogonal()) {
      draw_orthogonal(logits, target, moved, key_of(0));
    } else {
      draw_independent(logits, target, moved, key_of);
    }
    const int32_t shift = site_.shift;
    const int32_t* const signs = signs_.data();
    const int32_t* const totals = is_orthogonal() ? values_.data() : totals_.data();
    for (uint32_t i = 0, size = size_; i < size; ++i) error[i] = egg_draw_error(signs[i] * totals[i], shift);
  }

 private:
  // The rows, rounded up to whole words of signs.
  static uint64_t padded(uint64_t rows) { return (rows + 31) / 32 * 32; }

  // Puts the sums of a draw's two members.
  static void put_sums(uint32_t both, int32_t delta, uint32_t& minus, uint32_t& plus) {
    minus = (both - static_cast<uint32_t>(delta)) / 2;
    plus = (both + static_cast<uint32_t>(delta)) / 2;
  }

  bool is_orthogonal() const { return site_.design == EGG_DRAWS_ORTHOGONAL; }

  void draw_orthogonal(const int8_t* logits, uint32_t target, int32_t moved, uint64_t key) {
    const uint32_t rows = rows_;
    int32_t* const signs = signs_.data();
    int32_t* const values = values_.data();
    for (uint32_t i = 0; i < rows; i += 32) {
      const uint32_t word = egg_noise_word(key, i >> 5);
      for (uint32_t j = 0; j < std::min(32U, rows - i); ++j) signs[i + j] = 1 - 2 * static_cast<int32_t>(word >> j & 1);
    }
    const uint32_t both = find_deltas(logits);
    hadamard_transform(values, rows);
    uint32_t* const sums = sums_.data();
    for (uint32_t row = 0; row < rows; ++row) put_sums(both, values[row], sums[row], sums[rows + row]);
    find_logs();
    find_differences(signs[target] * moved, target, egg_draw_offset(key));
    hadamard_transform(values, rows);
  }

  // signs_ are all 1. |T| and each error's sum stay within 2^30 (egg_draw_exp2, egg_draw_limit).
  template <class KeyOf>
  void draw_independent(const int8_t* logits, uint32_t target, int32_t moved, const KeyOf& key_of) {
    const uint32_t both = find_deltas(logits);
    std::fill(totals_.begin(), totals_.end(), 0);
    for (uint32_t first = 0; first < site_.draws; first += at_once_) {
      const uint32_t count = std::min(at_once_, site_.draws - first);
      for (uint32_t k = 0; k < count; ++k) {
        put_sums(both, signed_sum(key_of(first + k + 1)), sums_[k], sums_[at_once_ + k]);
      }
      find_logs();
      for (uint32_t k = 0; k < count; ++k) {
        const uint64_t key = key_of(first + k + 1);
        const int32_t of_target = egg_draw_bit(key, target) != 0 ? -moved : moved;
        add_signed(key, egg_clip(logs_[k] - logs_[at_once_ + k] + of_target, limit_));
      }
    }
  }

  // The sum of values_ with the signs of this key.
  int32_t signed_sum(uint64_t key) const {
    std::array<int32_t, 32> sums{};
    for (uint32_t i = 0; i < size_; i += 32)
      add_signed_word(values_.data() + i, 8, egg_noise_word(key, i >> 5), sums.data());
    return std::accumulate(sums.begin(), sums.end(), 0);
  }

  // Adds d with the signs of this key to totals_.
  void add_signed(uint64_t key, int32_t d) {
    std::array<int32_t, 8> all;
    all.fill(d);
    for (uint32_t i = 0; i < size_; i += 32)
      add_signed_word(all.data(), 0, egg_noise_word(key, i >> 5), totals_.data() + i);
  }

  // Leaves signs_ * (E+ - E-) in values_ and returns S.
  uint32_t find_deltas(const int8_t* logits) {
    int8_t largest = -127;  // compilers vectorize a loop of bytes
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

  // Leaves d of the rows that are drawn in values_, and 0 in the others. moved: of the target, in row 0.
  void find_differences(int32_t moved, uint32_t target, uint32_t offset) {
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
  uint32_t at_once_;  // draws whose losses are found together
  int32_t limit_;
  std::array<uint32_t, 256> exp2_{};           // by steps below the top
  std::array<uint64_t, EGG_LOG2_STEPS> log2_;  // an entry, and the next one less it above
  std::vector<int32_t> signs_;                 // of orthogonal draws
  std::vector<int32_t> values_;
  std::vector<int32_t> totals_;  // of independent draws
  std::vector<uint32_t> sums_;   // of members with -A, then of those with +A
  std::vector<int32_t> logs_;
};

}  // namespace eggroll

#endif
