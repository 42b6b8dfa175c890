// The parts of Metal's half and its vectors that the kernels use: IEEE binary16, rounded once, to the nearest, ties to
// even. A half converts to a float implicitly and exactly; a float converts to a half explicitly. The names that
// clang-tidy must not check are Metal's.
#ifndef EGGROLL_TESTS_METAL_HALF_H
#define EGGROLL_TESTS_METAL_HALF_H

#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>

constexpr uint16_t half_bits(float real) {
  const uint32_t bits = std::bit_cast<uint32_t>(real);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t sign = bits >> 16 & 0x8000U;
  if (magnitude >= 0x477ff000U) return static_cast<uint16_t>(sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U));
  // Below 2^-14 the last place is 2^-24: adding 0.5 lets the float32's own rounding find it.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const uint32_t normal = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  return static_cast<uint16_t>(sign | (magnitude < 0x38800000U ? small : normal));
}
constexpr float half_value(uint16_t bits) {
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fffU) << 13;
  const float real = magnitude < 0x0f800000U ? std::bit_cast<float>(magnitude) * 0x1p112F
                                             : std::bit_cast<float>(magnitude + 0x70000000U);  // infinity or NaN
  return (bits & 0x8000U) != 0 ? -real : real;
}
struct HalvesOfBytes {
  constexpr HalvesOfBytes() {
    for (int i = 0; i < 256; ++i) at[i] = half_bits(static_cast<float>(i - 128));
  }
  uint16_t at[256];
};
inline constexpr HalvesOfBytes kHalvesOfBytes;

struct half {  // NOLINT(readability-identifier-naming)
  half() = default;
  explicit half(float x) : bits(half_bits(x)) {}
  // Whole numbers that a float32 rounds are infinities.
  template <std::integral T>
  explicit half(T x)
      : bits(std::in_range<int8_t>(x) ? kHalvesOfBytes.at[static_cast<int>(x) + 128]
                                      : half_bits(static_cast<float>(x))) {}
  operator float() const { return half_value(bits); }
  uint16_t bits;
};

// Metal's alignment is the vector's size.
struct alignas(4) half2 {  // NOLINT(readability-identifier-naming)
  half2() = default;
  explicit half2(half all) : half2(all, all) {}
  half2(half x_, half y_) : x(x_), y(y_) {}
  half x;
  half y;
};
struct alignas(8) half4 {  // NOLINT(readability-identifier-naming)
  half x;
  half y;
  half z;
  half w;
};

// A float32 has 24 digits, two more than two halves together: rounding to it first changes no difference.
inline half2 operator-(half2 a, half2 b) { return {half(float{a.x} - float{b.x}), half(float{a.y} - float{b.y})}; }

#endif
