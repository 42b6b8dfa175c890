// AMX beside AVX-512. A register of x holds four channels of 16 members, which is a row of a tile: a tile of x is 64
// channels of 16 members, a tile of weights 64 inputs of 16 outputs, and their product the sums of 16 outputs of 16
// members, laid out as `linear` wants them.
#ifndef EGGROLL_AMX_SIMD_AMX_H
#define EGGROLL_AMX_SIMD_AMX_H

#include "simd_avx512.h"
#include "tiles.h"

namespace eggroll::tile {

struct Amx : Avx512 {
  static constexpr size_t kBlock = 2 * Tiles::kRows;
  static constexpr size_t kDepth = Tiles::kRows;  // quads of four channels in a tile
  static constexpr bool kTiled = true;
  static constexpr bool kSignedBlocks = true;

  // 64 inputs of each output in turn: rows of a tile.
  static constexpr size_t quad_at(size_t nb, size_t o, size_t k) {
    return (k / kDepth * nb + o) * Tiles::kRowBytes + k % kDepth * 4;
  }

  // Before a thread's first product.
  static EGG_INLINE void begin_products() {
    static thread_local bool has_shapes = false;
    if (!has_shapes) [[unlikely]] {
      Tiles::shape();
      has_shapes = true;
    }
  }

  // Begins sums[o][m] = the sum over quads of x[quad][m] * w[o][quad] in the tiles. x: (quads, kMemberRegs) registers;
  // w: one packed block of kBlock outputs.
  //
  // If kAfter, the tiles still hold the sums of the block before: those are stored in `before`, (kBlock, kMemberRegs).
  // Each tile is stored just before it is set to zero, so that the other tiles multiply while its last sums are made.
  // After product j (0 to 3) of each step work(step, j) is called, because a thread's tiles and registers work at the
  // same time, but only on what stands close together.
  template <bool kAfter, class Work>
  static EGG_INLINE void multiply_block(const int8_t* x, size_t quads, const int8_t* w, V32* before, const Work& work) {
    const auto begin = [&](auto tile) EGG_INLINE_LAMBDA {
      if constexpr (kAfter) store_tile<tile>(before);
      Tiles::zero<tile>();
    };
    const auto product = [&](auto first, size_t step, auto j) EGG_INLINE_LAMBDA {
      if constexpr (j == 0) Tiles::load<6>(x, kMemberBytes);
      if constexpr (j == 0) Tiles::load<4>(w, Tiles::kRowBytes);
      if constexpr (j == 1) Tiles::load<7>(x + kBytes, kMemberBytes);
      if constexpr (j == 2) Tiles::load<5>(w + Tiles::kRows * Tiles::kRowBytes, Tiles::kRowBytes);
      if constexpr (first) begin(j);
      Tiles::multiply_add<j, 4 + j / 2, 6 + j % 2>();
      work(step, j);
    };
    unrolled<4>([&](auto j) EGG_INLINE_LAMBDA { product(std::true_type{}, 0, j); });
    for (size_t step = 1; step < quads / kDepth; ++step) {
      x += kDepth * kMemberBytes;
      w += kBlock * Tiles::kRowBytes;
      unrolled<4>([&](auto j) EGG_INLINE_LAMBDA { product(std::false_type{}, step, j); });
    }
  }
  // Stores the sums of the block that was multiplied last.
  static EGG_INLINE void store_block(V32* sums) {
    unrolled<4>([&](auto tile) EGG_INLINE_LAMBDA { store_tile<tile>(sums); });
  }

  // The sums of a block of any number of outputs, at once.
  static void multiply_part(const int8_t* x, size_t quads, const int8_t* w, size_t outputs, V32* sums) {
    size_t first = 0;
    for (; first + Tiles::kRows <= outputs; first += Tiles::kRows) {
      Tiles::zero<0>();
      Tiles::zero<1>();
      for (size_t step = 0; step < quads / kDepth; ++step) {
        Tiles::load<4>(w + (step * outputs + first) * Tiles::kRowBytes, Tiles::kRowBytes);
        Tiles::load<6>(x + step * kDepth * kMemberBytes, kMemberBytes);
        Tiles::load<7>(x + step * kDepth * kMemberBytes + kBytes, kMemberBytes);
        Tiles::multiply_add<0, 4, 6>();
        Tiles::multiply_add<1, 4, 7>();
      }
      store_tile<0>(sums + first * kMemberRegs);
      store_tile<1>(sums + first * kMemberRegs);
    }
    multiply_rest(x, quads, w, first, outputs, sums);
  }

 private:
  static_assert(kMemberRegs == 2 && kWeightXor == -128);
  static constexpr size_t kMemberBytes = kMemberRegs * kBytes;

  // Tiles 0 and 1 are 16 outputs, 2 and 3 the next 16; the even ones are the first register of members.
  template <int T>
  static EGG_INLINE void store_tile(V32* sums) {
    Tiles::store<T>(sums + T / 2 * Tiles::kRows * kMemberRegs + T % 2, kMemberRegs * kBytes);
  }

  // Outputs from `first` on, too few for a tile.
  static void multiply_rest(const int8_t* x, size_t quads, const int8_t* w, size_t first, size_t outputs, V32* sums) {
    if (first == outputs) return;
    V32 excess[kMemberRegs] = {};
    for (size_t k = 0; k < quads; ++k) {
      unrolled<kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA {
        excess[m] = sum_signed(excess[m], load<V8>(x + k * kMemberBytes + m * kBytes));
      });
    }
    for (size_t o = first; o < outputs; ++o) {
      V32 acc[kMemberRegs];
      for (size_t m = 0; m < kMemberRegs; ++m) acc[m] = excess[m] * -kWeightExcess;
      for (size_t k = 0; k < quads; ++k) {
        const V8 weights = (V8)broadcast(w + quad_at(outputs, o, k)) ^ kWeightXor;
        unrolled<kMemberRegs>([&](auto m) EGG_INLINE_LAMBDA {
          acc[m] = dot(acc[m], load<V8>(x + k * kMemberBytes + m * kBytes), weights);
        });
      }
      for (size_t m = 0; m < kMemberRegs; ++m) sums[o * kMemberRegs + m] = acc[m];
    }
  }
};

}  // namespace eggroll::tile

#endif
