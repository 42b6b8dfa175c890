// AVX2 with AVX-VNNI: dpbusd in 256-bit registers, so weights are kept plus 128 as under AVX-512.
#ifndef EGGROLL_TILE_SIMD_AVX_VNNI_H
#define EGGROLL_TILE_SIMD_AVX_VNNI_H

#include "simd_avx2.h"

// The instruction's encoding. Tests define it empty, to run the same code on processors that know only AVX-512's.
#ifndef EGG_VNNI_ENCODING
#define EGG_VNNI_ENCODING "%{vex%} "
#endif

namespace eggroll::tile {

struct AvxVnni : Avx2 {
  static constexpr int8_t kWeightXor = -128;
  static constexpr int32_t kWeightExcess = 128;
  static constexpr size_t kPrepared = 0;
  static constexpr size_t kDepth = 1;
  using Row = Simd<32>::Row;

  static EGG_INLINE V32 dot(V32 acc, V8 x, V8 w) {
    asm(EGG_VNNI_ENCODING "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(w), "x"(x));
    return acc;
  }

  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t groups, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    for (size_t k = 0; k < groups; ++k) {
      const V8 x0 = load<V8>(x);
      const V8 x1 = load<V8>(x + kBytes);
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA {
        const V8 weight = (V8)broadcast(w + 4 * o);
        acc[o][0] = dot(acc[o][0], x0, weight);
        acc[o][1] = dot(acc[o][1], x1, weight);
      });
      x += kMemberRegs * kBytes;
      w += 4 * NB;
    }
  }

  static EGG_INLINE V32 madd16(V32 acc, V16 a, V16 b) {
    asm(EGG_VNNI_ENCODING "vpdpwssd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
    return acc;
  }
  static EGG_INLINE V32 sum_abs(V32 acc, V8 x) { return dot(acc, all8(1), abs8(x)); }
  static EGG_INLINE V32 sum_signed(V32 acc, V8 x) { return dot(acc, x, all8(1)); }
};

}  // namespace eggroll::tile

#endif
