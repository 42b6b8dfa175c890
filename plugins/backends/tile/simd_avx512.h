// AVX-512 with VNNI and VBMI: sixteen lanes. dpbusd multiplies unsigned by signed bytes, so weights are kept plus 128.
#ifndef EGGROLL_TILE_SIMD_AVX512_H
#define EGGROLL_TILE_SIMD_AVX512_H

#include <immintrin.h>

#include "simd.h"

namespace eggroll::tile {

struct Avx512 : Simd<64> {
  static constexpr size_t kPairRegs = 1;
  static constexpr size_t kBlock = 12;
  static constexpr size_t kDepth = 1;
  static constexpr size_t kMemberRegs = 2 * kPairRegs;
  static constexpr int8_t kWeightXor = -128;
  static constexpr size_t kPrepared = 0;  // copies of x that `prepare` makes, each as large as x
  static constexpr size_t kVoteRows = 12;
  static constexpr bool kBytePlanes = true;  // tables of 256 bytes fit registers

  // acc + the products of the four bytes of each lane: x is plain, w is xored. So the result is acc + the sum of x * w
  // + kWeightExcess * (the sum of x).
  static constexpr int32_t kWeightExcess = 128;
  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) {
    // GCC 12 copies the intrinsic's accumulator to another register. madd16 has the same problem.
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(w), "v"(x));
    return acc;
  }

  // acc[o][m] += the sum over quads of x[quad][m] * w[o][quad], as `dot` does it. x: (quads, kMemberRegs)
  // registers; w: one packed block, rows: of its outputs.
  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t quads, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    if constexpr (NB == 4) {
      // Each sum waits for its last product, and eight sums do not fill that time. So there are two of each.
      V32 odd[NB][kMemberRegs] = {};
      plain_dot_block<Avx512>(x, quads, w, acc, odd);
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA {
        unrolled<kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA { acc[o][m] += odd[o][m]; });
      });
      return;
    }
    plain_dot_block<Avx512>(x, quads, w, acc, acc);
  }

  // acc + both products of the int16 of each lane.
  static EGG_INLINE V32 madd16(V32 acc, V16 a, V16 b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
  }
  // Products of the even lanes.
  static EGG_INLINE V64 mul_even(V32 a, V32 b) { return (V64)_mm512_mul_epi32((__m512i)a, (__m512i)b); }
  // The upper half of the int32 product.
  static EGG_INLINE V16 mulhi16(V16 a, V16 b) { return (V16)_mm512_mulhi_epi16((__m512i)a, (__m512i)b); }
  // The product over 2^15, to the nearest, halves up.
  static EGG_INLINE V16 mulhrs16(V16 a, V16 b) { return (V16)_mm512_mulhrs_epi16((__m512i)a, (__m512i)b); }
  // Products of the even bytes, or of the odd ones; they must fit int16.
  static EGG_INLINE V16 mul_even8(U8 u, V8 x) {
    return (V16)_mm512_maddubs_epi16((__m512i)((U16)u & 0x00ff), (__m512i)x);
  }
  static EGG_INLINE V16 mul_odd8(U8 u, V8 x) {
    return (V16)_mm512_maddubs_epi16((__m512i)((U16)u & 0xff00), (__m512i)x);
  }
  static EGG_INLINE V8 join_upper(V16 even, V16 odd) {
    return (V8)_mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, _mm512_srli_epi16((__m512i)even, 8), (__m512i)odd);
  }
  static EGG_INLINE V8 abs8(V8 v) { return (V8)_mm512_abs_epi8((__m512i)v); }
  static EGG_INLINE V8 max8(V8 a, V8 b) { return (V8)_mm512_max_epi8((__m512i)a, (__m512i)b); }
  // Sum, cut to int16.
  static EGG_INLINE V16 adds16(V16 a, V16 b) { return (V16)_mm512_adds_epi16((__m512i)a, (__m512i)b); }
  // Sum, cut to int8.
  static EGG_INLINE V8 adds8(V8 a, V8 b) { return (V8)_mm512_adds_epi8((__m512i)a, (__m512i)b); }
  // To [-127, 127].
  static EGG_INLINE V16 clip8(V16 v) {
    return (V16)_mm512_max_epi16(_mm512_min_epi16((__m512i)v, (__m512i)all16(127)), (__m512i)all16(-127));
  }
  // To [-32767, 32767].
  static EGG_INLINE V32 clip16(V32 v) {
    return (V32)_mm512_max_epi32(_mm512_min_epi32((__m512i)v, (__m512i)all32(32767)), (__m512i)all32(-32767));
  }
  // Cuts both to int16, in the order that pack_quad expects.
  static EGG_INLINE V16 pack16(V32 a, V32 b) { return (V16)_mm512_packs_epi32((__m512i)a, (__m512i)b); }
  // Takes pack16 of t0 and t1, and of t2 and t3. Returns bytes t0 to t3 of each lane, each clipped to [-127, 127].
  static EGG_INLINE V8 pack_quad(V16 low, V16 high) {
    // Within 128 bits: four lanes of t0, of t1, of t2, of t3.
    return transpose4(max8((V8)_mm512_packs_epi16((__m512i)low, (__m512i)high), all8(-127)));
  }
  // Half of the bytes times 256 as int16, and the other half.
  static EGG_INLINE V16 first256(V8 v) { return (V16)_mm512_unpacklo_epi8(__m512i{}, (__m512i)v); }
  static EGG_INLINE V16 second256(V8 v) { return (V16)_mm512_unpackhi_epi8(__m512i{}, (__m512i)v); }
  // Every lane twice, in the order of first256 and second256.
  static EGG_INLINE V32 first_twice(V32 v) { return (V32)_mm512_unpacklo_epi32((__m512i)v, (__m512i)v); }
  static EGG_INLINE V32 second_twice(V32 v) { return (V32)_mm512_unpackhi_epi32((__m512i)v, (__m512i)v); }
  // Values in the order of first256 and second256 back to bytes, each clipped to [-127, 127].
  static EGG_INLINE V8 pack8(V16 first, V16 second) {
    return max8((V8)_mm512_packs_epi16((__m512i)first, (__m512i)second), all8(-127));
  }
  // acc + the magnitudes of the four bytes of each lane.
  static EGG_INLINE V32 sum_abs(V32 acc, V8 x) { return dot(acc, all8(1), abs8(x)); }
  // acc + the four bytes of each lane.
  static EGG_INLINE V32 sum_signed(V32 acc, V8 x) { return dot(acc, x, all8(1)); }
  // acc + the four unsigned bytes of each lane.
  static EGG_INLINE V32 sum_unsigned(V32 acc, U8 x) { return dot(acc, all8(1), (V8)x); }

  // table[i % 128] for every byte i.
  struct Table128 {
    __m512i low;
    __m512i high;
    explicit EGG_INLINE Table128(const uint8_t* table)
        : low(_mm512_loadu_si512(table)), high(_mm512_loadu_si512(table + 64)) {}
    EGG_INLINE U8 at(U8 i) const { return (U8)_mm512_permutex2var_epi8(low, (__m512i)i, high); }
  };

  // Whether any byte is above 127.
  static EGG_INLINE bool any_upper(U8 v) { return _mm512_movepi8_mask((__m512i)v) != 0; }

  // dot for a plain w in [0, 92], and x in [-46, 46].
  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) { return dot(acc, x, w); }
  // In every 16 bytes, moves byte 4i + j to 4j + i.
  static EGG_INLINE V8 transpose4(V8 v) {
    return (V8)_mm512_shuffle_epi8((__m512i)v, _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400));
  }
  // Copies 16 bytes to every 16 bytes of the register.
  static EGG_INLINE V32 broadcast16(const void* from) {
    return (V32)_mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }

  // Reads 16 bytes of each of kLanes rows, a lane for each row: out[i] has bytes 4i to 4i + 3.
  static EGG_INLINE void gather4(const int8_t* const* rows, V32 (&out)[4]) {
    __m512i four[4];  // rows i, 4 + i, 8 + i and 12 + i
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA {
      const auto row = [&](size_t r) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r + i])); };
      const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(row(0)), row(4), 1);
      const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(row(8)), row(12), 1);
      four[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    });
    const __m512i a = _mm512_unpacklo_epi32(four[0], four[1]);
    const __m512i b = _mm512_unpacklo_epi32(four[2], four[3]);
    const __m512i c = _mm512_unpackhi_epi32(four[0], four[1]);
    const __m512i d = _mm512_unpackhi_epi32(four[2], four[3]);
    out[0] = (V32)_mm512_unpacklo_epi64(a, b);
    out[1] = (V32)_mm512_unpackhi_epi64(a, b);
    out[2] = (V32)_mm512_unpacklo_epi64(c, d);
    out[3] = (V32)_mm512_unpackhi_epi64(c, d);
  }

  // kBytes / 2 bytes as int16; the first half of the bytes, and the other.
  static EGG_INLINE V16 widen16(const void* from) {
    return (V16)_mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
  static EGG_INLINE V16 lower16(V8 v) { return (V16)_mm512_cvtepi8_epi16(_mm512_castsi512_si256((__m512i)v)); }
  static EGG_INLINE V16 upper16(V8 v) { return (V16)_mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64((__m512i)v, 1)); }

  // The lower halves of the lanes, one after another.
  static EGG_INLINE void store16(void* to, V32 v) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi32_epi16((__m512i)v));
  }
};

}  // namespace eggroll::tile

#endif
