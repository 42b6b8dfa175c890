// NEON for 64-bit ARM: four lanes. Three sets differ in how they multiply bytes: with instructions that every such
// processor has, with dotprod (sdot), and with i8mm (smmla). simd_avx512.h says what each function means.
#ifndef EGGROLL_TILE_SIMD_NEON_H
#define EGGROLL_TILE_SIMD_NEON_H

#include <arm_neon.h>

#include "simd.h"

namespace eggroll::tile {

// Everything is inlined, so that no function is shared by files with different flags.
struct NeonCommon : Simd<16> {
  static constexpr size_t kPairRegs = 2;
  static constexpr size_t kMemberRegs = 2 * kPairRegs;
  static constexpr int8_t kWeightXor = 0;
  static constexpr int32_t kWeightExcess = 0;
  static constexpr size_t kPrepared = 0;
  static constexpr size_t kVoteRows = 12;
  static constexpr bool kBytePlanes = false;

  // Both int32 products of each lane's int16, the lower two lanes' and the upper two lanes', added up pairwise.
  static EGG_INLINE V32 madd16(V32 acc, V16 a, V16 b) {
    const int32x4_t low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
    const int32x4_t high = vmull_high_s16((int16x8_t)a, (int16x8_t)b);
    return acc + (V32)vpaddq_s32(low, high);
  }
  static EGG_INLINE V64 mul_even(V32 a, V32 b) {
    return (V64)vmull_s32(vmovn_s64((int64x2_t)a), vmovn_s64((int64x2_t)b));
  }
  static EGG_INLINE V16 mulhi16(V16 a, V16 b) {
    const int32x4_t low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
    const int32x4_t high = vmull_high_s16((int16x8_t)a, (int16x8_t)b);
    return (V16)vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
  }
  static EGG_INLINE V16 mulhrs16(V16 a, V16 b) { return (V16)vqrdmulhq_s16((int16x8_t)a, (int16x8_t)b); }
  static EGG_INLINE V16 mul_even8(U8 u, V8 x) { return (V16)((U16)u & 0x00ff) * even16(x); }
  static EGG_INLINE V16 mul_odd8(U8 u, V8 x) { return (V16)((U16)u >> 8) * odd16(x); }
  static EGG_INLINE V8 max8(V8 a, V8 b) { return (V8)vmaxq_s8((int8x16_t)a, (int8x16_t)b); }
  static EGG_INLINE V16 adds16(V16 a, V16 b) { return (V16)vqaddq_s16((int16x8_t)a, (int16x8_t)b); }
  static EGG_INLINE V8 adds8(V8 a, V8 b) { return (V8)vqaddq_s8((int8x16_t)a, (int8x16_t)b); }
  static EGG_INLINE V16 clip8(V16 v) {
    return (V16)vmaxq_s16(vminq_s16((int16x8_t)v, (int16x8_t)all16(127)), (int16x8_t)all16(-127));
  }
  static EGG_INLINE V32 clip16(V32 v) {
    return (V32)vmaxq_s32(vminq_s32((int32x4_t)v, (int32x4_t)all32(32767)), (int32x4_t)all32(-32767));
  }
  static EGG_INLINE V16 pack16(V32 a, V32 b) { return (V16)vqmovn_high_s32(vqmovn_s32((int32x4_t)a), (int32x4_t)b); }
  static EGG_INLINE V8 pack_quad(V16 low, V16 high) { return transpose4(pack8(low, high)); }
  static EGG_INLINE V16 first256(V8 v) { return (V16)vzip1q_s8(int8x16_t{}, (int8x16_t)v); }
  static EGG_INLINE V16 second256(V8 v) { return (V16)vzip2q_s8(int8x16_t{}, (int8x16_t)v); }
  static EGG_INLINE V32 first_twice(V32 v) { return (V32)vzip1q_s32((int32x4_t)v, (int32x4_t)v); }
  static EGG_INLINE V32 second_twice(V32 v) { return (V32)vzip2q_s32((int32x4_t)v, (int32x4_t)v); }
  static EGG_INLINE V8 pack8(V16 first, V16 second) {
    return max8((V8)vqmovn_high_s16(vqmovn_s16((int16x8_t)first), (int16x8_t)second), all8(-127));
  }
  static EGG_INLINE V8 transpose4(V8 v) {
    const uint8x16_t order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    return (V8)vqtbl1q_s8((int8x16_t)v, order);
  }
  static EGG_INLINE V32 broadcast16(const void* from) { return load<V32>(from); }
  static EGG_INLINE V32 sum_abs(V32 acc, V8 x) {
    return (V32)vpadalq_u16((uint32x4_t)acc, vpaddlq_u8(vreinterpretq_u8_s8(vabsq_s8((int8x16_t)x))));
  }

  struct Table128 {
    uint8x16x4_t low;
    uint8x16x4_t high;
    explicit EGG_INLINE Table128(const uint8_t* table) : low(vld1q_u8_x4(table)), high(vld1q_u8_x4(table + 64)) {}
    // A lookup past its half of the table gives 0 in the first, and keeps what is there in the second.
    EGG_INLINE U8 at(U8 i) const { return (U8)vqtbx4q_u8(vqtbl4q_u8(low, (uint8x16_t)i), high, (uint8x16_t)(i - 64)); }
  };

  static EGG_INLINE void gather4(const int8_t* const* rows, V32 (&out)[4]) {
    const auto row = [&](size_t r) { return vreinterpretq_s32_s8(vld1q_s8(rows[r])); };
    const auto pairs = [](int32x4_t x, int32x4_t y) { return vreinterpretq_s64_s32(vzip1q_s32(x, y)); };
    const auto upper = [](int32x4_t x, int32x4_t y) { return vreinterpretq_s64_s32(vzip2q_s32(x, y)); };
    const int64x2_t a = pairs(row(0), row(1));
    const int64x2_t b = pairs(row(2), row(3));
    const int64x2_t c = upper(row(0), row(1));
    const int64x2_t d = upper(row(2), row(3));
    out[0] = (V32)vzip1q_s64(a, b);
    out[1] = (V32)vzip2q_s64(a, b);
    out[2] = (V32)vzip1q_s64(c, d);
    out[3] = (V32)vzip2q_s64(c, d);
  }

  static EGG_INLINE V16 widen16(const void* from) { return (V16)vmovl_s8(vld1_s8(static_cast<const int8_t*>(from))); }
  static EGG_INLINE V16 lower16(V8 v) { return (V16)vmovl_s8(vget_low_s8((int8x16_t)v)); }
  static EGG_INLINE V16 upper16(V8 v) { return (V16)vmovl_high_s8((int8x16_t)v); }

  static EGG_INLINE void store16(void* to, V32 v) {
    const int16x4_t narrow = vmovn_s32((int32x4_t)v);
    std::memcpy(to, &narrow, sizeof(narrow));
  }
};

// Multiplies bytes in int16, with at most two products in a sum: 2 * 127 * 127 < 2^15.
struct Neon : NeonCommon {
  static constexpr size_t kBlock = 4;
  static constexpr size_t kDepth = 2;

  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) { return dot(acc, x, w); }

  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) {
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8((int8x16_t)x), vget_low_s8((int8x16_t)w)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8((int8x16_t)x, (int8x16_t)w));
    return acc + (V32)vpaddq_s32(low, high);
  }

  // Takes two registers of members at a time. Each lane's sum is kept in two parts, for its lower and its upper two
  // channels. One register has the parts of the lower two lanes, another those of the upper two.
  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t quads, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    for (size_t first = 0; first < kMemberRegs; first += 2) {
      int32x4_t low[NB][2] = {};
      int32x4_t high[NB][2] = {};
      const int8_t* from = x + first * kBytes;
      const int8_t* weights = w;
      for (size_t k = 0; k < quads; k += 2) {
        int8x16_t even[2];
        int8x16_t odd[2];
#pragma GCC unroll 2
        for (size_t m = 0; m < 2; ++m) {
          even[m] = vld1q_s8(from + m * kBytes);
          odd[m] = vld1q_s8(from + (kMemberRegs + m) * kBytes);
        }
        from += 2 * kMemberRegs * kBytes;
#pragma GCC unroll 4
        for (size_t o = 0; o < NB; ++o) {
          const int8x16_t even_weight = (int8x16_t)broadcast(weights + 4 * o);
          const int8x16_t odd_weight = (int8x16_t)broadcast(weights + 4 * (NB + o));
#pragma GCC unroll 2
          for (size_t m = 0; m < 2; ++m) {
            const int16x8_t lower = vmull_s8(vget_low_s8(even[m]), vget_low_s8(even_weight));
            low[o][m] = vpadalq_s16(low[o][m], vmlal_s8(lower, vget_low_s8(odd[m]), vget_low_s8(odd_weight)));
            const int16x8_t upper = vmull_high_s8(even[m], even_weight);
            high[o][m] = vpadalq_s16(high[o][m], vmlal_high_s8(upper, odd[m], odd_weight));
          }
        }
        weights += 8 * NB;
      }
      for (size_t o = 0; o < NB; ++o) {
        for (size_t m = 0; m < 2; ++m) acc[o][first + m] += (V32)vpaddq_s32(low[o][m], high[o][m]);
      }
    }
  }
};

// Here and below, instructions are inline assembly. Up to GCC 13 their intrinsics inline only if all of ARMv8.2 is
// allowed. Its atomics must not get into inline functions that are shared with the code for every processor.
#if defined(__ARM_FEATURE_DOTPROD)
struct NeonDotprod : NeonCommon {
  static constexpr size_t kBlock = 12;
  static constexpr size_t kDepth = 1;

  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) { return dot(acc, x, w); }

  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) {
    asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(x), "w"(w));
    return acc;
  }
  // Multiplies by lane kLane of w in every lane.
  template <int kLane>
  static EGG_INLINE V32 dot_lane(V32 acc, V8 x, V8 w) {
    asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(acc) : "w"(x), "w"(w), "i"(kLane));
    return acc;
  }

  // Two registers of members at a time, so that 24 sums, their inputs and the weights fit 32 registers.
  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t quads, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    for (size_t first = 0; first < kMemberRegs; first += 2) {
      V32 sum[NB][2] = {};
      const int8_t* from = x + first * kBytes;
      const int8_t* weights = w;
      for (size_t k = 0; k < quads; ++k) {
        const V8 values[2] = {load<V8>(from), load<V8>(from + kBytes)};
        from += kMemberRegs * kBytes;
#pragma GCC unroll 3
        for (size_t o = 0; o < NB; o += 4) {
          const V8 four = load<V8>(weights + 4 * o);
#pragma GCC unroll 2
          for (size_t m = 0; m < 2; ++m) {
            sum[o][m] = dot_lane<0>(sum[o][m], values[m], four);
            sum[o + 1][m] = dot_lane<1>(sum[o + 1][m], values[m], four);
            sum[o + 2][m] = dot_lane<2>(sum[o + 2][m], values[m], four);
            sum[o + 3][m] = dot_lane<3>(sum[o + 3][m], values[m], four);
          }
        }
        weights += 4 * NB;
      }
      for (size_t o = 0; o < NB; ++o) {
        for (size_t m = 0; m < 2; ++m) acc[o][first + m] += sum[o][m];
      }
    }
  }
};
#endif

#if defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_MATMUL_INT8)
// smmla multiplies eight channels of two members with those of two outputs.
struct NeonI8mm : NeonCommon {
  static constexpr size_t kBlock = 16;
  static constexpr size_t kDepth = 2;

  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) { return NeonDotprod::dot(acc, x, w); }
  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) { return dot(acc, x, w); }
  // Rows of eight bytes: acc + [x0 * w0, x0 * w1, x1 * w0, x1 * w1].
  static EGG_INLINE V32 multiply(V32 acc, V8 x, V8 w) {
    asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(x), "w"(w));
    return acc;
  }

  // Eight channels of an output lie together, then eight channels of the next output.
  static constexpr size_t quad_at(size_t nb, size_t o, size_t k) { return (k / 2 * nb + o) * 8 + k % 2 * 4; }

  // One register of members at a time. sum[p][h]: outputs 2p and 2p + 1 of its members 2h and 2h + 1.
  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t quads, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    for (size_t m = 0; m < kMemberRegs; ++m) {
      V32 sum[NB / 2][2] = {};
      const int8_t* from = x + m * kBytes;
      const int8_t* weights = w;
      for (size_t k = 0; k < quads; k += 2) {
        const int32x4_t even = (int32x4_t)load<V32>(from);
        const int32x4_t odd = (int32x4_t)load<V32>(from + kMemberRegs * kBytes);
        from += 2 * kMemberRegs * kBytes;
        const V8 lower = (V8)vzip1q_s32(even, odd);
        const V8 upper = (V8)vzip2q_s32(even, odd);
#pragma GCC unroll 8
        for (size_t p = 0; p < NB / 2; ++p) {
          const V8 two = load<V8>(weights + 16 * p);
          sum[p][0] = multiply(sum[p][0], lower, two);
          sum[p][1] = multiply(sum[p][1], upper, two);
        }
        weights += 8 * NB;
      }
      for (size_t p = 0; p < NB / 2; ++p) {
        acc[2 * p][m] += (V32)vuzp1q_s32((int32x4_t)sum[p][0], (int32x4_t)sum[p][1]);
        acc[2 * p + 1][m] += (V32)vuzp2q_s32((int32x4_t)sum[p][0], (int32x4_t)sum[p][1]);
      }
    }
  }
};
#endif

}  // namespace eggroll::tile

#endif
