// reproducible_math.h: close to the truth, and the same bits wherever it is compiled.
#include "eggroll/reproducible_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

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

TEST(ExactLog, RelativeErrorIsBelow1e15) {
  long double largest = 0.0L;
  for (const double x : positives()) {
    if (x == 1.0) continue;
    const long double exact = std::log(static_cast<long double>(x));
    largest = std::max(largest, std::fabs((static_cast<long double>(reproducible_log(x)) - exact) / exact));
  }
  RecordProperty("largest_relative_error", std::to_string(static_cast<double>(largest * 1e16L)) + "e-16");
  EXPECT_LT(largest, 1e-15L);
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
TEST(ExactNormalQuantile, RelativeErrorIsBelow1e15) {
  std::vector<double> all = {0x1p-1022, 0x1p-53, 1.0 - 0x1p-53, 0.075, 0.925, std::exp(-25.0)};
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
    for (const double seam : {0.075, 0.925, std::exp(-25.0)}) {
      all.push_back(seam * (1.0 + i * 0x1p-50));
      all.push_back(seam * (1.0 - i * 0x1p-50));
    }
  }
  long double largest = 0.0L;
  for (const double p : all) {
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

TEST(ExactCosPi, AbsoluteErrorIsBelow2e16) {
  std::vector<double> all = {0x1p-1074, 0.25, std::nextafter(0.25, 1.0), 0.75, std::nextafter(0.75, 1.0)};
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) all.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
  for (int bit = 2; bit <= 53; ++bit) {
    for (const double near : {0.0, 0.5, 1.0}) {
      if (near < 1.0) all.push_back(near + std::ldexp(1.0, -bit));
      if (near > 0.0) all.push_back(near - std::ldexp(1.0, -bit));
    }
  }
  long double largest = 0.0L;
  for (const double x : all) {
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
}

struct Golden {
  double argument;
  double value;
};

constexpr Golden kLogs[] = {{0x0.0000000000001p-1022, -0x1.74385446d71c3p+9},
                            {0x1p-1022, -0x1.6232bdd7abcd2p+9},
                            {0x1.56e1fc2f8f359p-997, -0x1.5963447f87fb5p+9},
                            {0x1.b7cdfd9d7bdbbp-34, -0x1.7069e2aa2aa5ap+4},
                            {0x1.0624dd2f1a9fcp-10, -0x1.ba18a998fffap+2},
                            {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1},
                            {0x1p-1, -0x1.62e42fefa39efp-1},
                            {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},
                            {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
                            {0x1.ffffde7210be9p-1, -0x1.0c6f82d74d22fp-20},
                            {0x1.fffffffffffffp-1, -0x1p-53},
                            {0x1.0000000000001p+0, 0x1p-52},
                            {0x1.00068db8bac71p+0, 0x1.a368d0657fcd4p-14},
                            {0x1.8p+0, 0x1.9f323ecbf984cp-2},
                            {0x1p+1, 0x1.62e42fefa39efp-1},
                            {0x1.5bf0a8b145769p+1, 0x1p+0},
                            {0x1.8p+1, 0x1.193ea7aad030ap+0},
                            {0x1.4p+3, 0x1.26bb1bbb55515p+1},
                            {0x1.9p+9, 0x1.abd0adb532acfp+2},
                            {0x1p+16, 0x1.62e42fefa39efp+3},
                            {0x1.e848p+19, 0x1.ba18a998fffap+3},
                            {0x1.249ad2594c37dp+332, 0x1.cc845b54b54f1p+7},
                            {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9}};

constexpr Golden kQuantiles[] = {{0x1p-1022, -0x1.2c27b05bf1a0bp+5},
                                 {0x1.56e1fc2f8f359p-997, -0x1.286074064c26ep+5},
                                 {0x1.bff2ee48e053p-333, -0x1.546010d75521fp+4},
                                 {0x1.79ca10c924223p-67, -0x1.2865170b43a4bp+3},
                                 {0x1.c965971ea9c5cp-37, -0x1.aaba25670981fp+2},
                                 {0x1.ec94ca210599ep-37, -0x1.aa07c04a264fbp+2},
                                 {0x1.0c6f7a0b5ed8dp-20, -0x1.30381a9799f7ep+2},
                                 {0x1.0624dd2f1a9fcp-10, -0x1.8b8cbb720447p+1},
                                 {0x1.47ae147ae147bp-7, -0x1.29c5c4630ff0ep+1},
                                 {0x1.999999999999ap-6, -0x1.f5c0331eeff83p+0},
                                 {0x1.333330840156fp-4, -0x1.7085239ca7e77p+0},
                                 {0x1.3333333333333p-4, -0x1.7085226d3e523p+0},
                                 {0x1.33334e0b25cdfp-4, -0x1.708516931eed3p+0},
                                 {0x1.999999999999ap-4, -0x1.4813c36e26d34p+0},
                                 {0x1p-2, -0x1.5956b87528a49p-1},
                                 {0x1.999999999999ap-2, -0x1.036d6c4a04b5ap-2},
                                 {0x1.ffffbce4217d3p-2, -0x1.506f1779a5abep-19},
                                 {0x1.0000035afe535p-1, 0x1.0d25ac5f0e9c9p-22},
                                 {0x1.3333333333333p-1, 0x1.036d6c4a04b5ap-2},
                                 {0x1.8p-1, 0x1.5956b87528a49p-1},
                                 {0x1.ccccccccccccdp-1, 0x1.4813c36e26d34p+0},
                                 {0x1.d99999999999ap-1, 0x1.7085226d3e524p+0},
                                 {0x1.d99999ef7fd52p-1, 0x1.7085239ca7e77p+0},
                                 {0x1.e666666666666p-1, 0x1.a515209676ab8p+0},
                                 {0x1.f333333333333p-1, 0x1.f5c0331eeff82p+0},
                                 {0x1.fae147ae147aep-1, 0x1.29c5c4630ff0cp+1},
                                 {0x1.fd70a3d70a3d7p-1, 0x1.49b4c64d6915fp+1},
                                 {0x1.ff7ced916872bp-1, 0x1.8b8cbb720447p+1},
                                 {0x1.fffeb074a771dp-1, 0x1.10f3f8843a85p+2},
                                 {0x1.fffffffffffffp-1, 0x1.06b48528cea51p+3}};

constexpr Golden kCosines[] = {{0x1p-30, 0x1p+0},
                               {0x1.0624dd2f1a9fcp-10, 0x1.ffff5a6a681ffp-1},
                               {0x1.999999999999ap-4, 0x1.e6f0e134454ffp-1},
                               {0x1.999999999999ap-3, 0x1.9e3779b97f4a8p-1},
                               {0x1p-2, 0x1.6a09e667f3bcdp-1},
                               {0x1.0000000000002p-2, 0x1.6a09e667f3bcap-1},
                               {0x1.5555555555555p-2, 0x1p-1},
                               {0x1.999999999999ap-2, 0x1.3c6ef372fe94ep-2},
                               {0x1.fef9db22d0e56p-2, 0x1.9bc62f04cce0ep-9},
                               {0x1.00000055e63b9p-1, -0x1.0ddc5a780c408p-25},
                               {0x1.3333333333333p-1, -0x1.3c6ef372fe94ep-2},
                               {0x1.8p-1, -0x1.6a09e667f3bcdp-1},
                               {0x1.ccccccccccccdp-1, -0x1.e6f0e134455p-1},
                               {0x1.ff7ced916872bp-1, -0x1.ffff5a6a681ffp-1}};

constexpr double kPowerBase = 0.999;
constexpr Golden kPowers[] = {
    {1.0, 0x1.ff7ced916872bp-1},  {2, 0x1.fef9fcb0c026dp-1},     {3, 0x1.fe772d5570166p-1},
    {10, 0x1.fae7299c256e4p-1},   {100, 0x1.cf40ea930fdfcp-1},   {999, 0x1.78e5a293b3421p-2},
    {1000, 0x1.788526411edacp-2}, {12345, 0x1.22391fb9458bp-18}, {500000, 0x1.3955edea10dd8p-722}};

constexpr Golden kExponentials[] = {{-0x1.5ep+9, 0x1.14f2b0fb9307fp-1010},
                                    {-0x1.2p+5, 0x1.0b6c3afdde064p-52},
                                    {-0x1p+0, 0x1.78b56362cef38p-2},
                                    {-0x1p-30, 0x1.fffffff8p-1},
                                    {0x0p+0, 0x1p+0},
                                    {0x1.62e42fefa39efp-2, 0x1.6a09e667f3bccp+0},
                                    {0x1p-1, 0x1.a61298e1e069cp+0},
                                    {0x1p+0, 0x1.5bf0a8b14576ap+1},
                                    {0x1.26bb1bbb55516p+3, 0x1.3880000000005p+13},
                                    {0x1.6p+6, 0x1.f1056dc7bf22dp+126},
                                    {0x1.5ep+9, 0x1.d945df4f8ec8ep+1009}};

constexpr Golden kErrorFunctions[] = {{-0x1.8p+2, -0x1p+0},
                                      {-0x1.7fef9db22d0e5p+2, -0x1.0000000000002p+0},
                                      {-0x1.6a09e667f3bcdp-1, -0x1.5d897a241a6fcp-1},
                                      {0x1p-40, 0x1.20dd750429b6dp-40},
                                      {0x1.999999999999ap-4, 0x1.cca5ea24fb333p-4},
                                      {0x1p-1, 0x1.0a7ef5c18edd2p-1},
                                      {0x1p+0, 0x1.af767a741088cp-1},
                                      {0x1p+1, 0x1.fd9ae142795e2p-1},
                                      {0x1.cp+1, 0x1.ffffe710d565dp-1},
                                      {0x1.4p+2, 0x1.fffffffffc9e3p-1}};

constexpr Golden kCosinesOfAngles[] = {{0x0p+0, 0x1p+0},
                                       {0x1p-30, 0x1p+0},
                                       {0x1p-1, 0x1.c1528065b7d5p-1},
                                       {0x1p+0, 0x1.14a280fb5068bp-1},
                                       {0x1.921fb54442d18p+0, 0x0p+0},
                                       {0x1p+1, -0x1.aa22657537206p-2},
                                       {0x1.921fb54442d18p+1, -0x1p+0},
                                       {0x1.6p+4, -0x1.fffadd8d4acdap-1},
                                       {0x1.ffp+8, -0x1.e2ffc96b2b71dp-2},
                                       {0x1.fffep+15, 0x1.89eba92be4e59p-3}};

constexpr Golden kSinesOfAngles[] = {{0x0p+0, 0x0p+0},
                                     {0x1p-30, 0x1.000000e4db24cp-30},
                                     {0x1p-1, 0x1.eaee8744b05f2p-2},
                                     {0x1p+0, 0x1.aed548f090ceep-1},
                                     {0x1.921fb54442d18p+0, 0x1p+0},
                                     {0x1p+1, 0x1.d18f6ead1b446p-1},
                                     {0x1.921fb54442d18p+1, 0x0p+0},
                                     {0x1.6p+4, -0x1.220a29f6ebc3bp-7},
                                     {0x1.ffp+8, 0x1.c37768f3b23d8p-1},
                                     {0x1.fffep+15, 0x1.f67090db2006ap-1}};

// These tests compare bits, not values: other compilers, flags and machines must give the same bits.
TEST(ExactLog, GoldenBits) {
  for (const Golden& golden : kLogs) EXPECT_EQ(reproducible_log(golden.argument), golden.value) << golden.argument;
}

TEST(ExactCosPi, GoldenBits) {
  for (const Golden& golden : kCosines)
    EXPECT_EQ(reproducible_cos_pi(golden.argument), golden.value) << golden.argument;
}

TEST(ExactPower, GoldenBits) {
  for (const Golden& golden : kPowers) {
    EXPECT_EQ(reproducible_power(kPowerBase, static_cast<uint64_t>(golden.argument)), golden.value) << golden.argument;
  }
}

TEST(ExactNormalQuantile, GoldenBits) {
  for (const Golden& golden : kQuantiles) {
    EXPECT_EQ(reproducible_normal_quantile(golden.argument), golden.value) << golden.argument;
  }
}

TEST(ExactExp, GoldenBits) {
  for (const Golden& golden : kExponentials)
    EXPECT_EQ(reproducible_exp(golden.argument), golden.value) << golden.argument;
}

TEST(ExactErf, GoldenBits) {
  for (const Golden& golden : kErrorFunctions)
    EXPECT_EQ(reproducible_erf(golden.argument), golden.value) << golden.argument;
}

TEST(ExactSine, GoldenBits) {
  for (const Golden& golden : kCosinesOfAngles)
    EXPECT_EQ(reproducible_cos(golden.argument), golden.value) << golden.argument;
  for (const Golden& golden : kSinesOfAngles)
    EXPECT_EQ(reproducible_sin(golden.argument), golden.value) << golden.argument;
}

}  // namespace
}  // namespace eggroll
