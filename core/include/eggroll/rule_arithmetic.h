// The arithmetic of rule ops: one definition for every backend. C-style C++ so that CUDA and Metal can include it.
//
// A value has 32 bits: an int32 or a float32, as ops.h says for the op. The type is unsigned, so that integers wrap.
#ifndef EGGROLL_RULE_ARITHMETIC_H
#define EGGROLL_RULE_ARITHMETIC_H

#if !defined(__METAL_VERSION__)
#include <bit>
#include <cmath>
#endif

#include "eggroll/arithmetic.h"

EGG_FN float egg_float_of(uint32_t bits) {
#if defined(__METAL_VERSION__)
  return as_type<float>(bits);
#elif defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

EGG_FN uint32_t egg_bits_of(float x) {
#if defined(__METAL_VERSION__)
  return as_type<uint32_t>(x);
#elif defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<uint32_t>(x);
#endif
}

// Float32 arithmetic of processors. Metal's floats are not IEEE's, so its backend has its own version of this struct.
// CUDA's functions round as IEEE does and are never contracted, whatever the compiler is told.
#if !defined(__METAL_VERSION__)
#if defined(__CUDA_ARCH__)
#define EGG_F32(cuda, host) egg_bits_of(cuda)
#else
#define EGG_F32(cuda, host) egg_bits_of(host)
#endif
struct egg_float32 {
  static EGG_FN uint32_t add(uint32_t a, uint32_t b) {
    return EGG_F32(__fadd_rn(egg_float_of(a), egg_float_of(b)), egg_float_of(a) + egg_float_of(b));
  }
  static EGG_FN uint32_t subtract(uint32_t a, uint32_t b) {
    return EGG_F32(__fsub_rn(egg_float_of(a), egg_float_of(b)), egg_float_of(a) - egg_float_of(b));
  }
  static EGG_FN uint32_t multiply(uint32_t a, uint32_t b) {
    return EGG_F32(__fmul_rn(egg_float_of(a), egg_float_of(b)), egg_float_of(a) * egg_float_of(b));
  }
  static EGG_FN uint32_t divide(uint32_t a, uint32_t b) {
    // A float32 divided by 0 is a float32 too. NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    return EGG_F32(__fdiv_rn(egg_float_of(a), egg_float_of(b)), egg_float_of(a) / egg_float_of(b));
  }
  static EGG_FN uint32_t square_root(uint32_t a) {
    return EGG_F32(__fsqrt_rn(egg_float_of(a)), std::sqrt(egg_float_of(a)));
  }
  static EGG_FN uint32_t from_int32(int32_t a) { return EGG_F32(__int2float_rn(a), static_cast<float>(a)); }
  static EGG_FN bool less(uint32_t a, uint32_t b) { return egg_float_of(a) < egg_float_of(b); }
};
#undef EGG_F32
#endif

// A function for each op of EGG_RULE_ARITHMETIC; an op has up to three operands. Float32: egg_float32, or a backend's
// version of it.
template <class Float32>
struct egg_rule_arithmetic {
  static EGG_FN uint32_t iadd(uint32_t a, uint32_t b, uint32_t) { return a + b; }
  static EGG_FN uint32_t isub(uint32_t a, uint32_t b, uint32_t) { return a - b; }
  static EGG_FN uint32_t imul(uint32_t a, uint32_t b, uint32_t) { return a * b; }
  static EGG_FN uint32_t ilt(uint32_t a, uint32_t b, uint32_t) {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? 1 : 0;
  }
  static EGG_FN uint32_t fadd(uint32_t a, uint32_t b, uint32_t) { return Float32::add(a, b); }
  static EGG_FN uint32_t fsub(uint32_t a, uint32_t b, uint32_t) { return Float32::subtract(a, b); }
  static EGG_FN uint32_t fmul(uint32_t a, uint32_t b, uint32_t) { return Float32::multiply(a, b); }
  static EGG_FN uint32_t fdiv(uint32_t a, uint32_t b, uint32_t) { return Float32::divide(a, b); }
  static EGG_FN uint32_t fsqrt(uint32_t a, uint32_t, uint32_t) { return Float32::square_root(a); }
  static EGG_FN uint32_t fabs(uint32_t a, uint32_t, uint32_t) { return a & 0x7fffffffu; }
  static EGG_FN uint32_t flt(uint32_t a, uint32_t b, uint32_t) { return Float32::less(a, b) ? 1 : 0; }
  static EGG_FN uint32_t select(uint32_t a, uint32_t b, uint32_t c) { return a != 0 ? b : c; }
  static EGG_FN uint32_t to_f32(uint32_t a, uint32_t, uint32_t) { return Float32::from_int32(static_cast<int32_t>(a)); }
  static EGG_FN uint32_t trunc_i32(uint32_t a, uint32_t, uint32_t) {
    const float x = egg_float_of(a);
    const float bounded = x < -2147483648.0f ? -2147483648.0f : x;
    // 0 stands in for NaN and for numbers that are too large, without a branch: compilers vectorize that.
    const int32_t whole = static_cast<int32_t>(x < 2147483648.0f ? bounded : 0.0f);
    return static_cast<uint32_t>(x >= 2147483648.0f ? INT32_MAX : whole);
  }
};

// The value of a node. inputs has a function for each op of EGG_RULE_INPUTS.
template <class Float32, class Inputs>
EGG_FN uint32_t egg_rule_value(int32_t node_code, Inputs inputs, uint32_t a, uint32_t b, uint32_t c) {
  switch (static_cast<egg_rule_code>(node_code)) {
#define EGG_INPUT(code, name, result, operands, text) \
  case EGG_RULE_##code:                               \
    return inputs.name();
#define EGG_ARITHMETIC(code, name, result, operands, text) \
  case EGG_RULE_##code:                                    \
    return egg_rule_arithmetic<Float32>::name(a, b, c);
    EGG_RULE_INPUTS(EGG_INPUT)
    EGG_RULE_ARITHMETIC(EGG_ARITHMETIC)
#undef EGG_INPUT
#undef EGG_ARITHMETIC
    case EGG_RULE_COUNT:
      break;
  }
  return 0;
}

// The weight after it moves by delta. All deltas of 254 or more do the same, so the sum cannot overflow.
EGG_FN int32_t egg_moved(int32_t weight, int32_t delta) { return egg_clip(weight + egg_clip(delta, 254), 127); }

#endif
