// linear: the product of a tile with a matrix, and its fused epilogue (perturbation, shift, bias, clip).
#ifndef EGGROLL_TILE_LINEAR_H
#define EGGROLL_TILE_LINEAR_H

#include "tile.h"

namespace eggroll::tile {

template <class S>
class Linear {
 public:
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kGroupBytes = Tile<S>::kGroupBytes;

  static void run(Tile<S>& tile, const egg_op& op) {
    const auto param = static_cast<size_t>(op.param[0]);
    const PlanParam& p = tile.model.plan.forms[param];
    Linear call(tile, op, p);
    call.read_input();
    for (size_t first = 0; first < size_t{p.row_groups} * 4; first += S::kBlock) {
      const int8_t* weights = tile.model.weights.block(param, first);
      call.run_block<S::kBlock>(first, Weights<S>::block_size(p, first), weights);
    }
    // Groups that only the depth of a block adds.
    const size_t all = tile.model.plan.groups[static_cast<size_t>(op.out)];
    const size_t bytes = kGroupBytes * (call.wide_ ? 4 : 1);
    std::memset(call.y_ + p.row_groups * bytes, 0, (all - p.row_groups) * bytes);
  }

 private:
  Linear(Tile<S>& tile, const egg_op& op, const PlanParam& p)
      : tile_(tile),
        p_(p),
        noise_(tile.params[static_cast<size_t>(op.param[0])]),
        bias_(op.param[1] < 0 ? nullptr : tile.params[static_cast<size_t>(op.param[1])].a),
        rows_(tile.model.weights.outputs(static_cast<size_t>(op.param[0]))),
        x_(tile.at[static_cast<size_t>(op.in[0])]),
        y_(tile.at[static_cast<size_t>(op.out)]),
        shift_(op.attr + EGG_LINEAR_GUARD_BITS),
        round_(tile.model.nearest() != 0 ? 1 << (shift_ - 1) : 0),
        ranks_(noise_.ranks),
        wide_(tile.model.plan.is_wide(op.out)) {}

  // The sums over x that do not depend on the output: of x itself, and q of each rank.
  void read_input() {
    V32 sum[kRegs] = {};
    [[maybe_unused]] const size_t all = p_.col_groups * kGroupBytes;
    for (size_t k = 0; k < p_.col_groups; ++k) {
      for (size_t m = 0; m < kRegs; ++m) {
        const size_t at = (k * kRegs + m) * S::kBytes;
        const V8 x = S::template load<V8>(x_ + at);
        if constexpr (S::kWeightExcess != 0) sum[m] = S::sum_signed(sum[m], x);
        if constexpr (S::kPrepared != 0) S::prepare(x, tile_.prepared.data() + at, all);
      }
    }
    for (size_t m = 0; m < kRegs; ++m) excess_[m] = sum[m] * S::kWeightExcess;
    const int32_t q_shift = tile_.model.plan.q_shift();
    const int32_t q_round = tile_.model.nearest() != 0 && q_shift > 0 ? 1 << (q_shift - 1) : 0;
    for (size_t r = 0; r < ranks_; ++r) {
      const int8_t* b = noise_.b + r * p_.col_groups * S::kPairRegs * S::kBytes;
      V32 q[kRegs];
      for (size_t m = 0; m < kRegs; ++m) q[m] = q_round - excess_[m];
      for (size_t k = 0; k < p_.col_groups; ++k) {
        for (size_t m = 0; m < kRegs; ++m) {
          q[m] = S::dot(q[m], S::template load<V8>(x_ + (k * kRegs + m) * S::kBytes),
                        S::template load<V8>(b + (k * S::kPairRegs + m / 2) * S::kBytes));
        }
      }
      for (size_t m = 0; m < kRegs; ++m) {
        const V32 clipped = S::clip16(q[m] >> q_shift);
        const V32 with_sign = m % 2 == 0 ? clipped : -clipped;
        q_low_[r][m] = (V16)(with_sign & 0xffff);
        q_high_[r][m] = (V16)(with_sign << 16);
      }
    }
  }

  // NB outputs, or the largest smaller block that `left` outputs fill.
  template <size_t NB>
  EGG_INLINE void run_block(size_t first, size_t left, const int8_t* weights) {
    if constexpr (NB > 4) {
      if (left < NB) {
        run_block<NB - 4>(first, left, weights);
        return;
      }
    }
    V32 acc[NB][kRegs];
    // The product's rounding, where it is a multiple of the guard bits' unit, costs nothing here.
    const bool early = round_ % (1 << EGG_LINEAR_GUARD_BITS) == 0;
    unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
      const V32 start = (early ? round_ >> EGG_LINEAR_GUARD_BITS : 0) - excess_[m];
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA { acc[o][m] = start; });
    });
    S::template dot_block<NB>(x_, tile_.prepared.data(), p_.col_groups, weights, rows_ + first, acc);
    if (ranks_ == 1 && early && bias_ == nullptr && !wide_) {
      finish<NB, true>(first, acc, early);
    } else {
      finish<NB, false>(first, acc, early);
    }
  }

  // kSimple: rank 1, no bias, rounding done, int8.
  template <size_t NB, bool kSimple>
  EGG_INLINE void finish(size_t first, V32 (&acc)[NB][kRegs], bool early) {
    unrolled<NB / 4>([&](auto g) EGG_INLINE_LAMBDA {
      const size_t group = first / 4 + g;
      unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
        V32 t[4];
        unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = acc[4 * g + i][m] << EGG_LINEAR_GUARD_BITS; });
        const size_t ranks = kSimple ? 1 : ranks_;
        for (size_t r = 0; r < ranks; ++r) {
          const V8 a =
              S::template load<V8>(noise_.a + ((r * p_.row_groups + group) * S::kPairRegs + m / 2) * S::kBytes);
          const V16 even = S::even16(a);
          const V16 odd = S::odd16(a);
          t[0] = S::madd16(t[0], even, q_low_[r][m]);
          t[1] = S::madd16(t[1], odd, q_low_[r][m]);
          t[2] = S::madd16(t[2], even, q_high_[r][m]);
          t[3] = S::madd16(t[3], odd, q_high_[r][m]);
        }
        const V32 late = V32{} + (kSimple || early ? 0 : round_);
        unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = (kSimple ? t[i] : t[i] + late) >> shift_; });
        const size_t at = (group * kRegs + m) * S::kBytes;
        if (!kSimple && bias_ != nullptr) {
          const V8 bias = S::template load<V8>(bias_ + at);
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] += S::byte32(bias, i); });
        }
        if (!kSimple && wide_) {
          int8_t* to = y_ + (group * 4 * kRegs + m) * S::kBytes;
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { S::store(to + i * kGroupBytes, t[i]); });
          return;
        }
        S::store(y_ + at, S::pack4(t[0], t[1], t[2], t[3]));
      });
    });
  }

  Tile<S>& tile_;
  const PlanParam& p_;
  const typename Tile<S>::Param& noise_;
  const int8_t* bias_;
  const typename S::Row* rows_;
  const int8_t* x_;
  int8_t* y_;
  int32_t shift_;
  int32_t round_;
  size_t ranks_;
  bool wide_;
  V32 excess_[kRegs];              // what the xor of the weights adds to every product
  V16 q_low_[kMostRanks][kRegs];   // s * q in the lower half of each lane
  V16 q_high_[kMostRanks][kRegs];  // in the upper half
};

}  // namespace eggroll::tile

#endif
