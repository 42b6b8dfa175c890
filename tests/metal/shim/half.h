// Metal's half and its vectors: IEEE binary16, each operation rounded once, to the nearest, ties to even. Where
// clang-tidy is told to let a name be, the name is Metal's.
//
// A half turns into a float by itself, which is exact, and so do comparisons and operations with floats. The way back
// is written out. An operation with a whole number is one of halves, as in Metal.
#ifndef EGGROLL_TESTS_METAL_HALF_H
#define EGGROLL_TESTS_METAL_HALF_H

#include <bit>
#include <cmath>
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

// A float32 has 24 digits, two more than two halves together: rounding to it first changes no sum, difference or
// quotient, and products are exact.
inline half operator+(half a, half b) { return half(float{a} + float{b}); }
inline half operator-(half a, half b) { return half(float{a} - float{b}); }
inline half operator*(half a, half b) { return half(float{a} * float{b}); }
inline half operator/(half a, half b) { return half(float{a} / float{b}); }
#define EGG_HALF_OPERATION(op)                                                   \
  inline half operator op(half a, std::integral auto b) { return a op half(b); } \
  inline half operator op(std::integral auto a, half b) { return half(a) op b; } \
  inline half& operator op##=(half& a, half b) { return a = a op b; }
EGG_HALF_OPERATION(+)
EGG_HALF_OPERATION(-)
EGG_HALF_OPERATION(*)
EGG_HALF_OPERATION(/)
#undef EGG_HALF_OPERATION
inline half operator-(half a) {
  a.bits ^= 0x8000U;
  return a;
}

// Metal's alignment is the vector's size.
struct alignas(4) half2 {  // NOLINT(readability-identifier-naming)
  half2() = default;
  explicit half2(half all) : half2(all, all) {}
  half2(half x_, half y_) : x(x_), y(y_) {}
  half& operator[](int i) { return i == 0 ? x : y; }
  half operator[](int i) const { return i == 0 ? x : y; }
  half x;
  half y;
};
struct alignas(8) half4 {  // NOLINT(readability-identifier-naming)
  half4() = default;
  explicit half4(half all) : half4(all, all, all, all) {}
  half4(half2 low, half2 high) : half4(low.x, low.y, high.x, high.y) {}
  half4(half x_, half y_, half z_, half w_) : x(x_), y(y_), z(z_), w(w_) {}
  half& operator[](int i) { return i < 2 ? (i == 0 ? x : y) : (i == 2 ? z : w); }
  half operator[](int i) const { return i < 2 ? (i == 0 ? x : y) : (i == 2 ? z : w); }
  half x;
  half y;
  half z;
  half w;
};

#define EGG_VECTOR_OPERATION(op)                                                                          \
  inline half2 operator op(half2 a, half2 b) { return {a.x op b.x, a.y op b.y}; }                         \
  inline half2 operator op(half2 a, half b) { return a op half2(b); }                                     \
  inline half2 operator op(half a, half2 b) { return half2(a) op b; }                                     \
  inline half4 operator op(half4 a, half4 b) { return {a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w}; } \
  inline half4 operator op(half4 a, half b) { return a op half4(b); }                                     \
  inline half4 operator op(half a, half4 b) { return half4(a) op b; }
EGG_VECTOR_OPERATION(+)
EGG_VECTOR_OPERATION(-)
EGG_VECTOR_OPERATION(*)
#undef EGG_VECTOR_OPERATION

namespace metal {

// a * b + c, rounded once. The product is exact as a double. So is the sum, unless the product is too small beside c to
// matter. A float32 may round it to a tie between halves: then its last digit is made odd, which says on which side of
// the tie the sum was.
inline half fma(half a, half b, half c) {
  const double sum = double{a} * double{b} + double{c};
  const auto real = static_cast<float>(sum);
  const uint32_t bits = std::bit_cast<uint32_t>(real);
  if (!std::isfinite(sum) || double{real} == sum || bits % 2 != 0) return half(real);
  return half(std::bit_cast<float>(bits + ((double{real} < sum) == (sum > 0) ? 1U : ~0U)));
}
inline half2 fma(half2 a, half2 b, half2 c) { return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)}; }
inline half4 fma(half4 a, half4 b, half4 c) {
  return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)};
}
using std::fma;

}  // namespace metal

#endif
