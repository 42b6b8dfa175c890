// reproducible_math.h: close to the truth, and the same bits wherever it is compiled.
#include "eggroll/reproducible_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "system/files.h"

namespace eggroll {
namespace {

// Every size of positive double, and the neighbourhoods of 1 and of the halving point sqrt(1/2).
std::vector<double> positives() {
  std::vector<double> all = {0x1p-1074, 0x1.fffffffffffffp-1023, 0x1p-1022, 0x1.fffffffffffffp1023};
  std::mt19937_64 random(1);
  for (int exponent = -1070; exponent <= 1023; ++exponent) {
    for (int i = 0; i < 20; ++i)
      all.push_back(std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, exponent));
  }
  for (int i = 0; i < 50000; ++i) all.push_back(0.5 + static_cast<double>(random() >> 11) * 0x1p-52);
  for (int bit = 1; bit <= 52; ++bit) {
    all.push_back(1.0 + std::ldexp(1.0, -bit));
    all.push_back(1.0 - std::ldexp(1.0, -bit - 1));
  }
  double below = std::sqrt(0.5);
  double above = below;
  for (int i = 0; i < 20; ++i) {
    all.insert(all.end(), {below, above});
    below = std::nextafter(below, 0.0);
    above = std::nextafter(above, 1.0);
  }
  return all;
}

// Doubles over [low, high], as dense near 0 as elsewhere relative to their size.
std::vector<double> between(double low, double high, int count) {
  std::vector<double> all = {low, high};
  std::mt19937_64 random(3);
  for (int i = 0; i < count; ++i) {
    const double x = low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    all.insert(all.end(), {x, std::ldexp(x, -static_cast<int>(random() % 40))});
  }
  return all;
}

template <class Approximation, class Truth>
long double largest_relative_error(const std::vector<double>& arguments, Approximation approximation, Truth truth) {
  long double largest = 0.0L;
  for (const double x : arguments) {
    const long double exact = truth(static_cast<long double>(x));
    if (exact == 0.0L) continue;
    largest = std::max(largest, std::fabs((static_cast<long double>(approximation(x)) - exact) / exact));
  }
  testing::Test::RecordProperty("largest_relative_error",
                                std::to_string(static_cast<double>(largest * 1e16L)) + "e-16");
  return largest;
}

TEST(ExactLog, RelativeErrorIsBelow1e15) {
  const auto truth = [](long double x) { return std::log(x); };
  EXPECT_LT(largest_relative_error(positives(), reproducible_log, truth), 1e-15L);
  EXPECT_EQ(reproducible_log(1.0), 0.0);
}

TEST(ExactLog, RisesOverSchedulesArguments) {
  double before = reproducible_log(1.0);
  for (int i = 2; i < 200000; ++i) {
    const double now = reproducible_log(i);
    ASSERT_GT(now, before) << i;
    before = now;
  }
}

constexpr long double kPi = 3.14159265358979323846264338327950288L;

// The relative error of a quantile is Newton's next step in long double, from the tail's area or the area next to 1/2,
// whichever is the smaller.
long double quantile_error(double p) {
  const long double q = std::fabs(static_cast<long double>(p) - 0.5L);
  const long double x = std::fabs(static_cast<long double>(reproducible_normal_quantile(p)));
  const long double root = std::sqrt(2.0L);
  const long double off =
      q < 0.25L ? std::erf(x / root) / 2.0L - q : std::min<long double>(p, 1.0L - p) - std::erfc(x / root) / 2.0L;
  return std::fabs(off * std::sqrt(2.0L * kPi) * std::exp(x * x / 2.0L) / x);
}

// Below 0.5 down to the smallest normal double, and above it as far as doubles reach; at the seams of the three ranges,
// |p - 1/2| = 0.425 and sqrt(-ln p) = 5, and around p = 1/2.
std::vector<double> probabilities() {
  constexpr double kTail = 0x1.e8a37a45fc32ep-37;  // exp(-25)
  std::vector<double> all = {0x1p-1022, 0x1p-53, 1.0 - 0x1p-53, 0.075, 0.925, kTail};
  std::mt19937_64 random(2);
  for (int i = 0; i < 50000; ++i) all.push_back((static_cast<double>(random() >> 12) + 0.5) * 0x1p-52);
  for (int exponent = -1021; exponent <= -2; ++exponent) {
    for (int i = 0; i < 10; ++i) {
      all.push_back(std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, exponent));
      if (exponent > -50) all.push_back(1.0 - all.back());
    }
  }
  for (int bit = 2; bit <= 52; ++bit) all.push_back(0.5 + std::ldexp(bit % 2 == 0 ? 1.0 : -1.0, -bit));
  for (int i = 1; i <= 100; ++i) {
    for (const double seam : {0.075, 0.925, kTail}) {
      all.push_back(seam * (1.0 + i * 0x1p-50));
      all.push_back(seam * (1.0 - i * 0x1p-50));
    }
  }
  return all;
}

TEST(ExactNormalQuantile, RelativeErrorIsBelow1e15) {
  long double largest = 0.0L;
  for (const double p : probabilities()) {
    if (p != 0.5) largest = std::max(largest, quantile_error(p));
  }
  RecordProperty("largest_relative_error", std::to_string(static_cast<double>(largest * 1e16L)) + "e-16");
  EXPECT_LT(largest, 1e-15L);
  EXPECT_EQ(reproducible_normal_quantile(0.5), 0.0);
}

TEST(ExactNormalQuantile, IsOdd) {
  for (int i = 1; i < 4096; ++i) {
    const double p = i / 8192.0;  // 1 - p is exact
    EXPECT_EQ(reproducible_normal_quantile(1.0 - p), -reproducible_normal_quantile(p)) << p;
  }
}

// From 0 to 1, around both ends and the half.
std::vector<double> from_zero_to_one() {
  std::vector<double> all = {0x1p-1074, 0.25, std::nextafter(0.25, 1.0), 0.75, std::nextafter(0.75, 1.0)};
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) all.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
  for (int bit = 2; bit <= 53; ++bit) {
    for (const double near : {0.0, 0.5, 1.0}) {
      if (near < 1.0) all.push_back(near + std::ldexp(1.0, -bit));
      if (near > 0.0) all.push_back(near - std::ldexp(1.0, -bit));
    }
  }
  return all;
}

TEST(ExactCosPi, AbsoluteErrorIsBelow2e16) {
  long double largest = 0.0L;
  for (const double x : from_zero_to_one()) {
    const long double exact = std::cos(kPi * static_cast<long double>(x));
    largest = std::max(largest, std::fabs(static_cast<long double>(reproducible_cos_pi(x)) - exact));
  }
  RecordProperty("largest_absolute_error", std::to_string(static_cast<double>(largest * 1e16L)) + "e-16");
  EXPECT_LT(largest, 2e-16L);
  EXPECT_EQ(reproducible_cos_pi(0.0), 1.0);
  EXPECT_EQ(reproducible_cos_pi(0.5), 0.0);
  EXPECT_EQ(reproducible_cos_pi(1.0), -1.0);
}

TEST(ExactCosPi, IsOddAboutOneHalf) {
  for (int i = 0; i <= 8192; ++i) {
    const double x = i / 8192.0;  // 1 - x is exact
    EXPECT_EQ(reproducible_cos_pi(1.0 - x), -reproducible_cos_pi(x)) << x;
  }
}

TEST(ExactCosPi, NeverRises) {
  double before = 1.0;
  for (int i = 1; i <= 200000; ++i) {
    const double now = reproducible_cos_pi(i / 200000.0);
    ASSERT_LE(now, before) << i;
    before = now;
  }
}

// Decays of optimizers, over as many steps as keep the power normal.
TEST(ExactPower, RelativeErrorGrowsWithTheExponentAlone) {
  std::mt19937_64 random(4);
  long double largest = 0.0L;
  for (int i = 0; i < 50000; ++i) {
    const double x =
        1.0 - std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, -static_cast<int>(2 + random() % 18));
    const auto most = static_cast<uint64_t>(-700.0 / std::log(x));
    const uint64_t n = 1 + random() % most;
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(n));
    const long double error = std::fabs((static_cast<long double>(reproducible_power(x, n)) - exact) / exact);
    largest = std::max(largest, error / static_cast<long double>(n));
  }
  RecordProperty("largest_relative_error_by_exponent", std::to_string(static_cast<double>(largest * 1e16L)) + "e-16");
  EXPECT_LT(largest, 1.2e-16L);
  for (const double x : {0.0, 0.5, 1.0}) {
    EXPECT_EQ(reproducible_power(x, 0), 1.0);
    EXPECT_EQ(reproducible_power(x, 1), x);
    EXPECT_EQ(reproducible_power(x, 10), x == 0.5 ? 0x1p-10 : x);
  }
  EXPECT_EQ(reproducible_power(0.9, uint64_t{1} << 40), 0.0);
}

TEST(ExactExp, RelativeErrorIsBelow4e16) {
  const auto truth = [](long double x) { return std::exp(x); };
  EXPECT_LT(largest_relative_error(between(-700.0, 700.0, 100000), reproducible_exp, truth), 4e-16L);
  EXPECT_LT(largest_relative_error(between(-1.0, 1.0, 100000), reproducible_exp, truth), 4e-16L);
  EXPECT_EQ(reproducible_exp(0.0), 1.0);
}

TEST(ExactErf, RelativeErrorIsBelow1e14) {
  const auto truth = [](long double x) { return std::erf(x); };
  EXPECT_LT(largest_relative_error(between(-6.5, 6.5, 50000), reproducible_erf, truth), 1e-14L);
  EXPECT_EQ(reproducible_erf(0.0), 0.0);
  for (const double x : {0.1, 1.0, 3.0, 5.9, 6.0, 100.0}) EXPECT_EQ(reproducible_erf(-x), -reproducible_erf(x)) << x;
  EXPECT_EQ(reproducible_erf(6.0), 1.0);
  EXPECT_EQ(reproducible_erf(89.0), 1.0);
}

TEST(ExactSine, AbsoluteErrorGrowsWithTheAngleAsStated) {
  long double cosine = 0.0L;
  long double sine = 0.0L;
  for (const double x : between(0.0, 0x1p20, 200000)) {
    const auto exact = static_cast<long double>(x);
    cosine = std::max(cosine, std::fabs(reproducible_cos(x) - std::cos(exact)) / (1.0L + exact));
    sine = std::max(sine, std::fabs(reproducible_sin(x) - std::sin(exact)) / (1.0L + exact));
  }
  EXPECT_LT(cosine, 4e-16L);
  EXPECT_LT(sine, 4e-16L);
  EXPECT_EQ(reproducible_cos(0.0), 1.0);
  EXPECT_EQ(reproducible_sin(0.0), 0.0);
  const auto pi = static_cast<double>(kPi);
  EXPECT_EQ(reproducible_cos(pi / 2.0), 0.0);
  EXPECT_EQ(reproducible_sin(pi / 2.0), 1.0);
  EXPECT_EQ(reproducible_cos(pi), -1.0);
  EXPECT_EQ(reproducible_sin(pi), 0.0);
}

// The bits of a function's values, which other compilers, flags and machines must give as well.
struct GoldenBits {
  const char* name;
  std::function<double(double)> function;
  std::vector<double> arguments;
  std::string sha256;
};

TEST(ReproducibleMath, GoldenBits) {
  std::vector<double> exponents(5000);
  std::iota(exponents.begin(), exponents.end(), 0.0);
  exponents.insert(exponents.end(), {12345.0, 500000.0});
  const auto power = [](double n) { return reproducible_power(0.999, static_cast<uint64_t>(n)); };
  for (const GoldenBits& golden : {
           GoldenBits{"log", reproducible_log, positives(),
                      "36614036384f8e71240ce6e5b66b32670f442c8ddfa947722241a96280f4a652"},
           GoldenBits{"normal_quantile", reproducible_normal_quantile, probabilities(),
                      "ca7d659356a7d9e94ea31fbb058cfb095c6e3a6dcea0ebb0d9fa1972a5d187b3"},
           GoldenBits{"cos_pi", reproducible_cos_pi, from_zero_to_one(),
                      "9bedfaff1478dd040ddc320e5328ec0c2f6f74a51ebe18e176478038e44b6dbb"},
           GoldenBits{"power", power, exponents, "618b08254f4dd96e35ac2174f5bec3852784e229546684e11ebc0b8a6e709f33"},
           GoldenBits{"exp", reproducible_exp, between(-700.0, 700.0, 20000),
                      "06e2bbb82c65676ff3e6fa8c289924b462cbcc56aa8d8a603f2809761f14abe4"},
           GoldenBits{"erf", reproducible_erf, between(-6.5, 6.5, 20000),
                      "45093052cf38e7d929a697103a1684ac08e7973d4f178c7111011d598d12c82b"},
           GoldenBits{"cos", reproducible_cos, between(0.0, 0x1p20, 20000),
                      "9f16595502b7df0168df2654e1bf2b833c5aa99a8a4450fe0dbada1d2822d0af"},
           GoldenBits{"sin", reproducible_sin, between(0.0, 0x1p20, 20000),
                      "5aeca3f6cf73a002772adbc3c2cbebc83864cc19e303e78c47f3e813ef9f1c07"},
       }) {
    Sha256 digest;
    for (const double x : golden.arguments) {
      const double value = golden.function(x);
      digest.update({reinterpret_cast<const char*>(&value), sizeof(value)});
    }
    EXPECT_EQ(digest.hex(), golden.sha256) << golden.name;
  }
}

}  // namespace
}  // namespace eggroll
