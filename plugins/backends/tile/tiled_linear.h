// linear on hardware tiles (S::kTiled): they multiply blocks of outputs while registers do the rest.
#ifndef EGGROLL_TILE_TILED_LINEAR_H
#define EGGROLL_TILE_TILED_LINEAR_H

#include "linear.h"

namespace eggroll::tile {

template <class S>
class TiledLinear {
 public:
  TiledLinear(Linear<S>& call, size_t param) : call_(call), param_(param) {}

  // Tiles multiply a block of S::kBlock outputs at a time. Work in registers stands between the products: x is
  // read while the first two blocks are multiplied, and a block is finished while another block is multiplied.
  void run() {
    S::begin_products();
    Sums sums[2];
    const size_t blocks = call_.outputs() < 2 * S::kBlock ? 0 : call_.outputs() / S::kBlock;
    typename L::Reading reading(call_, 0);
    if (blocks == 0) {
      reading.template add_all<true>(call_.p_.col_quads);
    } else {
      const auto read = [&](size_t block, size_t step, auto j) EGG_INLINE_LAMBDA {
        const size_t k = block * call_.p_.col_quads / 2 + step * (S::kDepth / 2) + 2 * j;
        reading.template add<true, 0>(k);
        reading.template add<true, 1>(k + 1);
      };
      multiply<false>(0, sums[0], [&](size_t step, auto j) EGG_INLINE_LAMBDA { read(0, step, j); });
      multiply<true>(1, sums[0], [&](size_t step, auto j) EGG_INLINE_LAMBDA { read(1, step, j); });
    }
    call_.finish_reading(reading);
    if (call_.rounded_) {
      call_.shift_ < 8 ? run_outputs<L::kRounded>(blocks, sums) : run_outputs<L::kHalves>(blocks, sums);
    } else if (call_.late_) {
      run_outputs<L::kLate>(blocks, sums);
    } else {
      call_.simple_&& call_.plain_ ? run_outputs<L::kSimple>(blocks, sums) : run_outputs<L::kAny>(blocks, sums);
    }
  }

 private:
  using L = Linear<S>;
  using Way = typename L::Way;
  using V32 = typename S::V32;
  static constexpr size_t kRegs = S::kMemberRegs;

  struct Sums {
    V32 of[S::kBlock * kRegs];
  };

  template <bool kAfter, class Work>
  EGG_INLINE void multiply(size_t block, Sums& before, const Work& work) const {
    S::template multiply_block<kAfter>(call_.x_, call_.p_.col_quads,
                                       call_.tile_.model.weights.block(param_, block * S::kBlock), before.of, work);
  }

  // Does all that follows the products of the first two blocks.
  template <Way kWay>
  void run_outputs(size_t blocks, Sums (&sums)[2]) {
    if (blocks != 0) {
      // With few inputs, four outputs are finished after each product, else after every second product.
      call_.p_.col_quads < 4 * S::kDepth ? run_blocks<kWay, 1>(blocks, sums) : run_blocks<kWay, 2>(blocks, sums);
    }
    for (size_t first = blocks * S::kBlock; first < call_.outputs(); first += S::kBlock) {
      const size_t size = Weights<S>::block_size(call_.p_, first);
      S::multiply_part(call_.x_, call_.p_.col_quads, call_.tile_.model.weights.block(param_, first), size, sums[0].of);
      const Finisher<kWay> finisher(call_, first / 4, sums[0]);
      for (size_t g = 0; g < size / 4; ++g) finisher.finish(g);
    }
  }

  // A block is finished two blocks later. Its sums are stored during the block between, because a load from the place
  // of an unfinished store would wait for that store. (Loads from the other sums, 4 KiB away, were not seen to wait.)
  template <Way kWay, size_t kProducts>
  void run_blocks(size_t blocks, Sums (&sums)[2]) {
    constexpr size_t kQuads = S::kBlock / 4;
    constexpr size_t kPerStep = 4 / kProducts;
    for (size_t block = 2; block < blocks; ++block) {
      const Finisher<kWay> finisher(call_, (block - 2) * kQuads, sums[block % 2]);
      size_t g = 0;
      multiply<true>(block, sums[1 - block % 2], [&](size_t step, auto j) EGG_INLINE_LAMBDA {
        if constexpr ((j + 1) % kProducts == 0) {
          if (step < kQuads / kPerStep) finisher.finish(g++);
        }
      });
      while (g < kQuads) finisher.finish(g++);
    }
    S::store_block(sums[1 - blocks % 2].of);
    for (size_t block = blocks - 2; block < blocks; ++block) {
      const Finisher<kWay> finisher(call_, block * kQuads, sums[block % 2]);
      for (size_t g = 0; g < kQuads; ++g) finisher.finish(g);
    }
  }

  // Finishes a block, four outputs at a time.
  template <Way kWay>
  struct Finisher {
    EGG_INLINE Finisher(const L& the_call, size_t first_quad, const Sums& the_sums)
        : call(the_call), quad(first_quad), sums(the_sums.of) {
      if constexpr (kWay >= L::kLate) {
        unrolled<S::kPairRegs>([&](auto p) EGG_INLINE_LAMBDA { late[p] = call.template late_of<kWay>(p); });
      }
    }
    // Finishes the g-th four outputs of the block.
    EGG_INLINE void finish(size_t g) const {
      unrolled<S::kPairRegs>([&](auto p) EGG_INLINE_LAMBDA {
        V32 t[2][4];
        unrolled<2>([&](auto side) EGG_INLINE_LAMBDA {
          call.template begin_quad<kWay>(quad + g, 2 * p + side, t[side]);
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[side][i] += sums[(4 * g + i) * kRegs + 2 * p + side]; });
          if constexpr (kWay < L::kLate) call.template finish_quad<kWay == L::kSimple>(quad + g, 2 * p + side, t[side]);
        });
        if constexpr (kWay == L::kHalves) {
          call.finish_halves(quad + g, late[p], t);
        } else if constexpr (kWay >= L::kLate) {
          call.template finish_late<kWay>(quad + g, late[p], t);
        }
      });
    }

    const L& call;
    size_t quad;  // the block's first
    const V32* sums;
    typename L::Late late[S::kPairRegs];
  };

  L& call_;
  size_t param_;
};

}  // namespace eggroll::tile

#endif
