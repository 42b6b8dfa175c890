// Compares the loss in Q16 bits with -log2 softmax in long double: error, exact cases, monotony.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "eggroll/arithmetic.h"

namespace eggroll {
namespace {

constexpr int32_t kVocabularies[] = {2, 3, 5, 16, 17, 27, 64, 255, 256, 257, 1000, 4096, 8192, 50257, 65535, 65536};

// The loss depends on its logits by these counts alone: counts[d] logits lie d below the largest. counts[0] > 0.
using Counts = std::vector<int64_t>;  // (255)

// by_value: the number of logits with each value, -127 first.
Counts counts_of(const Counts& by_value) {
  size_t largest = 254;
  while (by_value[largest] == 0) --largest;
  Counts counts(255, 0);
  for (size_t value = 0; value <= largest; ++value) counts[largest - value] = by_value[value];
  return counts;
}

class Loss {
 public:
  explicit Loss(int32_t unit) : unit_(unit) {
    egg_fill_loss_tables(&tables_, unit);
    for (size_t d = 0; d < 255; ++d) exact_[d] = std::exp2(-static_cast<long double>(d) * unit / 65536.0L);
  }

  const egg_loss_tables& tables() const { return tables_; }

  uint64_t sum(const Counts& counts) const {
    uint64_t sum = 0;
    for (size_t d = 0; d < 255; ++d) sum += static_cast<uint64_t>(counts[d]) * tables_.exp2_q30[d];
    return sum;
  }

  // Q16 bits of a target that lies d below the largest logit.
  int32_t q16(uint64_t sum, int32_t d) const { return egg_loss_q16(sum, 0, -d, unit_, tables_.log2_q24); }

  // Largest error in bits over the targets that the logits offer.
  long double error(const Counts& counts) const {
    const uint64_t q30 = sum(counts);
    long double exact_sum = 0.0L;
    for (size_t d = 0; d < 255; ++d) exact_sum += static_cast<long double>(counts[d]) * exact_[d];
    const long double log = std::log2(exact_sum);
    long double largest = 0.0L;
    for (int32_t d = 0; d < 255; ++d) {
      if (counts[static_cast<size_t>(d)] == 0) continue;
      const long double exact = log + static_cast<long double>(d) * unit_ / 65536.0L;
      largest = std::max(largest, std::fabs(static_cast<long double>(q16(q30, d)) / 65536.0L - exact));
    }
    return largest;
  }

  // The distance d at which the table of powers is furthest above (sign +1) or below (-1) the truth.
  size_t worst_entry(int sign) const {
    size_t worst = 0;
    long double size = -1.0L;
    for (size_t d = 0; d < 255; ++d) {
      const long double error = sign * (tables_.exp2_q30[d] - exact_[d] * 1073741824.0L);
      if (error > size) {
        size = error;
        worst = d;
      }
    }
    return worst;
  }

 private:
  int32_t unit_;
  egg_loss_tables tables_{};
  long double exact_[255] = {};
};

// Logits as the members of a population have them, and extremes: all equal, one or all but one at the far end, every
// logit but one where the table of powers errs most, evenly spread, and random ones of several widths.
std::vector<Counts> logit_sets(const Loss& loss, int32_t vocab, std::mt19937_64& random) {
  std::vector<Counts> sets;
  const auto two_levels = [&](int64_t at_largest, size_t d) {
    Counts counts(255, 0);
    counts[0] += at_largest;
    counts[d] += vocab - at_largest;
    sets.push_back(counts);
  };
  two_levels(vocab, 0);
  for (const size_t d : {size_t{1}, size_t{16}, size_t{254}, loss.worst_entry(1), loss.worst_entry(-1)}) {
    two_levels(1, d);
    two_levels(vocab - 1, d);
    two_levels((vocab + 1) / 2, d);
  }
  Counts even(255, 0);
  for (int32_t i = 0; i < vocab; ++i) ++even[static_cast<size_t>(i % 255)];
  sets.push_back(counts_of(even));
  for (const uint64_t width : {3u, 40u, 255u}) {
    Counts by_value(255, 0);
    for (int32_t i = 0; i < vocab; ++i) ++by_value[random() % width];
    sets.push_back(counts_of(by_value));
  }
  return sets;
}

// The largest error seen is 4.9e-5 bit, 1.03e-5 in vocabularies up to 256.
TEST(Loss, ErrorIsBelowTwoToTheMinus12) {
  std::mt19937_64 random(1);
  long double largest = 0.0L, largest_small = 0.0L;
  for (int32_t n = 1; n <= 256; ++n) {
    const Loss loss(65536 / n);
    for (const int32_t vocab : kVocabularies) {
      for (const Counts& counts : logit_sets(loss, vocab, random)) {
        const long double error = loss.error(counts);
        largest = std::max(largest, error);
        if (vocab <= 256) largest_small = std::max(largest_small, error);
      }
    }
  }
  RecordProperty("largest_error_bits", std::to_string(static_cast<double>(largest * 1e6L)) + "e-6");
  RecordProperty("largest_error_bits_vocab_256", std::to_string(static_cast<double>(largest_small * 1e6L)) + "e-6");
  EXPECT_LT(largest, 0x1p-12L);
  EXPECT_LT(largest, 5.1e-5L);
  EXPECT_LT(largest_small, 1.1e-5L);
}

// The error is largest with one logit on top and all others at one distance: the error of the sum, relative to the sum,
// is a mean over its terms. The largest error seen is 5.0e-5 bit for 65536 logits and 1.8e-4 for 262144; it grows with
// their number, and passes 2^-12 before 400000.
TEST(Loss, ErrorIsBelowTwoToTheMinus12AtItsWorst) {
  long double largest[2] = {};
  for (int32_t n = 1; n <= 256; ++n) {
    const Loss loss(65536 / n);
    for (size_t d = 0; d < 255; ++d) {
      for (const size_t i : {size_t{0}, size_t{1}}) {
        Counts counts(255, 0);
        counts[0] = 1;
        counts[d] += (i == 0 ? 65536 : 262144) - 1;
        largest[i] = std::max(largest[i], loss.error(counts));
      }
    }
  }
  RecordProperty("largest_error_bits_vocab_65536", std::to_string(static_cast<double>(largest[0] * 1e6L)) + "e-6");
  RecordProperty("largest_error_bits_vocab_262144", std::to_string(static_cast<double>(largest[1] * 1e6L)) + "e-6");
  EXPECT_LT(largest[0], 5.1e-5L);
  EXPECT_LT(largest[1], 0x1p-12L);
}

TEST(Loss, UniformLogitsGiveLog2OfTheVocabulary) {
  for (int32_t n = 1; n <= 256; ++n) {
    const Loss loss(65536 / n);
    for (int32_t bits = 1; bits <= 16; ++bits) {
      Counts counts(255, 0);
      counts[0] = INT64_C(1) << bits;
      EXPECT_EQ(loss.q16(loss.sum(counts), 0), bits * 65536) << n;
    }
  }
}

// Only max - target and the sum over distances matter; the place of the logits in [-127, 127] does not.
TEST(Loss, DependsOnDifferencesAlone) {
  const Loss loss(4096);
  Counts counts(255, 0);
  counts[0] = 3;
  counts[200] = 5;
  const uint64_t sum = loss.sum(counts);
  for (int32_t largest = 73; largest <= 127; ++largest) {
    EXPECT_EQ(egg_loss_q16(sum, largest, largest - 200, 4096, loss.tables().log2_q24), loss.q16(sum, 200));
  }
  EXPECT_EQ(loss.q16(sum, 200) - loss.q16(sum, 0), 200 * 4096);
}

// Raising the target's logit by one never raises the loss, and lowers it as long as another logit is as large.
TEST(Loss, FallsAsTheTargetsLogitRises) {
  std::mt19937_64 random(2);
  for (int32_t n = 1; n <= 256; ++n) {
    const Loss loss(65536 / n);
    for (const int32_t vocab : {2, 3, 27, 256, 5000}) {
      const uint64_t width = std::vector<uint64_t>{1, 9, 60, 255}[random() % 4];
      Counts others(255, 0);
      int32_t top = -127;
      for (int32_t i = 1; i < vocab; ++i) {
        const int32_t logit = static_cast<int32_t>(random() % width) - static_cast<int32_t>(width / 2);
        ++others[static_cast<size_t>(logit + 127)];
        top = std::max(top, logit);
      }
      int32_t before = 0;
      for (int32_t target = -127; target <= 127; ++target) {
        Counts logits = others;
        ++logits[static_cast<size_t>(target + 127)];
        const int32_t now = loss.q16(loss.sum(counts_of(logits)), std::max(top, target) - target);
        if (target > -127) {
          ASSERT_LE(now, before) << n << " " << vocab << " " << target;
          if (target <= top) {
            ASSERT_LT(now, before) << n << " " << vocab << " " << target;
          }
        }
        ASSERT_GE(now, 0);
        before = now;
      }
    }
  }
}

// ---- The parts ----

// Within 1.3 units of Q30: up to sixteen roundings at 2^-33 before the last one.
TEST(Exp2, NeverRisesAndStaysClose) {
  uint32_t before = egg_exp2_neg_q30(0);
  EXPECT_EQ(before, UINT32_C(1) << 30);
  long double largest = 0.0L;
  for (uint32_t x = 1; x < 33u * 65536u; ++x) {
    const uint32_t now = egg_exp2_neg_q30(x);
    ASSERT_LE(now, before) << x;
    largest = std::max(largest, std::fabs(now - std::exp2(30.0L - static_cast<long double>(x) / 65536.0L)));
    before = now;
  }
  EXPECT_LT(largest, 1.3L);
  for (uint32_t whole = 0; whole <= 30; ++whole) EXPECT_EQ(egg_exp2_neg_q30(whole << 16), UINT32_C(1) << (30 - whole));
  EXPECT_EQ(egg_exp2_neg_q30(31u << 16), 1u);  // a tie, rounded up
  EXPECT_EQ(egg_exp2_neg_q30((31u << 16) + 1), 0u);
  EXPECT_EQ(egg_exp2_neg_q30(32u << 16), 0u);
  EXPECT_EQ(egg_exp2_neg_q30(~UINT32_C(0)), 0u);
}

TEST(Log2, EntriesAreTheNearest) {
  for (uint32_t i = 0; i <= EGG_LOG2_STEPS; ++i) {
    EXPECT_EQ(egg_log2_entry_q24(i), std::llround(std::log2(1.0L + i / 256.0L) * 16777216.0L)) << i;
  }
}

// Sums from 1 to 2^64 - 1: chords lie below the logarithm by at most 2.8e-6, then one rounding to Q16.
TEST(Log2, IsMonotoneAndCloseOverAllSizes) {
  const Loss loss(4096);
  std::mt19937_64 random(3);
  std::vector<uint64_t> sums = {1, 2, 3, ~UINT64_C(0), ~UINT64_C(0) - 1};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = UINT64_C(1) << bit;
    sums.insert(sums.end(), {power, power + 1, power - (power > 1 ? 1 : 0)});
    for (int i = 0; i < 300; ++i) sums.push_back(power + random() % power);
  }
  std::sort(sums.begin(), sums.end());
  int32_t before = 0;
  long double largest = 0.0L;
  for (const uint64_t sum : sums) {
    const int32_t now = egg_log2_q16(sum, loss.tables().log2_q24);
    ASSERT_GE(now, before) << sum;
    largest = std::max(largest, std::fabs(now / 65536.0L - std::log2(static_cast<long double>(sum))));
    before = now;
  }
  EXPECT_LT(largest, 2.8e-6L + 0x1p-17L + 0x1p-23L);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(egg_log2_q16(UINT64_C(1) << bit, loss.tables().log2_q24), bit * 65536);
  }
}

}  // namespace
}  // namespace eggroll
