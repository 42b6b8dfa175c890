// The types and functions that the engine's kernels are written with: registers of 8, 16 and 32-bit lanes, and the
// functions that are the same for all instruction sets.
//
// An instruction set is a class S (simd_avx512.h, ...) derived from Simd<bytes of a register>, with
//   kPairRegs    registers of pairs in a tile; kMemberRegs is twice that
//   kBlock       outputs that dot_block makes at once, a multiple of 4
//   kDepth       quads of four channels that dot_block reads at once
//   kWeightXor   the byte that weights and noise of side B are xored with before `dot` reads them
//   kWeightExcess  the xor adds this times the sum of x to a product
//   kPrepared    prepared copies of x that dot_block reads
//   kBytePlanes  whether tables of 256 bytes fit registers; if so, S has sum_unsigned and any_upper
//   kVoteRows    rows of a block of votes, a multiple of 4; it has two registers of columns
//   Table128 and the functions of simd_avx512.h, which says what each does.
// Everything is exact: no lane saturates unless its name says so.
#ifndef EGGROLL_TILE_SIMD_H
#define EGGROLL_TILE_SIMD_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define EGG_INLINE inline __attribute__((always_inline))
#define EGG_INLINE_LAMBDA __attribute__((always_inline))

namespace eggroll::tile {

// Calls body(0), ..., body(N - 1), unrolled: each index is a constant, so an array of registers stays in registers.
template <size_t N, class Body>
EGG_INLINE void unrolled(const Body& body) {
  [&]<size_t... I>(std::index_sequence<I...>) EGG_INLINE_LAMBDA { (body(std::integral_constant<size_t, I>{}), ...); }
  (std::make_index_sequence<N>{});
}

template <size_t Bytes>
struct Simd {
  static constexpr size_t kBytes = Bytes;
  static constexpr size_t kLanes = Bytes / 4;
  typedef int8_t V8 __attribute__((vector_size(Bytes)));
  typedef uint8_t U8 __attribute__((vector_size(Bytes)));
  typedef int16_t V16 __attribute__((vector_size(Bytes)));
  typedef uint16_t U16 __attribute__((vector_size(Bytes)));
  typedef int32_t V32 __attribute__((vector_size(Bytes)));
  typedef uint32_t U32 __attribute__((vector_size(Bytes)));
  typedef int64_t V64 __attribute__((vector_size(Bytes)));
  typedef uint64_t U64 __attribute__((vector_size(Bytes)));
  typedef float F32 __attribute__((vector_size(Bytes)));

  // What dot_block must know about an output's weights. Most sets need nothing; AVX2 has its own Row.
  struct Row {
    Row() = default;
    Row(const int8_t* /*weights*/, size_t /*cols*/) {}
  };

  // Whether products are stored to memory in blocks of kBlock outputs. If so, TiledLinear replaces dot_block.
  static constexpr bool kTiled = false;
  // Whether those products take signed weights, which are packed without the xor.
  static constexpr bool kSignedBlocks = false;

  // The place of the four weights of output o and quad k in a block of nb outputs.
  static constexpr size_t quad_at(size_t nb, size_t o, size_t k) { return (k * nb + o) * 4; }

  template <class V>
  static EGG_INLINE V load(const void* from) {
    V v;
    std::memcpy(&v, from, Bytes);
    return v;
  }
  template <class V>
  static EGG_INLINE void store(void* to, V v) {
    std::memcpy(to, &v, Bytes);
  }
  static EGG_INLINE V8 all8(int8_t x) { return V8{} + x; }
  static EGG_INLINE V16 all16(int16_t x) { return V16{} + x; }
  static EGG_INLINE V32 all32(int32_t x) { return V32{} + x; }
  static EGG_INLINE U32 all32u(uint32_t x) { return U32{} + x; }
  // Keeps x in a register, so that it is not a constant in each instruction that uses it.
  static EGG_INLINE U32 kept(uint32_t x) {
    U32 v = all32u(x);
#if defined(__aarch64__)
    asm("" : "+w"(v));
#else
    asm("" : "+v"(v));
#endif
    return v;
  }
  // The type of a shift count for int16; all lanes have the same count.
  using Count = V16;
  static EGG_INLINE Count count(int32_t n) { return all16(static_cast<int16_t>(n)); }
  static EGG_INLINE V16 shift16(V16 v, Count n) { return v >> n; }
  // Whether any bit is set.
  static EGG_INLINE bool any(V32 v) {
    uint64_t words[Bytes / 8];
    store(words, v);
    uint64_t bits = 0;
    for (const uint64_t word : words) bits |= word;
    return bits != 0;
  }
  // Copies four bytes to every lane.
  static EGG_INLINE V32 broadcast(const void* from) {
    int32_t x;
    std::memcpy(&x, from, 4);
    return all32(x);
  }

  // Returns x in the first half of the lanes, y in the other half.
  static EGG_INLINE U32 halves(uint32_t x, uint32_t y) { return halves(x, y, std::make_index_sequence<kLanes>{}); }
  // Returns bytes of the first half and of the other half alternately.
  static EGG_INLINE V8 zip_halves(V8 v) { return zip_halves(v, std::make_index_sequence<Bytes>{}); }
  // Bytes 0 and 2, or 1 and 3, of each lane as two int16.
  static EGG_INLINE V16 even16(V8 v) { return ((V16)v << 8) >> 8; }
  static EGG_INLINE V16 odd16(V8 v) { return (V16)v >> 8; }
  // The inverse of even16 and odd16. Both must be within int8.
  static EGG_INLINE V8 join(V16 even, V16 odd) { return (V8)((even & 0xff) | (odd << 8)); }
  // The upper bytes of both, as `join` puts them.
  static EGG_INLINE V8 join_upper(V16 even, V16 odd) { return (V8)(((U16)even >> 8) | ((U16)odd & 0xff00)); }
  // Byte k of each lane, as int32.
  static EGG_INLINE V32 byte32(V8 v, size_t k) { return ((V32)v << static_cast<int32_t>(24 - 8 * k)) >> 24; }

 private:
  template <size_t... I>
  static EGG_INLINE U32 halves(uint32_t x, uint32_t y, std::index_sequence<I...>) {
    constexpr U32 kFirst = {(I < kLanes / 2 ? UINT32_MAX : 0)...};
    return ((U32{} + x) & kFirst) | ((U32{} + y) & ~kFirst);
  }
  template <size_t... I>
  static EGG_INLINE V8 zip_halves(V8 v, std::index_sequence<I...>) {
    return __builtin_shufflevector(v, v, (I / 2 + I % 2 * (Bytes / 2))...);
  }
};

// Sum of bytes, in [-127, 127].
template <class S>
EGG_INLINE typename S::V8 add_clip8(typename S::V8 a, typename S::V8 b) {
  return S::max8(S::adds8(a, b), S::all8(-127));
}

// The bytes t[0] to t[3] of each lane, each clipped to [-127, 127].
template <class S>
EGG_INLINE typename S::V8 pack4(const typename S::V32 (&t)[4]) {
  return S::pack_quad(S::pack16(t[0], t[1]), S::pack16(t[2], t[3]));
}

// dot_block for a set whose `dot` only needs x and weights. x: (quads, kMemberRegs) registers. Odd quads are added to
// `odd`, which may be acc.
template <class S, size_t NB>
EGG_INLINE void plain_dot_block(const int8_t* x, size_t quads, const int8_t* w,
                                typename S::V32 (&acc)[NB][S::kMemberRegs],
                                typename S::V32 (&odd)[NB][S::kMemberRegs]) {
  using V8 = typename S::V8;
  const auto add = [&](typename S::V32(&to)[NB][S::kMemberRegs]) EGG_INLINE_LAMBDA {
    V8 values[S::kMemberRegs];
    unrolled<S::kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA { values[m] = S::template load<V8>(x + m * S::kBytes); });
    unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA {
      const V8 weight = (V8)S::broadcast(w + 4 * o);
      unrolled<S::kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA { to[o][m] = S::dot(to[o][m], values[m], weight); });
    });
    x += S::kMemberRegs * S::kBytes;
    w += 4 * NB;
  };
  size_t k = 0;
  for (; k + 4 <= quads; k += 4) {
    add(acc);
    add(odd);
    add(acc);
    add(odd);
  }
  for (; k < quads; ++k) add(acc);
}

}  // namespace eggroll::tile

#endif
