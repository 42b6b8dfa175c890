// Compares the stand-in for Metal's half with exact arithmetic that is rounded once.
#include "half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace eggroll::metal {
namespace {

half of_bits(uint32_t bits) {
  half x;
  x.bits = static_cast<uint16_t>(bits);
  return x;
}

// The number that the bits mean by IEEE 754's definition.
double meaning(uint32_t bits) {
  const int field = static_cast<int>(bits >> 10 & 31U);
  const int digits = static_cast<int>(bits & 1023U);
  double magnitude = field == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, field - 25);
  if (field == 31) magnitude = digits == 0 ? INFINITY : NAN;
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

// The half nearest to a number, ties to even.
double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int last_place = std::max(std::ilogb(x), -14) - 10;
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(x, -last_place)), last_place);
  return std::fabs(nearest) > 65504 ? std::copysign(INFINITY, x) : nearest;
}

// Whether a half equals a number, with the same sign even if both are zero. All NaNs count as equal.
bool is(half x, double number) {
  const double own = meaning(x.bits);
  return std::isnan(number) ? std::isnan(own) : own == number && std::signbit(own) == std::signbit(number);
}

// Zeros, the smallest and largest halves, those around each power of two, infinities, NaN, and every `step`th half.
std::vector<half> sample(uint32_t step) {
  std::vector<half> halves;
  for (uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const uint32_t digits = bits & 1023U;
    if (bits % step == 0 || digits < 2 || digits == 1023) halves.push_back(of_bits(bits));
  }
  return halves;
}

TEST(Half, AllBitsMeanWhatIeeeSays) {
  for (uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const float real = of_bits(bits);
    EXPECT_TRUE(is(of_bits(bits), double{real})) << bits;
    EXPECT_TRUE(is(half(real), meaning(bits))) << bits;
  }
}

// For each two neighbouring halves: the number halfway between them, and the floats next to it.
TEST(Half, FloatsAreRoundedOnce) {
  for (uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    const double next = bits == 0x7bffU ? 65536.0 : meaning(bits + 1);
    const auto middle = static_cast<float>((meaning(bits) + next) / 2);
    for (const float x : {std::nextafter(middle, 0.0F), middle, std::nextafter(middle, 1e9F)}) {
      EXPECT_TRUE(is(half(x), rounded(double{x}))) << x;
      EXPECT_TRUE(is(half(-x), rounded(-double{x}))) << x;
    }
  }
  for (const float x : {1e-30F, 65519.996F, 65520.0F, 1e30F, INFINITY, NAN, 0.0F, -0.0F}) {
    EXPECT_TRUE(is(half(x), rounded(double{x}))) << x;
  }
}

TEST(Half, WholeNumbersAreRoundedOnce) {
  for (int32_t x = -140000; x <= 140000; ++x) ASSERT_TRUE(is(half(x), rounded(x))) << x;
  EXPECT_TRUE(is(half(std::numeric_limits<uint32_t>::max()), INFINITY));
  EXPECT_TRUE(is(half(std::numeric_limits<int64_t>::min()), -INFINITY));
}

// Differences of two halves are exact as doubles.
TEST(Half, DifferencesAreRoundedOnce) {
  const std::vector<half> halves = sample(41);
  ASSERT_GT(halves.size(), 1700U);
  for (const half a : halves) {
    for (const half b : halves) {
      const half2 both = half2(a, b) - half2(b, a);
      const double x = meaning(a.bits);
      const double y = meaning(b.bits);
      if (!is(both.x, rounded(x - y)) || !is(both.y, rounded(y - x))) ADD_FAILURE() << x << " and " << y;
    }
  }
}

// The bits 0x6400 + n are the half 1024 + n, so one subtraction makes halves of two bytes.
TEST(Half, VectorsLieAsTheirNumbersDo) {
  static_assert(sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(half4) == 8 && alignof(half4) == 8);
  const half2 two = std::bit_cast<half2>(0x64ff6403U) - half2(half(1024));
  EXPECT_EQ(float{two.x}, 3.0F);
  EXPECT_EQ(float{two.y}, 255.0F);
}

}  // namespace
}  // namespace eggroll::metal
