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
  static constexpr size_t kQuadBytes = Tile<S>::kQuadBytes;

  static void run(Tile<S>& tile, const egg_op& op) {
    const auto param = static_cast<size_t>(op.param[0]);
    const PlanParam& p = tile.model.plan.forms[param];
    Linear call(tile, op, p);
    call.read_input();
    if constexpr (S::kTiled) {
      call.is_simple() ? call.template run_tiled<true>(param) : call.template run_tiled<false>(param);
    } else {
      for (size_t first = 0; first < call.outputs(); first += S::kBlock) {
        const int8_t* weights = tile.model.weights.block(param, first);
        call.run_block<S::kBlock>(first, Weights<S>::block_size(p, first), weights);
      }
    }
    // Quads that only the depth of a block adds.
    const size_t all = tile.model.plan.quads[static_cast<size_t>(op.out)];
    const size_t bytes = kQuadBytes * (call.wide_ ? 4 : 1);
    std::memset(call.y_ + p.row_quads * bytes, 0, (all - p.row_quads) * bytes);
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

  size_t outputs() const { return size_t{p_.row_quads} * 4; }

  // The sums over x that do not depend on the output: of x itself, and q of each rank. Each has an accumulator for even
  // quads and one for odd ones, so that fewer products wait for the one before.
  void read_input() {
    V32 sum[2][kRegs] = {};
    V32 dots[2][kRegs] = {};
    const size_t all = p_.col_quads * kQuadBytes;
    const int8_t* b = noise_.b;
    read_pass<true>(b, all, sum, dots);
    for (size_t m = 0; m < kRegs; ++m) excess_[m] = (sum[0][m] + sum[1][m]) * S::kWeightExcess;
    for (size_t r = 0; r < ranks_; ++r) {
      if (r > 0) {
        b += p_.col_quads * S::kPairRegs * S::kBytes;
        for (auto& half : dots) std::fill(std::begin(half), std::end(half), V32{});
        read_pass<false>(b, all, sum, dots);
      }
      make_q(r, dots);
    }
  }

  // Adds x to sum and prepares it, if kFirst; adds x times b to dots, if there is a perturbation.
  template <bool kFirst>
  EGG_INLINE void read_pass(const int8_t* b, [[maybe_unused]] size_t all, V32 (&sum)[2][kRegs], V32 (&dots)[2][kRegs]) {
    // Copies: a store of prepared bytes might change what a pointer leads to.
    const int8_t* const from = x_;
    [[maybe_unused]] int8_t* const prepared = tile_.prepared.data();
    const bool perturbed = ranks_ != 0;
    const auto quad = [&](size_t k, auto half) EGG_INLINE_LAMBDA {
      unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
        const size_t at = (k * kRegs + m) * S::kBytes;
        const V8 x = S::template load<V8>(from + at);
        if constexpr (kFirst && S::kWeightExcess != 0) sum[half][m] = S::sum_signed(sum[half][m], x);
        if constexpr (kFirst && S::kPrepared != 0) S::prepare(x, prepared + at, all);
        if (perturbed) {
          const V8 noise = S::template load<V8>(b + (k * S::kPairRegs + m / 2) * S::kBytes);
          dots[half][m] = S::dot(dots[half][m], x, noise);
        }
      });
    };
    constexpr std::integral_constant<size_t, 0> kEven;
    constexpr std::integral_constant<size_t, 1> kOdd;
    const size_t quads = p_.col_quads;
    size_t k = 0;
    for (; k + 2 <= quads; k += 2) {
      quad(k, kEven);
      quad(k + 1, kOdd);
    }
    if (k < quads) quad(k, kEven);
  }

  // q of rank r from x times its side B.
  void make_q(size_t r, const V32 (&dots)[2][kRegs]) {
    const int32_t shift = tile_.model.plan.q_shift();
    const int32_t round = tile_.model.nearest() != 0 && shift > 0 ? 1 << (shift - 1) : 0;
    for (size_t m = 0; m < kRegs; ++m) {
      const V32 clipped = S::clip16((dots[0][m] + dots[1][m] + round - excess_[m]) >> shift);
      const V32 with_sign = m % 2 == 0 ? clipped : -clipped;
      q_low_[r][m] = (V16)(with_sign & 0xffff);
      q_high_[r][m] = (V16)(with_sign << 16);
    }
  }

  // Whether the product's rounding is a multiple of the guard bits' unit: then the sums begin with it, at no cost.
  bool is_early() const { return round_ % (1 << EGG_LINEAR_GUARD_BITS) == 0; }
  // What the sums of members m begin with.
  EGG_INLINE V32 start(size_t m) const { return (is_early() ? round_ >> EGG_LINEAR_GUARD_BITS : 0) - excess_[m]; }
  bool is_simple() const { return ranks_ == 1 && is_early() && bias_ == nullptr && !wide_; }

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
    unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
      const V32 begin = start(m);
      unrolled<NB>([&](auto o) EGG_INLINE_LAMBDA { acc[o][m] = begin; });
    });
    S::template dot_block<NB>(x_, tile_.prepared.data(), p_.col_quads, weights, rows_ + first, acc);
    const auto finish = [&](auto simple) EGG_INLINE_LAMBDA {
      unrolled<NB / 4>([&](auto g) EGG_INLINE_LAMBDA {
        unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
          V32 t[4];
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = acc[4 * g + i][m]; });
          finish_quad<simple>(first / 4 + g, m, t);
        });
      });
    };
    is_simple() ? finish(std::true_type{}) : finish(std::false_type{});
  }

  // A block is finished between the products of the next. Its sums are stored after that, because a load from the place
  // of a store that is under way waits for it, and so does one 4 KiB away from such a place.
  template <bool kSimple>
  void run_tiled(size_t param) {
    V32 begin[kRegs];
    for (size_t m = 0; m < kRegs; ++m) begin[m] = start(m);
    V32 sums[S::kBlock * kRegs];
    size_t before = 0;  // first quad of the block whose sums these are
    size_t quads = 0;   // of that block
    const auto finish = [&](size_t k, size_t steps) EGG_INLINE_LAMBDA {
      for (size_t g = quads * k / steps; g < quads * (k + 1) / steps; ++g) {
        unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
          V32 t[4];
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = sums[(4 * g + i) * kRegs + m] + begin[m]; });
          finish_quad<kSimple>(before + g, m, t);
        });
      }
    };
    for (size_t first = 0; first < outputs(); first += S::kBlock) {
      const int8_t* weights = tile_.model.weights.block(param, first);
      const size_t size = Weights<S>::block_size(p_, first);
      S::begin_block(x_, p_.col_quads, weights, size, finish);
      S::end_block(x_, p_.col_quads, weights, size, sums);
      before = first / 4;
      quads = size / 4;
    }
    finish(0, 1);
  }

  // Four outputs of a register of members, from their sums t. kSimple: rank 1, no bias, rounding done, int8.
  template <bool kSimple>
  EGG_INLINE void finish_quad(size_t quad, size_t m, V32 (&t)[4]) {
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] <<= EGG_LINEAR_GUARD_BITS; });
    const size_t ranks = kSimple ? 1 : ranks_;
    for (size_t r = 0; r < ranks; ++r) {
      const V8 a = S::template load<V8>(noise_.a + ((r * p_.row_quads + quad) * S::kPairRegs + m / 2) * S::kBytes);
      const V16 even = S::even16(a);
      const V16 odd = S::odd16(a);
      t[0] = S::madd16(t[0], even, q_low_[r][m]);
      t[1] = S::madd16(t[1], odd, q_low_[r][m]);
      t[2] = S::madd16(t[2], even, q_high_[r][m]);
      t[3] = S::madd16(t[3], odd, q_high_[r][m]);
    }
    const V32 late = V32{} + (kSimple || is_early() ? 0 : round_);
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = (kSimple ? t[i] : t[i] + late) >> shift_; });
    const size_t at = (quad * kRegs + m) * S::kBytes;
    if (!kSimple && bias_ != nullptr) {
      const V8 bias = S::template load<V8>(bias_ + at);
      unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] += S::byte32(bias, i); });
    }
    if (!kSimple && wide_) {
      int8_t* to = y_ + (quad * 4 * kRegs + m) * S::kBytes;
      unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { S::store(to + i * kQuadBytes, t[i]); });
      return;
    }
    S::store(y_ + at, S::pack4(t[0], t[1], t[2], t[3]));
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
