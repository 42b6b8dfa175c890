// The arithmetic of program ops: one definition for every backend. C-style C++ so that CUDA and Metal can include it.
#ifndef EGGROLL_ARITHMETIC_H
#define EGGROLL_ARITHMETIC_H

#if defined(__METAL_VERSION__)
// Metal has stdint.h's types, but not its macros.
#ifndef UINT64_C
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_C(x) x##u
#define UINT64_C(x) x##ul
#endif
#define EGG_FN inline
#elif defined(__CUDACC__)
#include <stdint.h>
#define EGG_FN __host__ __device__ inline
#else
#include <stdint.h>
#define EGG_FN inline
#endif

#include "eggroll/ops.h"

// Extra fractional bits that `linear` keeps between its product and its one rounding.
#define EGG_LINEAR_GUARD_BITS 4

EGG_FN int32_t egg_clip(int32_t x, int32_t limit) { return x < -limit ? -limit : (x > limit ? limit : x); }

EGG_FN int8_t egg_clip8(int32_t x) { return static_cast<int8_t>(egg_clip(x, 127)); }

EGG_FN int32_t egg_clip16(int32_t x) { return egg_clip(x, 32767); }

// The number that egg_rshift adds before it shifts by k, which is in [0, 30].
EGG_FN int32_t egg_rounding(int32_t k, int32_t round_nearest) { return round_nearest && k > 0 ? 1 << (k - 1) : 0; }

// Arithmetic shift right by k in [0, 30] with the program's rounding. To the nearest, |x| + 2^(k-1) must fit int32.
EGG_FN int32_t egg_rshift(int32_t x, int32_t k, int32_t round_nearest) {
  return (x + egg_rounding(k, round_nearest)) >> k;
}

// q of `linear` for one rank: xb = sum of x*B. shift is FP + sigma - EGG_LINEAR_GUARD_BITS.
EGG_FN int32_t egg_linear_q(int32_t xb, int32_t shift, int32_t round_nearest) {
  return egg_clip16(egg_rshift(xb, shift, round_nearest));
}

// `linear` before its bias: acc = sum of x*W, pert = s * sum over ranks of q*A.
EGG_FN int32_t egg_linear_out(int32_t acc, int32_t pert, int32_t shift, int32_t round_nearest) {
  return egg_rshift(acc * (1 << EGG_LINEAR_GUARD_BITS) + pert, shift + EGG_LINEAR_GUARD_BITS, round_nearest);
}

// One element of a perturbed vector, or of a perturbed embedding: ab is A*B (summed over ranks for an embedding).
EGG_FN int8_t egg_perturbed(int32_t weight, int32_t ab, int32_t sign, int32_t shift, int32_t round_nearest) {
  return egg_clip8(weight + sign * egg_rshift(ab, shift, round_nearest));
}

// Denominator of l1_norm, in [1, 127]: the mean magnitude of n values, cut towards zero.
EGG_FN int32_t egg_l1_mean(int32_t sum_abs, int32_t n) {
  const int32_t mean = sum_abs / n;
  return mean > 1 ? mean : 1;
}

// round(2^16 / m) for m in [1, 127].
EGG_FN int32_t egg_reciprocal(int32_t m) { return (65536 + m / 2) / m; }

// l1_norm of one element, xg = x * gain in [-127^2, 127^2]. division is an egg_division.
EGG_FN int8_t egg_l1_norm(int32_t xg, int32_t mean, int32_t bias, int32_t division, int32_t round_nearest) {
  int32_t y;
  if (division == 0) {
    y = egg_rshift(xg * egg_reciprocal(mean), 16, round_nearest);  // 127^2 * 2^16 < 2^31 - 2^15
  } else {
    y = xg / mean;
    if (division == 2 && y * mean > xg) --y;
  }
  return egg_clip8(y + bias);
}

// Both stay within [-127, 127] for operands there: each is a convex combination up to the floor.
EGG_FN int8_t egg_gru_gate(int32_t f, int32_t h) { return static_cast<int8_t>(((f + 127) * h) >> 8); }

EGG_FN int8_t egg_gru_mix(int32_t f, int32_t h, int32_t c) {
  return static_cast<int8_t>(h + (((f + 127) * (c - h)) >> 8));
}

// n / d of unsigned words, d >= 1. For n near 2^32, a compiler of Metal gave a quotient that was one too large (issue
// 824 of HigherOrderCO/Bend), so the quotient is checked there.
template <class Word>
EGG_FN Word egg_quotient(Word n, Word d) {
  Word quotient = n / d;
#if defined(__METAL_VERSION__)
  if (n - quotient * d >= d) --quotient;
#endif
  return quotient;
}

// n / d for d >= 1, rounded to the nearest (halves away from zero) or towards zero.
EGG_FN int32_t egg_divide(int64_t n, int64_t d, int32_t nearest) {
  const uint64_t magnitude = static_cast<uint64_t>(n < 0 ? -n : n);
  const uint64_t divisor = static_cast<uint64_t>(d);
  const int32_t quotient = static_cast<int32_t>(egg_quotient(2 * magnitude + (nearest ? divisor : 0), 2 * divisor));
  return n < 0 ? -quotient : quotient;
}

// egg_divide for numbers whose 2 |n| + d and 2 d fit 32 bits.
EGG_FN int32_t egg_divide32(int32_t n, int32_t d, int32_t nearest) {
  const uint32_t magnitude = static_cast<uint32_t>(n < 0 ? -n : n);
  const uint32_t divisor = static_cast<uint32_t>(d);
  const int32_t quotient =
      static_cast<int32_t>(egg_quotient(2 * magnitude + (nearest != 0 ? divisor : 0), 2 * divisor));
  return n < 0 ? -quotient : quotient;
}

// The largest magnitude of a wide value: sums of two such values, and twice one of them, stay far within int32.
#define EGG_WIDE_MAX (1 << 28)

// largest: the largest |x| of the value.
EGG_FN int8_t egg_max_norm(int32_t x, int32_t largest) {
  return static_cast<int8_t>(egg_divide(static_cast<int64_t>(x) * 127, largest > 1 ? largest : 1, 1));
}

// Fractional bits of rope's constants.
#define EGG_ROPE_BITS 20

// One output of a rotation: a * c + b * d, c and d in [-2^20, 2^20]; magnitude at most |a| + |b|.
EGG_FN int32_t egg_rotate(int32_t a, int32_t c, int32_t b, int32_t d) {
  const int64_t sum = static_cast<int64_t>(a) * c + static_cast<int64_t>(b) * d;
  return static_cast<int32_t>((sum + (1 << (EGG_ROPE_BITS - 1))) >> EGG_ROPE_BITS);
}

#define EGG_ATTENTION_TABLE 256

// The index of a score's weight in the attention's table; weighting is an egg_weighting (0: softmax).
EGG_FN int32_t egg_attention_index(int32_t score, int32_t largest_score, int32_t weighting) {
  if (weighting != 0) return egg_clip(score, 127) + 128;
  const int32_t below = largest_score - score;
  return below < EGG_ATTENTION_TABLE - 1 ? below : EGG_ATTENTION_TABLE - 1;
}

// ---- Loss ----
// -log2 softmax in Q16 bits: log2(sum_i 2^(-(max - l_i) * unit / 2^16)) + (max - l_target) * unit.
// Error below 2^-12 bit for vocabularies up to EGG_LOSS_VOCAB_MAX; tested in tests/arithmetic/loss_test.cpp.
#define EGG_LOSS_VOCAB_MAX (1 << 18)

// 2^(-x / 2^16) in Q30, by the binary digits of the fraction; constants are round(2^32 * 2^(-2^-k)), k = 1 to 16.
EGG_FN uint32_t egg_exp2_neg_q30(uint32_t x) {
  const uint32_t factors[16] = {0xb504f334u, 0xd744fccbu, 0xeac0c6e8u, 0xf5257d15u, 0xfa83b2dbu, 0xfd3e0c0du,
                                0xfe9e115cu, 0xff4ecb59u, 0xffa75652u, 0xffd3a752u, 0xffe9d2b3u, 0xfff4e91cu,
                                0xfffa747fu, 0xfffd3a3bu, 0xfffe9d1du, 0xffff4e8eu};
  const uint32_t whole = x >> 16;
  if (whole > 31) return 0;
  uint64_t r = UINT64_C(1) << 32;
  for (int k = 0; k < 16; ++k) {
    if (x & (0x8000u >> k)) r = (r * factors[k] + 0x80000000u) >> 32;
  }
  return static_cast<uint32_t>((r + (UINT64_C(2) << whole)) >> (whole + 2));
}

#define EGG_LOG2_STEPS 256

// log2(1 + i / 256) in Q24 for i in [0, 256], digit by digit: squaring doubles a logarithm.
EGG_FN uint32_t egg_log2_entry_q24(uint32_t i) {
  if (i >= EGG_LOG2_STEPS) return UINT32_C(1) << 24;
  uint64_t m = (UINT64_C(1) << 31) + (static_cast<uint64_t>(i) << 23);  // Q31, in [1, 2)
  uint32_t digits = 0;
  for (int k = 0; k < 25; ++k) {
    m = (m * m) >> 31;
    digits <<= 1;
    if (m >= (UINT64_C(1) << 32)) {
      m >>= 1;
      digits |= 1;
    }
  }
  return (digits + 1) >> 1;
}

// The tables of the loss at run time; a backend keeps them where its kernels read fastest.
struct egg_loss_tables {
  uint32_t exp2_q30[256];                 // by max - logit, in [0, 254]
  uint32_t log2_q24[EGG_LOG2_STEPS + 1];  // by the eight bits after the leading one
};

#if !defined(__METAL_VERSION__)
EGG_FN void egg_fill_loss_tables(egg_loss_tables* tables, int32_t unit) {
  for (uint32_t d = 0; d < 256; ++d) tables->exp2_q30[d] = egg_exp2_neg_q30(d * static_cast<uint32_t>(unit));
  for (uint32_t i = 0; i <= EGG_LOG2_STEPS; ++i) tables->log2_q24[i] = egg_log2_entry_q24(i);
}
#endif

// log2 of sum in Q16, sum >= 1, linear between the table's entries. clz is 63 - floor(log2 sum). Entries: const
// uint32_t*, in whatever address space.
template <class Entries>
EGG_FN int32_t egg_log2_q16(uint64_t sum, Entries log2_q24) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__METAL_VERSION__)
  const int32_t whole = 63 - __builtin_clzll(sum);
#else
  int32_t whole = 63;
  while (!(sum >> whole)) --whole;
#endif
  const uint64_t mantissa = (sum << (63 - whole)) << 1;  // the bits after the leading one, from bit 63 down
  const uint32_t i = static_cast<uint32_t>(mantissa >> 56);
  const uint64_t rest = (mantissa >> 32) & 0xFFFFFFu;  // 24 bits
  const uint64_t low = log2_q24[i];
  const uint64_t high = log2_q24[i + 1];
  const uint64_t fraction_q24 = low + (((high - low) * rest) >> 24);
  return whole * 65536 + static_cast<int32_t>((fraction_q24 + 128) >> 8);
}

// sum: the sum of exp2_q30[max - l_i] over the vocabulary (at most EGG_LOSS_VOCAB_MAX entries of at most 2^30).
template <class Entries>
EGG_FN int32_t egg_loss_q16(uint64_t sum, int32_t max_logit, int32_t target_logit, int32_t unit, Entries log2_q24) {
  return egg_log2_q16(sum, log2_q24) - 30 * 65536 + (max_logit - target_logit) * unit;
}

#endif
