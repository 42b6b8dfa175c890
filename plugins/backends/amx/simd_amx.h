// AMX beside AVX-512. A register of x holds four channels of 16 members, which is a row of a tile: a tile of x is 64
// channels of 16 members, a tile of weights 64 inputs of 16 outputs, and their product the sums of 16 outputs of 16
// members, laid out as `linear` wants them.
#ifndef EGGROLL_AMX_SIMD_AMX_H
#define EGGROLL_AMX_SIMD_AMX_H

#include "simd_avx512.h"
#include "tiles.h"

namespace eggroll::tile {

struct Amx : Avx512 {
  static constexpr size_t kPairRegs = 2;
  static constexpr size_t kMemberRegs = 2 * kPairRegs;
  static constexpr size_t kTileRegs = 2;  // registers of members in a block of sums
  static constexpr size_t kBlock = 2 * Tiles::kRows;
  static constexpr size_t kDepth = Tiles::kRows;  // quads of four channels in a tile
  static constexpr bool kTiled = true;
  static constexpr bool kSignedBlocks = true;

  // 64 inputs of each output in turn: rows of a tile.
  static constexpr size_t quad_at(size_t nb, size_t o, size_t k) {
    return (k / kDepth * nb + o) * Tiles::kRowBytes + k % kDepth * 4;
  }

  // Begins sums[o][m] = the sum over quads of x[quad][m] * w[o][quad], for kTileRegs registers of members, which
  // end_block hands over. x: the first of them in (quads, kMemberRegs) registers; w: one packed block of this number of
  // outputs, at most kBlock. Between the products work(k, steps) is called for k in [0, steps): a thread's tiles and
  // registers work at the same time, but only on what stands close together.
  template <class Work>
  static EGG_INLINE void begin_block(const int8_t* x, size_t quads, const int8_t* w, size_t outputs, const Work& work) {
    static thread_local bool has_shapes = false;
    if (!has_shapes) [[unlikely]] {
      Tiles::shape();
      has_shapes = true;
    }
    if (outputs == kBlock) {
      multiply_tiles<2>(x, quads, w, outputs, work);
    } else if (outputs >= Tiles::kRows) {
      multiply_tiles<1>(x, quads, w, outputs, work);
    } else {
      work(size_t{0}, size_t{1});
    }
  }
  // Hands over the block that was begun, with the same arguments. sums: (outputs, kTileRegs).
  static EGG_INLINE void end_block(const int8_t* x, size_t quads, const int8_t* w, size_t outputs, V32* sums) {
    const size_t tiled = outputs / Tiles::kRows * Tiles::kRows;
    if (tiled > 0) {
      Tiles::store<0>(sums, kSumBytes);
      Tiles::store<1>(sums + 1, kSumBytes);
    }
    if (tiled == kBlock) {
      V32* const second = sums + Tiles::kRows * kTileRegs;
      Tiles::store<2>(second, kSumBytes);
      Tiles::store<3>(second + 1, kSumBytes);
    }
    multiply_rest(x, quads, w, tiled, outputs, sums);
  }

 private:
  static_assert(kMemberRegs % kTileRegs == 0 && kWeightXor == -128);
  static constexpr size_t kMemberBytes = kMemberRegs * kBytes;
  static constexpr size_t kSumBytes = kTileRegs * kBytes;

  // Two tiles of members and one or two of outputs, of a block of nb outputs.
  template <size_t kOutputTiles, class Work>
  static EGG_INLINE void multiply_tiles(const int8_t* x, size_t quads, const int8_t* w, size_t nb, const Work& work) {
    constexpr bool kTwo = kOutputTiles == 2;
    Tiles::zero<0>();
    Tiles::zero<1>();
    if constexpr (kTwo) {
      Tiles::zero<2>();
      Tiles::zero<3>();
    }
    const size_t steps = quads / kDepth;
    for (size_t k = 0; k < steps; ++k) {
      Tiles::load<6>(x, kMemberBytes);
      Tiles::load<4>(w, Tiles::kRowBytes);
      Tiles::multiply_add<0, 4, 6>();
      Tiles::load<7>(x + kBytes, kMemberBytes);
      Tiles::multiply_add<1, 4, 7>();
      if constexpr (kTwo) {
        Tiles::load<5>(w + Tiles::kRows * Tiles::kRowBytes, Tiles::kRowBytes);
        Tiles::multiply_add<2, 5, 6>();
        Tiles::multiply_add<3, 5, 7>();
      }
      x += kDepth * kMemberBytes;
      w += nb * Tiles::kRowBytes;
      work(k, steps);
    }
  }

  // Outputs from `first` on, too few for a tile.
  static void multiply_rest(const int8_t* x, size_t quads, const int8_t* w, size_t first, size_t outputs, V32* sums) {
    if (first == outputs) return;
    V32 excess[kTileRegs] = {};
    for (size_t k = 0; k < quads; ++k) {
      unrolled<kTileRegs>([&](auto m) EGG_INLINE_LAMBDA {
        excess[m] = sum_signed(excess[m], load<V8>(x + k * kMemberBytes + m * kBytes));
      });
    }
    for (size_t o = first; o < outputs; ++o) {
      V32 acc[kTileRegs];
      for (size_t m = 0; m < kTileRegs; ++m) acc[m] = excess[m] * -kWeightExcess;
      for (size_t k = 0; k < quads; ++k) {
        const V8 weights = (V8)broadcast(w + quad_at(outputs, o, k)) ^ kWeightXor;
        unrolled<kTileRegs>([&](auto m) EGG_INLINE_LAMBDA {
          acc[m] = dot(acc[m], load<V8>(x + k * kMemberBytes + m * kBytes), weights);
        });
      }
      for (size_t m = 0; m < kTileRegs; ++m) sums[o * kTileRegs + m] = acc[m];
    }
  }
};

}  // namespace eggroll::tile

#endif
