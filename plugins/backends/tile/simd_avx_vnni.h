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

  static EGG_INLINE V32 dot_positive(V32 acc, V8 x, V8 w) { return dot(acc, x, w); }

  template <size_t NB>
  static EGG_INLINE void dot_block(const int8_t* x, const int8_t* /*prepared*/, size_t quads, const int8_t* w,
                                   const Row* /*rows*/, V32 (&acc)[NB][kMemberRegs]) {
    plain_dot_block<AvxVnni>(x, quads, w, acc, acc);
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
