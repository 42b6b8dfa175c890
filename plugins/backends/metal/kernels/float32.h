// float32 arithmetic from integers: IEEE binary32, each result rounded once, to the nearest, ties to even. A GPU's own
// division and square root are not correctly rounded everywhere, and it may take numbers below 2^-126 for zero. Numbers
// are their bits. Every NaN that is made is the same one.
#ifndef EGGROLL_METAL_FLOAT32_H
#define EGGROLL_METAL_FLOAT32_H

#include "eggroll/arithmetic.h"

#define EGG_F32_NAN 0x7fc00000u
#define EGG_F32_INFINITY 0x7f800000u
#define EGG_F32_SIGN 0x80000000u

EGG_FN bool f32_is_nan(uint32_t x) { return (x & ~EGG_F32_SIGN) > EGG_F32_INFINITY; }
EGG_FN bool f32_is_infinite(uint32_t x) { return (x & ~EGG_F32_SIGN) == EGG_F32_INFINITY; }
EGG_FN bool f32_is_zero(uint32_t x) { return (x & ~EGG_F32_SIGN) == 0; }

// Zeros before the leading one of x != 0.
EGG_FN int32_t leading_zeros(uint32_t x) {
#if defined(__METAL_VERSION__)
  return static_cast<int32_t>(metal::clz(x));
#else
  return __builtin_clz(x);
#endif
}
EGG_FN int32_t leading_zeros(uint64_t x) {
  const uint32_t high = static_cast<uint32_t>(x >> 32);
  return high != 0 ? leading_zeros(high) : 32 + leading_zeros(static_cast<uint32_t>(x));
}

// A finite number that is not zero: digits * 2^exponent, digits in [2^23, 2^24).
struct F32Parts {
  uint64_t digits;
  int32_t exponent;
};
EGG_FN F32Parts f32_parts(uint32_t x) {
  F32Parts parts;
  const int32_t field = static_cast<int32_t>((x >> 23) & 255u);
  parts.digits = x & 0x7fffffu;
  parts.exponent = (field == 0 ? 1 : field) - 150;
  if (field != 0) {
    parts.digits |= 0x800000u;
  } else {
    const int32_t up = leading_zeros(parts.digits) - 40;
    parts.digits <<= up;
    parts.exponent -= up;
  }
  return parts;
}

// x >> by, with the lowest bit set if a one was shifted out. That is enough for rounding.
EGG_FN uint64_t shift_sticky(uint64_t x, int32_t by) {
  if (by <= 0) return x;
  if (by > 63) return x != 0 ? 1 : 0;
  return (x >> by) | ((x << (64 - by)) != 0 ? 1u : 0u);
}

// The float32 nearest to +-digits * 2^exponent. digits may end in a sticky bit, below bits that matter.
EGG_FN uint32_t f32_round(uint32_t sign, uint64_t digits, int32_t exponent) {
  if (digits == 0) return sign;
  const int32_t zeros = leading_zeros(digits);
  // The leading one at bit 62.
  digits = zeros == 0 ? shift_sticky(digits, 1) : digits << (zeros - 1);
  const int32_t field = exponent - (zeros - 1) + 62 + 127;
  if (field >= 255) return sign | EGG_F32_INFINITY;
  // 24 bits stay, fewer below 2^-126, and one more to round by.
  const uint64_t kept = shift_sticky(digits, 39 - 2 + (field > 0 ? 0 : 1 - field));
  uint32_t result = static_cast<uint32_t>(kept >> 2);
  const uint32_t rest = static_cast<uint32_t>(kept & 3u);
  if (rest > 2 || (rest == 2 && (result & 1u) != 0)) ++result;
  // The leading one adds 1 to the exponent's field, as does a carry.
  return sign | ((field > 0 ? static_cast<uint32_t>(field - 1) << 23 : 0u) + result);
}

EGG_FN uint32_t f32_from_int64(int64_t x) {
  const uint64_t magnitude = x < 0 ? UINT64_C(0) - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  return f32_round(x < 0 ? EGG_F32_SIGN : 0u, magnitude, 0);
}

EGG_FN uint32_t f32_add(uint32_t x, uint32_t y) {
  if (f32_is_nan(x) || f32_is_nan(y)) return EGG_F32_NAN;
  if (f32_is_infinite(x)) return f32_is_infinite(y) && x != y ? EGG_F32_NAN : x;
  if (f32_is_infinite(y)) return y;
  if (f32_is_zero(y)) return f32_is_zero(x) ? x & y : x;
  if (f32_is_zero(x)) return y;
  const bool larger_first = (x & ~EGG_F32_SIGN) >= (y & ~EGG_F32_SIGN);
  const uint32_t large = larger_first ? x : y;
  const uint32_t small = larger_first ? y : x;
  const F32Parts a = f32_parts(large);
  const F32Parts b = f32_parts(small);
  const uint64_t high = a.digits << 38;
  const uint64_t low = shift_sticky(b.digits << 38, a.exponent - b.exponent);
  const bool alike = ((x ^ y) & EGG_F32_SIGN) == 0;
  if (!alike && high == low) return 0;
  return f32_round(large & EGG_F32_SIGN, alike ? high + low : high - low, a.exponent - 38);
}

EGG_FN uint32_t f32_subtract(uint32_t x, uint32_t y) { return f32_add(x, y ^ EGG_F32_SIGN); }

EGG_FN uint32_t f32_multiply(uint32_t x, uint32_t y) {
  const uint32_t sign = (x ^ y) & EGG_F32_SIGN;
  if (f32_is_nan(x) || f32_is_nan(y)) return EGG_F32_NAN;
  if (f32_is_infinite(x) || f32_is_infinite(y)) {
    return f32_is_zero(x) || f32_is_zero(y) ? EGG_F32_NAN : sign | EGG_F32_INFINITY;
  }
  if (f32_is_zero(x) || f32_is_zero(y)) return sign;
  const F32Parts a = f32_parts(x);
  const F32Parts b = f32_parts(y);
  return f32_round(sign, a.digits * b.digits, a.exponent + b.exponent);
}

EGG_FN uint32_t f32_divide(uint32_t x, uint32_t y) {
  const uint32_t sign = (x ^ y) & EGG_F32_SIGN;
  if (f32_is_nan(x) || f32_is_nan(y)) return EGG_F32_NAN;
  if (f32_is_infinite(x)) return f32_is_infinite(y) ? EGG_F32_NAN : sign | EGG_F32_INFINITY;
  if (f32_is_infinite(y)) return sign;
  if (f32_is_zero(y)) return f32_is_zero(x) ? EGG_F32_NAN : sign | EGG_F32_INFINITY;
  if (f32_is_zero(x)) return sign;
  const F32Parts a = f32_parts(x);
  const F32Parts b = f32_parts(y);
  const uint64_t dividend = a.digits << 39;
  const uint64_t quotient = egg_quotient(dividend, b.digits);
  return f32_round(sign, quotient | (quotient * b.digits != dividend ? 1u : 0u), a.exponent - b.exponent - 39);
}

EGG_FN uint32_t f32_square_root(uint32_t x) {
  if (f32_is_nan(x)) return EGG_F32_NAN;
  if (f32_is_zero(x)) return x;
  if ((x & EGG_F32_SIGN) != 0) return EGG_F32_NAN;
  if (f32_is_infinite(x)) return x;
  const F32Parts parts = f32_parts(x);
  // As many digits as fit, and an even exponent.
  const int32_t up = 38 + (parts.exponent & 1);
  uint64_t rest = parts.digits << up;
  const int32_t exponent = parts.exponent - up;
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 62; bit > 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    if (fits) rest -= root + bit;
    root = (root >> 1) + (fits ? bit : 0u);
  }
  return f32_round(0, (root << 1) | (rest != 0 ? 1u : 0u), exponent / 2 - 1);
}

// 0 if either is NaN.
EGG_FN bool f32_less(uint32_t x, uint32_t y) {
  if (f32_is_nan(x) || f32_is_nan(y)) return false;
  if (f32_is_zero(x) && f32_is_zero(y)) return false;
  const bool x_negative = (x & EGG_F32_SIGN) != 0;
  const bool y_negative = (y & EGG_F32_SIGN) != 0;
  if (x_negative != y_negative) return x_negative;
  return x_negative ? y < x : x < y;
}

// Replaces rule_arithmetic.h's egg_float32.
struct Float32 {
  static EGG_FN uint32_t add(uint32_t a, uint32_t b) { return f32_add(a, b); }
  static EGG_FN uint32_t subtract(uint32_t a, uint32_t b) { return f32_subtract(a, b); }
  static EGG_FN uint32_t multiply(uint32_t a, uint32_t b) { return f32_multiply(a, b); }
  static EGG_FN uint32_t divide(uint32_t a, uint32_t b) { return f32_divide(a, b); }
  static EGG_FN uint32_t square_root(uint32_t a) { return f32_square_root(a); }
  static EGG_FN uint32_t from_int32(int32_t a) { return f32_from_int64(a); }
  static EGG_FN bool less(uint32_t a, uint32_t b) { return f32_less(a, b); }
};

#endif
