// The rule's float32 arithmetic, made of integers, against the processor's, which follows IEEE 754.
#include "kernels/float32.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "eggroll/noise.h"

namespace eggroll::metal {
namespace {

float real(uint32_t bits) { return std::bit_cast<float>(bits); }

// Equal bits; all NaNs count as equal.
bool alike(uint32_t ours, float theirs) {
  return std::isnan(theirs) ? ours == EGG_F32_NAN : ours == std::bit_cast<uint32_t>(theirs);
}

void expect_all_alike(uint32_t x, uint32_t y) {
  const float a = real(x);
  const float b = real(y);
  const bool right = alike(f32_add(x, y), a + b) && alike(f32_subtract(x, y), a - b) &&
                     alike(f32_multiply(x, y), a * b) && alike(f32_divide(x, y), a / b) &&
                     alike(f32_square_root(x), std::sqrt(a)) && f32_less(x, y) == (a < b);
  if (!right) ADD_FAILURE() << std::hexfloat << a << " and " << b;
}

// Around zero, the smallest numbers, those that lose their last places, 1, where whole numbers end, the largest;
// primes.
std::vector<uint32_t> hard_numbers() {
  std::vector<uint32_t> numbers;
  for (const uint32_t middle :
       {0U,          0x00400000U, 0x00800000U, 0x01000000U, 0x0c000000U, 0x33800000U, 0x34000000U,
        0x3f000000U, 0x3f800000U, 0x3fffffffU, 0x40490fdbU, 0x4b000000U, 0x4b800000U, 0x4f000000U,
        0x5f000000U, 0x7e800000U, 0x7f000000U, 0x7f7fffffU, 0x7f800000U, 0x7fc00000U}) {
    for (uint32_t step = 0; step < 5; ++step) {
      for (const uint32_t bits : {middle + step, middle - step}) {
        numbers.push_back(bits);
        numbers.push_back(bits ^ EGG_F32_SIGN);
      }
    }
  }
  for (const float x : {3.0F, 5.0F, 7.0F, 0.1F, 1e-41F, 3e38F, 16777217.0F, 8388609.0F}) {
    numbers.push_back(std::bit_cast<uint32_t>(x));
  }
  return numbers;
}

TEST(Float32, HardPairs) {
  const std::vector<uint32_t> numbers = hard_numbers();
  for (const uint32_t x : numbers) {
    for (const uint32_t y : numbers) expect_all_alike(x, y);
  }
}

TEST(Float32, AnyPairs) {
  const uint64_t key = egg_noise_key(1, EGG_STEP_DATA, 0, 0, 0, 0);
  for (uint32_t i = 0; i < 1000000; ++i) {
    const uint32_t x = egg_noise_word(key, 2 * i);
    const uint32_t y = egg_noise_word(key, 2 * i + 1);
    expect_all_alike(x, y);
    // Exponents close to each other, where sums cancel.
    expect_all_alike(x, (x & 0xff800000U) + ((y >> 30) << 23) + (y & 0x807fffffU));
  }
}

// Halfway between two neighbours and one off it: the products and quotients that are hardest to round.
TEST(Float32, Ties) {
  const uint64_t key = egg_noise_key(2, EGG_STEP_DATA, 0, 0, 0, 0);
  for (uint32_t i = 0; i < 100000; ++i) {
    const uint32_t small = egg_noise_word(key, i) & 0xfffU;
    const auto odd = static_cast<float>(2 * (egg_noise_word(key, i) >> 8) + 1);  // 25 bits
    const int64_t whole = 2 * static_cast<int64_t>(egg_noise_word(key, i) >> 8) + 1;
    EXPECT_TRUE(alike(f32_from_int64(whole), odd));
    expect_all_alike(std::bit_cast<uint32_t>(static_cast<float>(4097 + small)),
                     std::bit_cast<uint32_t>(static_cast<float>(4097 + 2 * small)));
    const float root = static_cast<float>(4096 + small) + 0.5F;  // squares that fit, and those next to them
    for (const int step : {-1, 0, 1}) {
      const uint32_t square = std::bit_cast<uint32_t>(root * root) + static_cast<uint32_t>(step);
      EXPECT_TRUE(alike(f32_square_root(square), std::sqrt(real(square)))) << real(square);
    }
  }
}

TEST(Float32, SquareRootsOfAllBinades) {
  for (uint64_t bits = 1; bits < 0x7f800000U; bits += 2039) {
    const auto x = static_cast<uint32_t>(bits);
    if (!alike(f32_square_root(x), std::sqrt(real(x)))) ADD_FAILURE() << real(x);
  }
}

TEST(Float32, WholeNumbers) {
  const uint64_t key = egg_noise_key(3, EGG_STEP_DATA, 0, 0, 0, 0);
  for (uint32_t i = 0; i < 200000; ++i) {
    const uint64_t bits = (static_cast<uint64_t>(egg_noise_word(key, 2 * i)) << 32) | egg_noise_word(key, 2 * i + 1);
    const auto x = static_cast<int64_t>(bits) >> (i % 64);
    if (!alike(f32_from_int64(x), static_cast<float>(x))) ADD_FAILURE() << x;
  }
  for (const int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, INT64_MIN, (int64_t{1} << 24) + 1,
                          (int64_t{1} << 25) + 2, (int64_t{1} << 25) + 6, -(int64_t{1} << 24) - 1}) {
    EXPECT_TRUE(alike(f32_from_int64(x), static_cast<float>(x))) << x;
  }
}

}  // namespace
}  // namespace eggroll::metal
