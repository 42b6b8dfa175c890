// The stand-in for Metal's half against exact arithmetic, rounded once.
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

// What the bits mean, from the definition.
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

// Whether a half is a number, zeros with their sign; all NaNs count as equal.
bool is(half x, double number) {
  const double own = meaning(x.bits);
  return std::isnan(number) ? std::isnan(own) : own == number && std::signbit(own) == std::signbit(number);
}

// Zeros, the smallest and largest numbers, those around each power of two, infinities, NaN, and every `step`th.
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

// Between each two neighbours: halfway, and the floats next to that.
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

// Sums and products of two halves are exact as doubles.
TEST(Half, SumsDifferencesAndProductsAreRoundedOnce) {
  const std::vector<half> halves = sample(41);
  ASSERT_GT(halves.size(), 1700U);
  for (const half a : halves) {
    for (const half b : halves) {
      const double x = meaning(a.bits);
      const double y = meaning(b.bits);
      const bool right = is(a + b, rounded(x + y)) && is(a - b, rounded(x - y)) && is(a * b, rounded(x * y));
      if (!right) ADD_FAILURE() << x << " and " << y;
    }
  }
}

// A quotient that a half cannot hold differs from a tie by more than a double's rounding.
TEST(Half, QuotientsAreRoundedOnce) {
  const std::vector<half> halves = sample(83);
  for (const half a : halves) {
    for (const half b : halves) {
      const double quotient = meaning(a.bits) / meaning(b.bits);
      if (!is(a / b, rounded(quotient))) ADD_FAILURE() << meaning(a.bits) << " and " << meaning(b.bits);
    }
  }
}

TEST(Half, ComparesAsItsNumbersDo) {
  const std::vector<half> halves = sample(83);
  for (const half a : halves) {
    for (const half b : halves) {
      const double x = meaning(a.bits);
      const double y = meaning(b.bits);
      const bool right = (a < b) == (x < y) && (a == b) == (x == y) && (a >= b) == (x >= y) && (a != b) == (x != y);
      if (!right) ADD_FAILURE() << x << " and " << y;
    }
  }
}

// Halves are multiples of 2^-24, and their products of 2^-48: whole numbers of at most 81 bits.
__extension__ using Whole = __int128;

// A whole number of 2^-48 as the nearest half, ties to even.
double rounded_whole(Whole x) {
  const bool negative = x < 0;
  Whole magnitude = negative ? -x : x;
  int last_place = 24;  // of 2^-48: the last place of the smallest halves
  while (magnitude >> last_place >= 2048) ++last_place;
  const Whole kept = magnitude >> last_place;
  const Whole rest = magnitude - (kept << last_place);
  const Whole tie = Whole{1} << (last_place - 1);
  const bool up = rest > tie || (rest == tie && kept % 2 != 0);
  const double nearest = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), last_place - 48);
  return (negative ? -1 : 1) * (nearest > 65504 ? INFINITY : nearest);
}

TEST(Half, FusedSumsAreRoundedOnce) {
  const auto whole = [](half x) { return static_cast<Whole>(std::ldexp(meaning(x.bits), 24)); };
  std::vector<half> halves;
  for (const half x : sample(1013)) {
    if ((x.bits & 0x7c00U) != 0x7c00U) halves.push_back(x);
  }
  ASSERT_GT(halves.size(), 200U);
  uint32_t zeros = 0;
  for (const half a : halves) {
    for (const half b : halves) {
      for (const half c : halves) {
        const Whole exact = whole(a) * whole(b) + (whole(c) << 24);
        const half fused = ::metal::fma(a, b, c);
        if (exact == 0) ++zeros;
        if (meaning(fused.bits) != rounded_whole(exact)) {
          ADD_FAILURE() << meaning(a.bits) << " * " << meaning(b.bits) << " + " << meaning(c.bits);
        }
      }
    }
  }
  EXPECT_GT(zeros, 0U);
  EXPECT_TRUE(std::isnan(float{::metal::fma(half(INFINITY), half(0), half(1))}));
}

TEST(Half, VectorsWorkNumberByNumber) {
  const half4 a(half2(half(1), half(2)), half2(half(3), half(4)));
  const half4 b(half(10));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(float{(a + b)[i]}, static_cast<float>(11 + i));
    EXPECT_EQ(float{(b - a)[i]}, static_cast<float>(9 - i));
    EXPECT_EQ(float{(a * half(3))[i]}, static_cast<float>(3 * (i + 1)));
    EXPECT_EQ(float{::metal::fma(a, b, a)[i]}, static_cast<float>(11 * (i + 1)));
  }
  EXPECT_EQ(float{(half(5) - half2(half(1), half(2)))[1]}, 3.0F);
  EXPECT_EQ(float{a.x * 3 + 1}, 4.0F);
  static_assert(sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(half4) == 8 && alignof(half4) == 8);
  // 1024 + n is the half 0x6400 + n: two bytes as halves at once.
  const half2 two = std::bit_cast<half2>(0x64ff6403U) - half2(half(1024));
  EXPECT_EQ(float{two.x}, 3.0F);
  EXPECT_EQ(float{two.y}, 255.0F);
}

}  // namespace
}  // namespace eggroll::metal
