// The ops that read or make wide values: add, max_norm, rope. A wide value holds a register of int32 for each channel:
// (quads, 4, kRegs).
#ifndef EGGROLL_TILE_WIDE_H
#define EGGROLL_TILE_WIDE_H

#include "tile.h"

namespace eggroll::tile {

// n2 / d2 in every lane, cut towards zero, for 0 <= n2 / d2 < 2^20. `guess` must be at most 1 away from the result.
template <class S>
EGG_INLINE typename S::V32 corrected_quotient(typename S::V32 guess, typename S::U32 n2, typename S::U32 d2) {
  const auto rest = (typename S::V32)(n2 - (typename S::U32)guess * d2);
  return guess + (rest < 0) - (rest >= (typename S::V32)d2);
}

template <class S>
struct Wide {
  using V8 = typename S::V8;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  using V64 = typename S::V64;
  using U64 = typename S::U64;
  using F32 = typename S::F32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kQuadBytes = Tile<S>::kQuadBytes;

  // The four channels of a quad of an int8 or wide value.
  struct Four {
    V32 t[4];
  };

  class Reader {
   public:
    Reader(Tile<S>& tile, int32_t value)
        : from_(value < 0 ? nullptr : tile.at[static_cast<size_t>(value)]), wide_(tile.model.plan.is_wide(value)) {}
    EGG_INLINE Four at(size_t g, size_t m) const {
      Four four{};
      if (from_ == nullptr) return four;
      if (wide_) {
        for (size_t i = 0; i < 4; ++i) {
          four.t[i] = S::template load<V32>(from_ + ((g * 4 + i) * kRegs + m) * S::kBytes);
        }
        return four;
      }
      const V8 bytes = S::template load<V8>(from_ + (g * kRegs + m) * S::kBytes);
      for (size_t i = 0; i < 4; ++i) four.t[i] = S::byte32(bytes, i);
      return four;
    }

   private:
    const int8_t* from_;
    bool wide_;
  };

  class Writer {
   public:
    Writer(Tile<S>& tile, int32_t value)
        : to_(tile.at[static_cast<size_t>(value)]), wide_(tile.model.plan.is_wide(value)) {}
    // Stores a quad; clips it if the value is int8.
    EGG_INLINE void put(size_t g, size_t m, const Four& four) const {
      if (!wide_) {
        S::store(to_ + (g * kRegs + m) * S::kBytes, pack4<S>(four.t));
        return;
      }
      for (size_t i = 0; i < 4; ++i) S::store(to_ + ((g * 4 + i) * kRegs + m) * S::kBytes, four.t[i]);
    }

   private:
    int8_t* to_;
    bool wide_;
  };

  static size_t quads(const Tile<S>& tile, const egg_op& op) {
    return tile.model.plan.quads[static_cast<size_t>(op.out)];
  }

  static void add(Tile<S>& tile, const egg_op& op) {
    const Reader a(tile, op.in[0]);
    const Reader b(tile, op.in[1]);
    const int8_t* bias = op.param[1] < 0 ? nullptr : tile.params[static_cast<size_t>(op.param[1])].a;
    const Writer out(tile, op.out);
    for (size_t g = 0; g < quads(tile, op); ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        Four sum = a.at(g, m);
        const Four other = b.at(g, m);
        const V8 third = bias == nullptr ? V8{} : S::template load<V8>(bias + (g * kRegs + m) * S::kBytes);
        for (size_t i = 0; i < 4; ++i) sum.t[i] += other.t[i] + S::byte32(third, i);
        out.put(g, m, sum);
      }
    }
  }

  // The quotient is near 127 |x| / largest + 1/2. In float32 it is wrong by less than 2^-14, which is then corrected.
  static void max_norm(Tile<S>& tile, const egg_op& op) {
    const Reader x(tile, op.in[0]);
    const Writer out(tile, op.out);
    const size_t all = quads(tile, op);
    V32 largest[kRegs];
    for (V32& lanes : largest) lanes = V32{} + 1;
    for (size_t g = 0; g < all; ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        const Four four = x.at(g, m);
        for (size_t i = 0; i < 4; ++i) largest[m] = larger(largest[m], magnitude(four.t[i]));
      }
    }
    F32 factor[kRegs];
    for (size_t m = 0; m < kRegs; ++m) factor[m] = 127.0F / __builtin_convertvector(largest[m], F32);
    for (size_t g = 0; g < all; ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        Four four = x.at(g, m);
        const auto top = (U32)largest[m];
        for (size_t i = 0; i < 4; ++i) {
          const V32 size = magnitude(four.t[i]);
          const V32 guess = __builtin_convertvector(__builtin_convertvector(size, F32) * factor[m] + 0.5F, V32);
          const V32 quotient = corrected_quotient<S>(guess, (U32)size * 254 + top, top * 2);
          four.t[i] = four.t[i] < 0 ? -quotient : quotient;
        }
        out.put(g, m, four);
      }
    }
  }

  static void rope(Tile<S>& tile, const egg_op& op) {
    const Reader x(tile, op.in[0]);
    const Writer out(tile, op.out);
    const auto head = static_cast<size_t>(op.head);
    const int32_t* angles = tile.model.plan.program->tables[op.table].entries + tile.now->position * head;
    for (size_t g = 0; g < quads(tile, op); ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        Four four = x.at(g, m);
        for (size_t i = 0; i < 4; i += 2) {
          const int32_t* angle = angles + (4 * g + i) % head;
          const V32 x0 = four.t[i];
          const V32 x1 = four.t[i + 1];
          four.t[i] = rotated(x0, angle[0], x1, -angle[1]);
          four.t[i + 1] = rotated(x0, angle[1], x1, angle[0]);
        }
        out.put(g, m, four);
      }
    }
  }

 private:
  static EGG_INLINE V32 magnitude(V32 v) { return v < 0 ? -v : v; }
  static EGG_INLINE V32 larger(V32 a, V32 b) { return a > b ? a : b; }

  // egg_rotate in every lane, in 64 bits: first the even lanes, then the odd ones. Bits 20 to 51 are the result.
  static EGG_INLINE V32 rotated(V32 a, int32_t c, V32 b, int32_t d) {
    const V32 cs = V32{} + c;
    const V32 ds = V32{} + d;
    const U64 half = U64{} + (UINT64_C(1) << (EGG_ROPE_BITS - 1));
    const U64 even = (U64)S::mul_even(a, cs) + (U64)S::mul_even(b, ds) + half;
    const U64 odd = (U64)S::mul_even(upper(a), cs) + (U64)S::mul_even(upper(b), ds) + half;
    const U64 low = (even >> EGG_ROPE_BITS) & UINT32_MAX;
    const U64 high = (odd << (32 - EGG_ROPE_BITS)) & ~static_cast<uint64_t>(UINT32_MAX);
    return (V32)(low | high);
  }
  // Moves the odd lanes to the even lanes' places.
  static EGG_INLINE V32 upper(V32 v) { return (V32)((U64)v >> 32); }
};

}  // namespace eggroll::tile

#endif
