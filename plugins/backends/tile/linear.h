// linear: the product of a tile with a matrix, and its fused epilogue (perturbation, shift, bias, clip).
#ifndef EGGROLL_TILE_LINEAR_H
#define EGGROLL_TILE_LINEAR_H

#include "tile.h"

namespace eggroll::tile {

template <class S>
class TiledLinear;

template <class S>
class Linear {
 public:
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kQuadBytes = Tile<S>::kQuadBytes;

  static void run(Tile<S>& tile, const egg_op& op) {
    const auto param = static_cast<size_t>(op.param[0]);
    const PlanParam& p = tile.model.plan.forms[param];
    Linear call(tile, op, p);
    if constexpr (S::kTiled) {
      TiledLinear<S>(call, param).run();
    } else {
      call.read_input();
      for (size_t first = 0; first < call.outputs(); first += S::kBlock) {
        const int8_t* weights = tile.model.weights.block(param, first);
        call.run_block<S::kBlock>(first, Weights<S>::block_size(p, first), weights);
      }
    }
    // These quads exist only because a block's depth rounds their number up.
    const size_t all = tile.model.plan.quads[static_cast<size_t>(op.out)];
    const size_t bytes = kQuadBytes * (call.wide_ ? 4 : 1);
    if (all > p.row_quads) std::memset(call.y_ + p.row_quads * bytes, 0, (all - p.row_quads) * bytes);
  }

 private:
  friend class TiledLinear<S>;

  Linear(Tile<S>& tile, const egg_op& op, const PlanParam& p)
      : tile_(tile),
        p_(p),
        noise_(tile.params[static_cast<size_t>(op.param[0])]),
        bias_(op.param[1] < 0 ? nullptr : tile.params[static_cast<size_t>(op.param[1])].a),
        rows_(tile.model.weights.outputs(static_cast<size_t>(op.param[0]))),
        x_(tile.at[static_cast<size_t>(op.in[0])]),
        y_(tile.at[static_cast<size_t>(op.out)]),
        shift_(op.attr),
        round_(egg_rounding(shift_ + EGG_LINEAR_GUARD_BITS, tile.model.nearest())),
        ranks_(noise_.ranks),
        wide_(tile.model.plan.is_wide(op.out)),
        simple_(ranks_ == 1 && most_of_simple() <= INT32_MAX),
        plain_(bias_ == nullptr && !wide_),
        near_(S::count(std::min(shift_, 8))),
        nearest_(S::all16(static_cast<int16_t>(1 << (15 - std::clamp(shift_, 1, 8))))),
        far_(V32{} + std::max(shift_ - 8, 0)) {}

  static constexpr int32_t kMostLateQ = 2047;  // 16 times that fits int16

  // How the perturbation is added. kAny: in every case. kSimple: see begin_quad. kLate: see finish_late. kRounded is
  // kLate, and kHalves finish_halves, for signed blocks: both round as they shift, so the sums need no beginning.
  enum Way { kAny, kSimple, kLate, kRounded, kHalves };

  // What finish_late and finish_halves read for one register of pairs. It is copied, so that stores of y do not make
  // the compiler read it again.
  struct Late {
    const int8_t* a;  // (row quads, kPairRegs)
    int8_t* y;        // (row quads, kRegs), both sides
    V16 q[2];         // of each side
    V16 nearest;      // this and the next two are copies of Linear's own
    int32_t shift;
    typename S::Count near;
  };

  size_t outputs() const { return size_t{p_.row_quads} * 4; }

  // The sums over x that do not depend on the output: the sum of x, and the sum of x times side B of one rank. Each sum
  // has one accumulator for even quads and one for odd quads, so that fewer products wait for an earlier product.
  struct Reading {
    // These are copies, because a store of prepared bytes might change what a pointer leads to.
    Reading(const Linear& call, size_t rank)
        : x(call.x_),
          b(call.noise_.b + rank * call.p_.col_quads * S::kPairRegs * S::kBytes),
          prepared(call.tile_.prepared.data()),
          all(call.p_.col_quads * kQuadBytes),
          perturbed(call.ranks_ != 0) {}

    // Adds a quad. kFirst: this is the first rank, whose reading also sums x and prepares it.
    template <bool kFirst, size_t kHalf>
    EGG_INLINE void add(size_t k) {
      unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA {
        const size_t at = (k * kRegs + m) * S::kBytes;
        const V8 from = S::template load<V8>(x + at);
        if constexpr (kFirst && S::kWeightExcess != 0) sum[kHalf][m] = S::sum_signed(sum[kHalf][m], from);
        if constexpr (kFirst && S::kPrepared != 0) S::prepare(from, prepared + at, all);
        if (perturbed) {
          const V8 noise = S::template load<V8>(b + (k * S::kPairRegs + m / 2) * S::kBytes);
          dots[kHalf][m] = S::dot(dots[kHalf][m], from, noise);
        }
      });
    }
    template <bool kFirst>
    EGG_INLINE void add_all(size_t quads) {
      size_t k = 0;
      for (; k + 2 <= quads; k += 2) {
        add<kFirst, 0>(k);
        add<kFirst, 1>(k + 1);
      }
      if (k < quads) add<kFirst, 0>(k);
    }

    const int8_t* const x;
    const int8_t* const b;
    int8_t* const prepared;
    const size_t all;
    const bool perturbed;
    V32 sum[2][kRegs] = {};
    V32 dots[2][kRegs] = {};
  };

  void read_input() {
    Reading first(*this, 0);
    first.template add_all<true>(p_.col_quads);
    finish_reading(first);
  }

  // Makes what the sums begin with from the first rank's reading, then reads the other ranks and makes every q.
  EGG_INLINE void finish_reading(const Reading& first) {
    for (size_t m = 0; m < kRegs; ++m) {
      excess_[m] = (first.sum[0][m] + first.sum[1][m]) * S::kWeightExcess;
      offset_[m] = (V32)(static_cast<uint32_t>(round_) - ((U32)block_excess(m) << EGG_LINEAR_GUARD_BITS));
      start_[m] = (round_ >> EGG_LINEAR_GUARD_BITS) - block_excess(m);
    }
    if (ranks_ != 0) make_q(0, first.dots);
    for (size_t r = 1; r < ranks_; ++r) {
      Reading reading(*this, r);
      reading.template add_all<false>(p_.col_quads);
      make_q(r, reading.dots);
    }
  }

  // Makes q of rank r from the sums of x times side B of that rank.
  void make_q(size_t r, const V32 (&dots)[2][kRegs]) {
    const int32_t shift = tile_.model.plan.q_shift();
    const int32_t round = tile_.model.nearest() != 0 && shift > 0 ? 1 << (shift - 1) : 0;
    V32 beyond = {};
    for (size_t m = 0; m < kRegs; ++m) {
      const V32 clipped = S::clip16((dots[0][m] + dots[1][m] + round - excess_[m]) >> shift);
      const V32 with_sign = m % 2 == 0 ? clipped : -clipped;
      q_low_[r][m] = (V16)(with_sign & 0xffff);
      q_high_[r][m] = (V16)(with_sign << 16);
      q_late_[m] = S::pack16(with_sign << 4, with_sign << 4);
      if constexpr (S::kSignedBlocks) q_halves_[m] = (q_low_[r][m] | q_high_[r][m]) << 4;
      beyond |= (V32)((U32)(clipped + kMostLateQ) > 2 * kMostLateQ);
    }
    const bool small = simple_ && plain_ && round_ % (1 << EGG_LINEAR_GUARD_BITS) == 0 && !S::any(beyond);
    late_ = small && shift_ <= 7;
    rounded_ = small && S::kSignedBlocks && round_ != 0;
  }

  EGG_INLINE V32 block_excess(size_t m) const { return S::kSignedBlocks ? V32{} : excess_[m]; }

  // The largest magnitude in begin_quad<true>.
  int64_t most_of_simple() const {
    const int64_t excess = S::kSignedBlocks ? 0 : int64_t{p_.col_quads} * 4 * 127 * S::kWeightExcess;
    return excess * (1 << EGG_LINEAR_GUARD_BITS) + 32767 * EGG_NOISE_MAX + round_;
  }

  // Makes NB outputs, or the largest smaller block that `left` outputs fill.
  template <size_t NB>
  EGG_INLINE void run_block(size_t first, size_t left, const int8_t* weights) {
    if constexpr (NB > 4) {
      if (left < NB) {
        run_block<NB - 4>(first, left, weights);
        return;
      }
    }
    V32 acc[NB][kRegs];
    if (late_) {
      unrolled<NB>(
          [&](auto o) EGG_INLINE_LAMBDA { unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA { acc[o][m] = start_[m]; }); });
      S::template dot_block<NB>(x_, tile_.prepared.data(), p_.col_quads, weights, rows_ + first, acc);
      unrolled<NB / 4>([&](auto g) EGG_INLINE_LAMBDA {
        unrolled<S::kPairRegs>([&](auto p) EGG_INLINE_LAMBDA {
          V32 t[2][4];
          unrolled<4>([&](auto i) EGG_INLINE_LAMBDA {
            t[0][i] = acc[4 * g + i][2 * p];
            t[1][i] = acc[4 * g + i][2 * p + 1];
          });
          finish_late<kLate>(first / 4 + g, late_of<kLate>(p), t);
        });
      });
      return;
    }
    const auto each_quad = [&](const auto& body) EGG_INLINE_LAMBDA {
      unrolled<NB / 4>([&](auto g)
                           EGG_INLINE_LAMBDA { unrolled<kRegs>([&](auto m) EGG_INLINE_LAMBDA { body(g, m); }); });
    };
    const auto begin = [&](auto way) EGG_INLINE_LAMBDA {
      each_quad([&](auto g, auto m) EGG_INLINE_LAMBDA {
        V32 t[4];
        begin_quad<way>(first / 4 + g, m, t);
        unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { acc[4 * g + i][m] = t[i]; });
      });
    };
    const auto finish = [&](auto plain) EGG_INLINE_LAMBDA {
      each_quad([&](auto g, auto m) EGG_INLINE_LAMBDA {
        V32 t[4];
        unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = acc[4 * g + i][m]; });
        finish_quad<plain>(first / 4 + g, m, t);
      });
    };
    simple_ ? begin(std::integral_constant<Way, kSimple>{}) : begin(std::integral_constant<Way, kAny>{});
    S::template dot_block<NB>(x_, tile_.prepared.data(), p_.col_quads, weights, rows_ + first, acc);
    plain_ ? finish(std::true_type{}) : finish(std::false_type{});
  }

  // Makes what the sums of four outputs begin with, for a register of members: all but x * W, shifted only by the guard
  // bits. The rest of the shift comes after the product, because the floor of a floor is exact. kSimple: rank 1, and no
  // sum leaves int32 if 16 times the excess is taken off before the shift. kLate: without the perturbation. kRounded
  // and kHalves: nothing.
  template <Way kWay>
  EGG_INLINE void begin_quad(size_t quad, size_t m, V32 (&t)[4]) const {
    const V32 first = kWay > kLate ? V32{} : kWay == kLate ? start_[m] : kWay == kSimple ? offset_[m] : V32{} + round_;
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = first; });
    if (kWay >= kLate) return;
    const size_t ranks = kWay == kSimple ? 1 : ranks_;
    for (size_t r = 0; r < ranks; ++r) {
      const V8 a = S::template load<V8>(noise_.a + ((r * p_.row_quads + quad) * S::kPairRegs + m / 2) * S::kBytes);
      const V16 even = S::even16(a);
      const V16 odd = S::odd16(a);
      t[0] = S::madd16(t[0], even, q_low_[r][m]);
      t[1] = S::madd16(t[1], odd, q_low_[r][m]);
      t[2] = S::madd16(t[2], even, q_high_[r][m]);
      t[3] = S::madd16(t[3], odd, q_high_[r][m]);
    }
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] >>= EGG_LINEAR_GUARD_BITS; });
    if (kWay == kAny) unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] -= block_excess(m); });
  }

  // Makes four outputs of a register of members from their sums t. kPlain: no bias, int8 outputs. Then the last 8 bits
  // of the shift are done in int16: a sum that int16 cuts off is clipped anyway.
  template <bool kPlain>
  EGG_INLINE void finish_quad(size_t quad, size_t m, V32 (&t)[4]) const {
    const size_t at = (quad * kRegs + m) * S::kBytes;
    if (kPlain) {
      if (shift_ > 8) unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] = t[i] >> far_; });
      const V16 low = S::shift16(S::pack16(t[0], t[1]), near_);
      const V16 high = S::shift16(S::pack16(t[2], t[3]), near_);
      S::store(y_ + at, S::pack_quad(low, high));
      return;
    }
    unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] >>= shift_; });
    if (bias_ != nullptr) {
      const V8 bias = S::template load<V8>(bias_ + at);
      unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { t[i] += S::byte32(bias, i); });
    }
    if (wide_) {
      int8_t* to = y_ + (quad * 4 * kRegs + m) * S::kBytes;
      unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { S::store(to + i * kQuadBytes, t[i]); });
      return;
    }
    S::store(y_ + at, pack4<S>(t));
  }

  template <Way kWay>
  EGG_INLINE Late late_of(size_t p) const {
    const V16* const q = kWay == kHalves ? q_halves_ : q_late_;
    return {noise_.a + p * S::kBytes, y_ + 2 * p * S::kBytes, {q[2 * p], q[2 * p + 1]}, nearest_, shift_, near_};
  }

  // Makes four outputs of both sides of a register of pairs, whose sums began without the perturbation. This adds it in
  // int16: A * 2^8 times q * 2^4 over 2^16 is A * q without the guard bits, at most 2047 * 46 / 16. A sum that int16
  // cuts off stays beyond 2^7 * 127 after that, so it is clipped in any case.
  template <Way kWay>
  EGG_INLINE void finish_late(size_t quad, const Late& late, const V32 (&t)[2][4]) const {
    const V8 a = S::transpose4(S::template load<V8>(late.a + quad * S::kPairRegs * S::kBytes));
    const V16 a_low = S::first256(a);
    const V16 a_high = S::second256(a);
    unrolled<2>([&](auto side) EGG_INLINE_LAMBDA {
      const V16 low = S::adds16(S::pack16(t[side][0], t[side][1]), S::mulhi16(a_low, late.q[side]));
      const V16 high = S::adds16(S::pack16(t[side][2], t[side][3]), S::mulhi16(a_high, late.q[side]));
      const auto shifted = [&](V16 v) EGG_INLINE_LAMBDA {
        return kWay == kRounded ? S::mulhrs16(v, late.nearest) : S::shift16(v, late.near);
      };
      S::store(late.y + (quad * kRegs + side) * S::kBytes, S::pack_quad(shifted(low), shifted(high)));
    });
  }

  // Like finish_late, for a shift of 8 or more: makes the perturbation in int16 and adds it in int32. The last 8 bits
  // of the shift are done in int16, as in finish_quad.
  EGG_INLINE void finish_halves(size_t quad, const Late& late, V32 (&t)[2][4]) const {
    const auto a = S::template load<V16>(late.a + quad * S::kPairRegs * S::kBytes);
    const V16 even = a << 8;
    const V16 odd = a & static_cast<int16_t>(0xff00);
    const auto first = (V16)S::all32(1);
    const auto second = (V16)S::all32(1 << 16);
    unrolled<2>([&](auto side) EGG_INLINE_LAMBDA {
      const V16 of_even = S::mulhi16(even, late.q[side]);
      const V16 of_odd = S::mulhi16(odd, late.q[side]);
      V32(&y)[4] = t[side];
      y[0] = S::madd16(y[0], of_even, first);
      y[1] = S::madd16(y[1], of_odd, first);
      y[2] = S::madd16(y[2], of_even, second);
      y[3] = S::madd16(y[3], of_odd, second);
      if (late.shift > 8) unrolled<4>([&](auto i) EGG_INLINE_LAMBDA { y[i] = y[i] >> far_; });
      S::store(late.y + (quad * kRegs + side) * S::kBytes,
               S::pack_quad(S::mulhrs16(S::pack16(y[0], y[1]), late.nearest),
                            S::mulhrs16(S::pack16(y[2], y[3]), late.nearest)));
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
  bool simple_;                    // see begin_quad
  bool plain_;                     // see finish_quad
  bool late_ = false;              // see finish_late
  bool rounded_ = false;           // see Way
  typename S::Count near_;         // the shift, up to 8
  V16 nearest_;                    // what mulhrs16 multiplies by to shift as near_ does, for 1 and more
  V32 far_;                        // the rest of the shift
  V32 excess_[kRegs];              // what the xor of the weights adds to every product
  V32 offset_[kRegs];              // what begin_quad<kSimple> begins with: the rounding less 16 times that
  V32 start_[kRegs];               // the same for kLate, without the guard bits
  V16 q_low_[kMostRanks][kRegs];   // s * q in the lower half of each lane
  V16 q_high_[kMostRanks][kRegs];  // in the upper half
  V16 q_late_[kRegs];              // 16 s * q, in the order of pack16
  V16 q_halves_[kRegs];            // 16 s * q in both halves of each lane
};

}  // namespace eggroll::tile

#endif
