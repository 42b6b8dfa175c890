// Compares every function of arithmetic.h, except the loss, with its definition in exact 64-bit integers, for all
// operands if there are few enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "eggroll/noise.h"

namespace eggroll {
namespace {

constexpr int32_t kInt32Max = std::numeric_limits<int32_t>::max();

// The integer r with x in [r * unit, (r + 1) * unit).
int64_t floor_divide(int64_t x, int64_t unit) {
  const int64_t r = x / unit;
  return r * unit > x ? r - 1 : r;
}

// floor(x / 2^k), or floor(x / 2^k + 1/2).
int64_t shifted(int64_t x, int32_t k, bool nearest) {
  const int64_t unit = INT64_C(1) << k;
  return nearest ? floor_divide(2 * x + unit, 2 * unit) : floor_divide(x, unit);
}

int32_t clipped(int64_t x, int64_t limit) { return static_cast<int32_t>(std::clamp(x, -limit, limit)); }

// Small numbers, the neighbourhood of every power of two, and random ones, all with both signs.
std::vector<int32_t> operands() {
  std::set<int64_t> all;
  for (int64_t x = 0; x <= 5000; ++x) all.insert(x);
  for (int j = 0; j <= 31; ++j) {
    for (int64_t d = -3; d <= 3; ++d) all.insert((INT64_C(1) << j) + d);
    for (int64_t d = -3; d <= 3; ++d) all.insert(3 * (INT64_C(1) << j) / 2 + d);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) all.insert(static_cast<int64_t>(random() >> (33 + random() % 24)));
  std::vector<int32_t> result;
  for (const int64_t x : all) {
    if (std::abs(x) > kInt32Max) continue;
    result.push_back(static_cast<int32_t>(x));
    result.push_back(static_cast<int32_t>(-x));
  }
  result.push_back(std::numeric_limits<int32_t>::min());
  return result;
}

TEST(Rshift, FloorAndNearest) {
  for (const int32_t x : operands()) {
    for (int32_t k = 0; k <= 30; ++k) {
      ASSERT_EQ(egg_rshift(x, k, EGG_ROUND_FLOOR), shifted(x, k, false)) << x << " " << k;
      const int64_t half = k > 0 ? INT64_C(1) << (k - 1) : 0;
      if (std::abs(static_cast<int64_t>(x)) + half > kInt32Max) continue;
      ASSERT_EQ(egg_rshift(x, k, EGG_ROUND_NEAREST), shifted(x, k, true)) << x << " " << k;
    }
  }
  EXPECT_EQ(egg_rshift(-1, 1, EGG_ROUND_FLOOR), -1);
  EXPECT_EQ(egg_rshift(-1, 1, EGG_ROUND_NEAREST), 0);  // ties go up
  EXPECT_EQ(egg_rshift(-3, 1, EGG_ROUND_NEAREST), -1);
  EXPECT_EQ(egg_rshift(3, 1, EGG_ROUND_NEAREST), 2);
  EXPECT_EQ(egg_rshift(-7, 0, EGG_ROUND_NEAREST), -7);
}

TEST(Clip, IsSymmetric) {
  for (const int32_t x : operands()) {
    ASSERT_EQ(egg_clip8(x), clipped(x, 127));
    ASSERT_EQ(egg_clip16(x), clipped(x, 32767));
  }
  EXPECT_EQ(egg_clip8(-128), -127);
  EXPECT_EQ(egg_clip16(-32768), -32767);
}

// ---- linear ----

TEST(Linear, QIsTheClippedShiftedProduct) {
  for (const int32_t xb : operands()) {
    if (std::abs(static_cast<int64_t>(xb)) > kInt32Max - (1 << 24)) continue;
    for (const int32_t shift : {0, 1, 4, 8, 12, 24}) {
      for (const bool nearest : {false, true}) {
        ASSERT_EQ(egg_linear_q(xb, shift, nearest), clipped(shifted(xb, shift, nearest), 32767)) << xb << " " << shift;
      }
    }
  }
}

// acc and pert of every size that fits together; the shift -EGG_LINEAR_GUARD_BITS rounds nothing away, so it shows
// what goes into the one rounding.
TEST(Linear, OutRoundsOnceAndPairsAreMirrored) {
  std::mt19937_64 random(2);
  const auto any = [&random](int bits) {
    return static_cast<int32_t>(static_cast<int64_t>(random() >> (64 - bits)) - (INT64_C(1) << (bits - 1)));
  };
  for (int i = 0; i < 200000; ++i) {
    const int32_t acc = any(1 + i % 26);
    const int32_t pert = any(1 + i / 26 % 29);
    ASSERT_EQ(egg_linear_out(acc, pert, -EGG_LINEAR_GUARD_BITS, 1) + egg_linear_out(acc, -pert, -4, 1), 32 * acc);
    ASSERT_EQ(egg_linear_out(acc, pert, -EGG_LINEAR_GUARD_BITS, 0), 16 * acc + pert);
    for (int32_t shift = 0; shift <= 20; ++shift) {
      for (const bool nearest : {false, true}) {
        const int64_t exact = INT64_C(16) * acc + pert;
        ASSERT_EQ(egg_linear_out(acc, pert, shift, nearest), shifted(exact, shift + 4, nearest))
            << acc << " " << pert << " " << shift;
      }
    }
  }
}

// One output of the whole op with realistic noise. Before the one rounding, members +1 and -1 are equally far from
// member 0. After it, the mean of the pair is within half a step of member 0.
TEST(Linear, MembersOfAPairAreSymmetricAroundTheUnperturbedOne) {
  constexpr int kWidth = 48, kSigma = 4, kFixedPoint = 4, kShift = 7;
  constexpr int kQShift = kFixedPoint + kSigma - EGG_LINEAR_GUARD_BITS;
  const NoiseTable table = noise_table(EGG_NOISE_GAUSSIAN);
  std::mt19937_64 random(3);
  bool floor_after_sign_differs = false;
  for (int trial = 0; trial < 5000; ++trial) {
    int32_t acc = 0, pert = 0;
    int32_t x[kWidth];
    for (int32_t& value : x) {
      value = static_cast<int32_t>(random() % 255) - 127;
      acc += value * (static_cast<int32_t>(random() % 255) - 127);
    }
    for (int rank = 0; rank < 3; ++rank) {
      int32_t xb = 0;
      for (const int32_t value : x) xb += value * table[random() % 256];
      const int32_t a = table[random() % 256];
      for (const bool nearest : {false, true}) {
        floor_after_sign_differs |= egg_rshift(-xb, kQShift, nearest) != -egg_rshift(xb, kQShift, nearest);
      }
      pert += egg_linear_q(xb, kQShift, 1) * a;
    }
    const int32_t zero = egg_linear_out(acc, 0, -EGG_LINEAR_GUARD_BITS, 1);
    const int32_t plus = egg_linear_out(acc, pert, -EGG_LINEAR_GUARD_BITS, 1);
    const int32_t minus = egg_linear_out(acc, -pert, -EGG_LINEAR_GUARD_BITS, 1);
    ASSERT_EQ(plus - zero, zero - minus);
    for (const bool nearest : {false, true}) {
      const int32_t sum = egg_linear_out(acc, pert, kShift, nearest) + egg_linear_out(acc, -pert, kShift, nearest);
      ASSERT_LE(std::abs(sum - 2 * egg_linear_out(acc, 0, kShift, nearest)), 2);
    }
  }
  EXPECT_TRUE(floor_after_sign_differs) << "the operands cannot tell a rounding before the sign from one after it";
}

// ---- perturbed vectors and embeddings ----

TEST(Perturbed, PairsAreMirroredUpToTheClip) {
  for (int32_t weight = -127; weight <= 127; ++weight) {
    for (int32_t ab = -46 * 46 * 4; ab <= 46 * 46 * 4; ++ab) {
      for (const int32_t shift : {0, 4, 8}) {
        for (const bool nearest : {false, true}) {
          const int64_t change = shifted(ab, shift, nearest);
          const int32_t plus = egg_perturbed(weight, ab, 1, shift, nearest);
          const int32_t minus = egg_perturbed(weight, ab, -1, shift, nearest);
          if (plus != clipped(weight + change, 127) || minus != clipped(weight - change, 127) ||
              egg_perturbed(weight, ab, 0, shift, nearest) != weight) {
            FAIL() << weight << " " << ab << " " << shift << " " << nearest;
          }
        }
      }
    }
  }
}

// ---- l1_norm ----

std::set<int32_t> products() {
  std::set<int32_t> all;
  for (int32_t x = -127; x <= 127; ++x) {
    for (int32_t gain = -127; gain <= 127; ++gain) all.insert(x * gain);
  }
  return all;
}

TEST(L1Norm, MeanIsCutAndAtLeastOne) {
  for (const int32_t n : {1, 2, 3, 64, 127, 1000, 65536}) {
    for (const int32_t sum : {0, 1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 63 * n + n / 2, 127 * n - 1, 127 * n}) {
      const int64_t mean = std::max<int64_t>(1, floor_divide(sum, n));
      EXPECT_EQ(egg_l1_mean(sum, n), mean) << sum << " / " << n;
      EXPECT_LE(mean, 127);
    }
  }
}

TEST(L1Norm, ReciprocalIsTheNearest) {
  for (int32_t m = 1; m <= 127; ++m) {
    EXPECT_EQ(egg_reciprocal(m), floor_divide(2 * 65536 + m, 2 * m)) << m;
  }
}

TEST(L1Norm, TruncateAndFloorAreExact) {
  for (const int32_t xg : products()) {
    for (int32_t m = 1; m <= 127; ++m) {
      const int64_t down = floor_divide(xg, m);
      const int64_t cut = xg < 0 ? -floor_divide(-xg, m) : down;
      for (const int32_t bias : {0, 1, -1, 64, -127, 127}) {
        for (const bool nearest : {false, true}) {  // the program's rounding must not matter
          ASSERT_EQ(egg_l1_norm(xg, m, bias, EGG_DIVIDE_FLOOR, nearest), clipped(down + bias, 127)) << xg << " " << m;
          ASSERT_EQ(egg_l1_norm(xg, m, bias, EGG_DIVIDE_TRUNCATE, nearest), clipped(cut + bias, 127)) << xg << " " << m;
        }
      }
    }
  }
}

// |y - xg / m| of the reciprocal form: the reciprocal is off by at most 1/2, hence its product, in units of 2^16, by
// 127^2 / 2^17 = 0.123 at most, 0.097 in truth; then the rounding's own 1/2, or 1 for floor. All figures times m, so
// exact.
TEST(L1Norm, ReciprocalDeviatesLittleFromTheExactQuotient) {
  double nearest_worst = 0.0, floor_high = 0.0, floor_low = 0.0;
  for (const int32_t xg : products()) {
    for (int32_t m = 1; m <= 127; ++m) {
      if (std::abs(xg) > 126 * m) {
        EXPECT_GE(std::abs(egg_l1_norm(xg, m, 0, EGG_DIVIDE_RECIPROCAL, EGG_ROUND_NEAREST)), 126);
        continue;  // the clip may bite
      }
      const int32_t nearest = egg_l1_norm(xg, m, 0, EGG_DIVIDE_RECIPROCAL, EGG_ROUND_NEAREST);
      const int32_t floored = egg_l1_norm(xg, m, 0, EGG_DIVIDE_RECIPROCAL, EGG_ROUND_FLOOR);
      nearest_worst = std::max(nearest_worst, static_cast<double>(std::abs(nearest * m - xg)) / m);
      floor_high = std::max(floor_high, static_cast<double>(floored * m - xg) / m);
      floor_low = std::max(floor_low, static_cast<double>(xg - floored * m) / m);
      ASSERT_EQ(egg_l1_norm(xg, m, 5, EGG_DIVIDE_RECIPROCAL, EGG_ROUND_NEAREST), clipped(nearest + 5, 127));
    }
  }
  RecordProperty("nearest_worst", std::to_string(nearest_worst));
  RecordProperty("floor_high", std::to_string(floor_high));
  RecordProperty("floor_low", std::to_string(floor_low));
  EXPECT_LE(nearest_worst, 0.597);
  EXPECT_LE(floor_high, 0.097);
  EXPECT_LE(floor_low, 1.097);
  EXPECT_GT(nearest_worst, 0.5);  // it is not the exact quotient rounded
}

// ---- the GRU's gates, over all their operands ----

TEST(Gru, GateIsExactAndStaysInRange) {
  for (int32_t f = -127; f <= 127; ++f) {
    for (int32_t h = -127; h <= 127; ++h) {
      const int64_t exact = floor_divide((f + 127) * h, 256);
      ASSERT_EQ(egg_gru_gate(f, h), exact) << f << " " << h;
      ASSERT_LE(std::abs(exact), 127) << f << " " << h;
    }
  }
}

TEST(Gru, MixIsExactAndStaysBetweenItsOperandsUpToTheFloor) {
  for (int32_t f = -127; f <= 127; ++f) {
    for (int32_t h = -127; h <= 127; ++h) {
      for (int32_t c = -127; c <= 127; ++c) {
        const int64_t exact = h + floor_divide((f + 127) * (c - h), 256);
        if (egg_gru_mix(f, h, c) != exact || exact < std::min(h, c) || exact > std::max(h, c)) {
          FAIL() << f << " " << h << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace eggroll
