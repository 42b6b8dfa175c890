// AVX2: eight lanes. maddubs multiplies unsigned by signed bytes and adds pairs in int16. |x| times w with the sign of
// x never saturates there, because 2 * 127 * 127 < 2^15. If an output's weights are small enough, there are faster
// forms, which are exact too: see Row.
#ifndef EGGROLL_TILE_SIMD_AVX2_H
#define EGGROLL_TILE_SIMD_AVX2_H

#include <immintrin.h>

#include "simd.h"

namespace eggroll::tile {

struct Avx2 : Simd<32> {
  static constexpr size_t kPairRegs = 1;
  static constexpr size_t kBlock = 4;
  static constexpr size_t kDepth = 2;
  static constexpr size_t kMemberRegs = 2 * kPairRegs;
  static constexpr size_t kVoteRows = 4;
  static constexpr bool kBytePlanes = false;
  static constexpr int8_t kWeightXor = 0;
  static constexpr int32_t kWeightExcess = 0;
  static constexpr size_t kPrepared = 2;

  static EGG_INLINE V8 abs8(V8 v) { return (V8)_mm256_abs_epi8((__m256i)v); }
  // Stores the magnitudes of x, and x + 127.
  static EGG_INLINE void prepare(V8 x, int8_t* to, size_t bytes_of_x) {
    store(to, abs8(x));
    store(to + bytes_of_x, (U8)x + 127);
  }

  // x + 127 is in [0, 254], so weights keep their signs. An int16 sum then fits if the magnitudes of its weights add up
  // to at most 129, because 254 * 129 < 2^15. With |x| it fits up to 258. A sum may also include two quads of four
  // channels before it is widened.
  struct Row {
    bool shifted = true;      // every two neighbours: at most 129
    bool shifted_two = true;  // the same over two quads
    bool signed_two = true;   // over two quads: at most 258
    int32_t excess = 0;       // what x + 127 adds to the output

    Row() = default;
    Row(const int8_t* weights, size_t cols) {
      for (size_t i = 0; i < cols; i += 8) {
        int32_t magnitude[8] = {};
        for (size_t j = 0; j < 8 && i + j < cols; ++j) {
          magnitude[j] = weights[i + j] < 0 ? -weights[i + j] : weights[i + j];
          excess += 127 * weights[i + j];
        }
        for (size_t j = 0; j < 4; j += 2) {
          const int32_t first = magnitude[j] + magnitude[j + 1];
          const int32_t second = magnitude[j + 4] + magnitude[j + 5];
          shifted = shifted && first <= 129 && second <= 129;
          shifted_two = shifted_two && first + second <= 129;
          signed_two = signed_two && first + second <= 258;
        }
      }
    }
  };

  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) {
    const __m256i with_sign = _mm256_sign_epi8((__m256i)w, (__m256i)x);
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)abs8(x), with_sign);
    return acc + (V32)_mm256_madd_epi16(pairs, (__m256i)all16(1));
  }

  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* prepared, size_t quads, const int8_t* w,
                                   const Row* rows, V32 (&acc)[NB][kMemberRegs]) {
    bool shifted = true;
    bool shifted_two = true;
    bool signed_two = true;
    for (size_t o = 0; o < NB; ++o) {
      shifted = shifted && rows[o].shifted;
      shifted_two = shifted_two && rows[o].shifted_two;
      signed_two = signed_two && rows[o].signed_two;
    }
    const int8_t* from = shifted ? prepared + quads * kMemberRegs * kBytes : x;
    if (shifted) {
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA {
        acc[o][0] -= rows[o].excess;
        acc[o][1] -= rows[o].excess;
      });
    }
    if (shifted_two) {
      products<NB, true, true>(from, prepared, quads, w, acc);
    } else if (shifted) {
      products<NB, true, false>(from, prepared, quads, w, acc);
    } else if (signed_two) {
      products<NB, false, true>(from, prepared, quads, w, acc);
    } else {
      products<NB, false, false>(from, prepared, quads, w, acc);
    }
  }

  // kShifted: x is x + 127. kTwo: int16 sums of two quads.
  template <size_t NB, bool kShifted, bool kTwo>
  static EGG_INLINE void products(const int8_t* x, const int8_t* magnitudes, size_t quads, const int8_t* w,
                                  V32 (&acc)[NB][kMemberRegs]) {
    const auto pairs = [](const int8_t* at, const int8_t* magnitude, V8 weight) EGG_INLINE_LAMBDA {
      if constexpr (kShifted) return (V16)_mm256_maddubs_epi16(load<__m256i>(at), (__m256i)weight);
      const __m256i with_sign = _mm256_sign_epi8((__m256i)weight, load<__m256i>(at));
      return (V16)_mm256_maddubs_epi16(load<__m256i>(magnitude), with_sign);
    };
    const V16 ones = all16(1);
    constexpr size_t kQuad = kMemberRegs * kBytes;
    for (size_t k = 0; k < quads; k += 2) {
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA {
        const V8 first = (V8)broadcast(w + 4 * o);
        const V8 second = (V8)broadcast(w + 4 * (NB + o));
        unrolled<kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA {
          const size_t at = m * kBytes;
          const V16 one = pairs(x + at, magnitudes + at, first);
          const V16 two = pairs(x + kQuad + at, magnitudes + kQuad + at, second);
          if constexpr (kTwo) {
            acc[o][m] = madd16(acc[o][m], one + two, ones);
          } else {
            acc[o][m] = madd16(madd16(acc[o][m], one, ones), two, ones);
          }
        });
      });
      x += 2 * kQuad;
      magnitudes += 2 * kQuad;
      w += 8 * NB;
    }
  }

  static EGG_INLINE V32 madd16(V32 acc, V16 a, V16 b) { return acc + (V32)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
  static EGG_INLINE V64 mul_even(V32 a, V32 b) { return (V64)_mm256_mul_epi32((__m256i)a, (__m256i)b); }
  static EGG_INLINE V16 mulhi16(V16 a, V16 b) { return (V16)_mm256_mulhi_epi16((__m256i)a, (__m256i)b); }
  static EGG_INLINE V16 mulhrs16(V16 a, V16 b) { return (V16)_mm256_mulhrs_epi16((__m256i)a, (__m256i)b); }
  static EGG_INLINE V16 mul_even8(U8 u, V8 x) {
    return (V16)_mm256_maddubs_epi16((__m256i)((U16)u & 0x00ff), (__m256i)x);
  }
  static EGG_INLINE V16 mul_odd8(U8 u, V8 x) {
    return (V16)_mm256_maddubs_epi16((__m256i)((U16)u & 0xff00), (__m256i)x);
  }
  static EGG_INLINE V8 max8(V8 a, V8 b) { return (V8)_mm256_max_epi8((__m256i)a, (__m256i)b); }
  static EGG_INLINE V16 adds16(V16 a, V16 b) { return (V16)_mm256_adds_epi16((__m256i)a, (__m256i)b); }
  static EGG_INLINE V8 adds8(V8 a, V8 b) { return (V8)_mm256_adds_epi8((__m256i)a, (__m256i)b); }
  static EGG_INLINE V16 clip8(V16 v) {
    return (V16)_mm256_max_epi16(_mm256_min_epi16((__m256i)v, (__m256i)all16(127)), (__m256i)all16(-127));
  }
  static EGG_INLINE V32 clip16(V32 v) {
    return (V32)_mm256_max_epi32(_mm256_min_epi32((__m256i)v, (__m256i)all32(32767)), (__m256i)all32(-32767));
  }
  // AVX2 cannot shift each int16 by its own count.
  using Count = __m128i;
  static EGG_INLINE Count count(int32_t n) { return _mm_cvtsi32_si128(n); }
  static EGG_INLINE V16 shift16(V16 v, Count n) { return (V16)_mm256_sra_epi16((__m256i)v, n); }
  static EGG_INLINE V16 pack16(V32 a, V32 b) { return (V16)_mm256_packs_epi32((__m256i)a, (__m256i)b); }
  static EGG_INLINE V8 pack_quad(V16 low, V16 high) {
    return transpose4(max8((V8)_mm256_packs_epi16((__m256i)low, (__m256i)high), all8(-127)));
  }
  static EGG_INLINE V16 first256(V8 v) { return (V16)_mm256_unpacklo_epi8(__m256i{}, (__m256i)v); }
  static EGG_INLINE V16 second256(V8 v) { return (V16)_mm256_unpackhi_epi8(__m256i{}, (__m256i)v); }
  static EGG_INLINE V32 first_twice(V32 v) { return (V32)_mm256_unpacklo_epi32((__m256i)v, (__m256i)v); }
  static EGG_INLINE V32 second_twice(V32 v) { return (V32)_mm256_unpackhi_epi32((__m256i)v, (__m256i)v); }
  static EGG_INLINE V8 pack8(V16 first, V16 second) {
    return max8((V8)_mm256_packs_epi16((__m256i)first, (__m256i)second), all8(-127));
  }
  static EGG_INLINE V32 sum_abs(V32 acc, V8 x) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)abs8(x), (__m256i)all8(1));
    return acc + (V32)_mm256_madd_epi16(pairs, (__m256i)all16(1));
  }

  // Eight tables of 16 bytes. Each except the first is xored with the table before it. The shuffle returns 0 for an
  // index below a table's 16 entries, so the xor of all lookups is the entry.
  struct Table128 {
    __m256i parts[8];
    U8 sixteen_each = (U8)kept(0x10101010);
    explicit EGG_INLINE Table128(const uint8_t* table) {
      unrolled<8>([&](auto i) EGG_INLINE_LAMBDA { parts[i] = sixteen(table + 16 * i); });
      unrolled<7>([&](auto i) EGG_INLINE_LAMBDA { parts[7 - i] = _mm256_xor_si256(parts[7 - i], parts[6 - i]); });
    }
    EGG_INLINE U8 at(U8 index) const {
      __m256i result = _mm256_shuffle_epi8(parts[0], (__m256i)index);
      unrolled<7>([&](auto i) EGG_INLINE_LAMBDA {
        index -= sixteen_each;
        result = _mm256_xor_si256(result, _mm256_shuffle_epi8(parts[i + 1], (__m256i)index));
      });
      return (U8)result;
    }

   private:
    static EGG_INLINE __m256i sixteen(const uint8_t* from) {
      return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
  };

  // Sums of two products fit in int16: 2 * 92 * 46 < 2^15.
  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)w, (__m256i)x);
    return acc + (V32)_mm256_madd_epi16(pairs, (__m256i)all16(1));
  }
  static EGG_INLINE V8 transpose4(V8 v) {
    const __m128i order = _mm_set_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    return (V8)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(order));
  }
  static EGG_INLINE V32 broadcast16(const void* from) {
    return (V32)_mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }

  static EGG_INLINE void gather4(const int8_t* const* rows, V32 (&out)[4]) {
    __m256i two[4];  // rows i and 4 + i
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA {
      const auto row = [&](size_t r) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r + i])); };
      two[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(row(0)), row(4), 1);
    });
    const __m256i a = _mm256_unpacklo_epi32(two[0], two[1]);
    const __m256i b = _mm256_unpacklo_epi32(two[2], two[3]);
    const __m256i c = _mm256_unpackhi_epi32(two[0], two[1]);
    const __m256i d = _mm256_unpackhi_epi32(two[2], two[3]);
    out[0] = (V32)_mm256_unpacklo_epi64(a, b);
    out[1] = (V32)_mm256_unpackhi_epi64(a, b);
    out[2] = (V32)_mm256_unpacklo_epi64(c, d);
    out[3] = (V32)_mm256_unpackhi_epi64(c, d);
  }

  static EGG_INLINE V16 widen16(const void* from) {
    return (V16)_mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static EGG_INLINE V16 lower16(V8 v) { return (V16)_mm256_cvtepi8_epi16(_mm256_castsi256_si128((__m256i)v)); }
  static EGG_INLINE V16 upper16(V8 v) { return (V16)_mm256_cvtepi8_epi16(_mm256_extracti128_si256((__m256i)v, 1)); }

  // The lanes are within int16.
  static EGG_INLINE void store16(void* to, V32 v) {
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)v, (__m256i)v), 0x08);
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
  }
};

}  // namespace eggroll::tile

#endif
