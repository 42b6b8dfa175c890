// The noise specification: noise(seed, step, pair, tensor, side, rank, index) -> int8, the same on every machine, for
// C++, CUDA and Metal. It is counter-based: any value can be computed without the others, at any vector width.
//
//   key   = every part of (seed, step, pair, tensor, side, rank) absorbed in turn by a 64-bit hash
//   word  = 32-bit hash of index / 4 under that key
//   byte  = byte index % 4 of the word, lowest first
//   value = distribution table [byte]
//
// Source `counter` is that. Source `table` reads a shared table of 2^table_log2 values, made once per run: entry i is
// the counter's value at index i under the key of (seed, EGG_STEP_TABLE, 0, 0, 0, 0). Side A reads its lower half, side
// B its upper half, so that the two sides of a perturbation can never be shifts of each other; the key picks an offset
// that is a multiple of 64, and indices wrap within the half.
//
// Known answers: tests/noise/known_answers.py, an independent implementation.
#ifndef EGGROLL_NOISE_H
#define EGGROLL_NOISE_H

#include "eggroll/arithmetic.h"

#define EGG_SIDE_A 0u  // rows: outputs of a matrix, rows of a table; the first draw of a vector
#define EGG_SIDE_B 1u  // columns: inputs of a matrix, width of a table; the second draw of a vector

// Steps that no training step reaches: initial weights, the noise table, generated data.
#define EGG_STEP_INIT UINT64_C(0xFFFFFFFFFFFFFFFF)
#define EGG_STEP_TABLE UINT64_C(0xFFFFFFFFFFFFFFFE)
#define EGG_STEP_DATA UINT64_C(0xFFFFFFFFFFFFFFFD)

// Bijective 64-bit finaliser (MurmurHash3's, public domain). Word: uint64_t, or a vector of them.
template <class Word>
EGG_FN Word egg_mix_words(Word x) {
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  x *= UINT64_C(0xc4ceb9fe1a85ec53);
  x ^= x >> 33;
  return x;
}

template <class Word>
EGG_FN Word egg_absorb_words(Word key, Word part) {
  return egg_mix_words<Word>((key ^ part) + UINT64_C(0x9e3779b97f4a7c15));
}

EGG_FN uint64_t egg_mix64(uint64_t x) { return egg_mix_words(x); }

EGG_FN uint64_t egg_absorb(uint64_t key, uint64_t part) { return egg_absorb_words(key, part); }

EGG_FN uint64_t egg_noise_key(uint64_t seed, uint64_t step, uint32_t pair, uint32_t tensor, uint32_t side,
                              uint32_t rank) {
  uint64_t key = egg_absorb(0, seed);
  key = egg_absorb(key, step);
  key = egg_absorb(key, (static_cast<uint64_t>(pair) << 32) | tensor);
  return egg_absorb(key, (static_cast<uint64_t>(side) << 32) | rank);
}

// Four noise bytes. The constants are those of Wellons' three-round 32-bit hash (public domain); the key's low half
// enters before the first round, its high half before the last. Word: uint32_t, or a vector of them; Factor: the same,
// or uint32_t.
#define EGG_HASH_FACTORS \
  { 0xed5ad4bbu, 0xac4c1b51u, 0x31848babu }

template <class Word, class Factor>
EGG_FN Word egg_noise_hash_by(Word word_index, Word key_low, Word key_high, Factor first, Factor second, Factor third) {
  Word x = word_index + key_low;
  x ^= x >> 17;
  x *= first;
  x ^= x >> 11;
  x *= second;
  x ^= key_high;
  x ^= x >> 15;
  x *= third;
  x ^= x >> 14;
  return x;
}

template <class Word>
EGG_FN Word egg_noise_hash(Word word_index, Word key_low, Word key_high) {
  const uint32_t factors[3] = EGG_HASH_FACTORS;
  return egg_noise_hash_by(word_index, key_low, key_high, factors[0], factors[1], factors[2]);
}

EGG_FN uint32_t egg_noise_word(uint64_t key, uint32_t word_index) {
  return egg_noise_hash(word_index, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
}

EGG_FN uint32_t egg_noise_byte(uint64_t key, uint32_t index) {
  return (egg_noise_word(key, index >> 2) >> (8 * (index & 3))) & 255u;
}

// The place that index reads in the shared table of 2^table_log2 values (table_log2 in [12, 30]).
EGG_FN uint32_t egg_noise_table_index(uint64_t key, uint32_t side, uint32_t index, int32_t table_log2) {
  const uint32_t side_size = UINT32_C(1) << (table_log2 - 1);
  const uint32_t offset = static_cast<uint32_t>(key) & (side_size - 64u);
  return side * side_size + ((offset + index) & (side_size - 1u));
}

// Distribution tables: value of byte 128 + k is magnitude[k], of byte 127 - k its negative, so that every distribution
// is exactly symmetric. gaussian: round(16 * quantile((128.5 + k) / 256)) of the normal distribution; uniform:
// round(27.7 * (2k + 1) / 256); rademacher: 16. Second moments: 254.3828125, 256.0390625, 256.
#define EGG_GAUSSIAN_MAGNITUDES                                                                                        \
  0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, \
      6, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 12, 12, 12,    \
      12, 13, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 18, 18, 18, 19, 19, 19,  \
      20, 20, 20, 21, 21, 21, 22, 22, 22, 23, 23, 24, 24, 25, 25, 26, 27, 27, 28, 29, 29, 30, 31, 32, 34, 35, 37, 40,  \
      46
#define EGG_UNIFORM_MAGNITUDES                                                                                         \
  0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 8, \
      9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 14, 15,   \
      15, 15, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 21,  \
      21, 21, 21, 22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 24, 24, 24, 24, 25, 25, 25, 25, 25, 26, 26, 26, 26, 27, 27,  \
      27, 27, 27, 28

#define EGG_NOISE_MAX 46  // the largest magnitude of any distribution

#if !defined(__METAL_VERSION__)

#include <array>
#include <cstddef>

#include "eggroll/plugin.h"

namespace eggroll {

using NoiseTable = std::array<int8_t, 256>;

constexpr NoiseTable noise_table(int32_t distribution) {
  constexpr int8_t kGaussian[128] = {EGG_GAUSSIAN_MAGNITUDES};
  constexpr int8_t kUniform[128] = {EGG_UNIFORM_MAGNITUDES};
  NoiseTable table{};
  for (int k = 0; k < 128; ++k) {
    const int8_t magnitude = distribution == EGG_NOISE_GAUSSIAN  ? kGaussian[k]
                             : distribution == EGG_NOISE_UNIFORM ? kUniform[k]
                                                                 : int8_t{16};
    table[static_cast<size_t>(128 + k)] = magnitude;
    table[static_cast<size_t>(127 - k)] = static_cast<int8_t>(-magnitude);
  }
  return table;
}

// Mean square of one noise value; exact in double.
constexpr double noise_second_moment(int32_t distribution) {
  int64_t sum = 0;
  for (const int8_t value : noise_table(distribution)) sum += value * value;
  return static_cast<double>(sum) / 256.0;
}

constexpr int32_t noise_max(int32_t distribution) {
  int32_t largest = 0;
  for (const int8_t value : noise_table(distribution)) largest = value > largest ? value : largest;
  return largest;
}

}  // namespace eggroll

#endif
#endif
