// Draws at a site (egg_site): the perturbations of a token, the losses at the logits, and the error that they give. One
// definition for every backend.
//
//   A_k[i]  = +1 or -1, draw k of channel i. Independent: bit i of the noise under the key of draw k + 1. Orthogonal:
//             row k + offset, column i of the Hadamard matrix of n rows, times bit i of the noise under the key of draw
//             0. n is the value's size, rounded up to a power of two.
//   L+, L-  = the losses with the value at clip(v + amplitude * A_k) and at clip(v - amplitude * A_k), of the token and
//             of `horizon` tokens after it; a wide value is not clipped
//   d_k     = L- - L+, clipped to +-egg_draw_limit
//   error i = sum_k d_k * A_k[i], shifted right by `shift` to the nearest, clipped to +-EGG_ERROR_MAX
//
// With all n rows the error is nearly n times the difference that each channel alone would make: the finite-difference
// gradient at the value, by forward passes alone. Nearly, since a loss is not linear in a draw of all channels.
#ifndef EGGROLL_DRAWS_H
#define EGGROLL_DRAWS_H

#include "eggroll/noise.h"

#define EGG_DRAWS_MAX 65536
#define EGG_AMPLITUDE_MAX 16          // of an int8 value
#define EGG_WIDE_AMPLITUDE_MAX 65536  // of a wide one
#define EGG_ERROR_MAX 32767
#define EGG_SITE_TENSOR UINT32_C(0x80000000)  // where the numbers of sites begin among those of tensors

// stream: its number in the step. token: its place in the window. draw: 0: signs of orthogonal draws;
// k + 1: independent draw k.
EGG_FN uint64_t egg_draw_key(uint64_t seed, uint64_t step, uint32_t stream, uint32_t site, uint32_t token,
                             uint32_t draw) {
  return egg_noise_key(seed, step, stream, EGG_SITE_TENSOR | site, token, draw);
}

// Whether bit i of the noise is set; the sign is then -1.
EGG_FN uint32_t egg_draw_bit(uint64_t key, uint32_t i) { return (egg_noise_word(key, i >> 5) >> (i & 31)) & 1u; }

// The first row of orthogonal draws, modulo n.
EGG_FN uint32_t egg_draw_offset(uint64_t key) { return egg_noise_word(key, 0xFFFFFFFFu); }

// Whether the Hadamard matrix is -1 in this row and column: the parity of their common bits.
EGG_FN uint32_t egg_hadamard_bit(uint32_t row, uint32_t column) {
  uint32_t x = row & column;
  x ^= x >> 16;
  x ^= x >> 8;
  x ^= x >> 4;
  return (0x6996u >> (x & 15u)) & 1u;
}

// The binary logarithm of n, rounded up to a whole number.
EGG_FN int32_t egg_log2_up(uint32_t n) {
  int32_t bits = 0;
  while (bits < 31 && (UINT32_C(1) << bits) < n) ++bits;
  return bits;
}

// The limit of each difference that keeps the sum of this many differences within +-2^30.
EGG_FN int32_t egg_draw_limit(uint32_t draws) { return INT32_C(1) << (30 - egg_log2_up(draws)); }

EGG_FN int16_t egg_draw_error(int32_t sum, int32_t shift) {
  return static_cast<int16_t>(egg_clip(egg_rshift(sum, shift, 1), EGG_ERROR_MAX));
}

// ---- Losses of draws at the logits ----
// The exponentials of all draws of a token are relative to one maximum: the largest logit plus the amplitude, clipped.
// Twice their sum over n fits 32 bits: exp2 of (maximum - logit) * unit in Q(30 - log2 n), rounded.
EGG_FN uint32_t egg_draw_exp2(uint32_t steps, int32_t unit, int32_t log2_n) {
  const uint32_t q30 = egg_exp2_neg_q30(steps * static_cast<uint32_t>(unit));
  return log2_n == 0 ? q30 : (q30 + (UINT32_C(1) << (log2_n - 1))) >> log2_n;
}

// sum_minus, sum_plus: the sums of the exponentials of the members with -A and with +A. target: the target's logit with
// +A minus its logit with -A.
template <class Entries>
EGG_FN int32_t egg_draw_difference(uint32_t sum_minus, uint32_t sum_plus, int32_t target, int32_t unit,
                                   Entries log2_q24) {
  return egg_log2_q16(sum_minus, log2_q24) - egg_log2_q16(sum_plus, log2_q24) + target * unit;
}

#endif
