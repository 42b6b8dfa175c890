// The ops on int8 values that multiply no matrix: embed, l1_norm, add, gru_gate, gru_mix, store, lut.
#ifndef EGGROLL_TILE_ELEMENTWISE_H
#define EGGROLL_TILE_ELEMENTWISE_H

#include "tile.h"

namespace eggroll::tile {

template <class S>
struct Elementwise {
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using U8 = typename S::U8;
  using U16 = typename S::U16;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kLanes = S::kLanes;

  static int8_t* out(Tile<S>& tile, const egg_op& op) { return tile.at[static_cast<size_t>(op.out)]; }
  static const int8_t* in(Tile<S>& tile, const egg_op& op, int which) {
    return op.in[which] < 0 ? nullptr : tile.at[static_cast<size_t>(op.in[which])];
  }
  static const int8_t* vector(Tile<S>& tile, const egg_op& op, int which) {
    return op.param[which] < 0 ? nullptr : tile.params[static_cast<size_t>(op.param[which])].a;
  }
  // Bytes of a value in a tile.
  static size_t bytes(Tile<S>& tile, int32_t value) {
    return tile.model.plan.quads[static_cast<size_t>(value)] * Tile<S>::kQuadBytes;
  }

  // Both members of a pair read the same row if the table is perturbed, so its perturbation is drawn once for both.
  static void embed(Tile<S>& tile, const egg_op& op) {
    Embed call(tile, op);
    for (size_t reg = 0; reg < S::kPairRegs; ++reg) {
      if (tile.perturbed) {
        call.find_rows(2 * reg);
        call.draw_a(reg);
        call.each_quad([&](size_t k, V8 row) EGG_INLINE_LAMBDA { call.put_both(reg, k, row); });
        continue;
      }
      for (size_t m = 2 * reg; m < 2 * reg + 2; ++m) {
        call.find_rows(m);
        call.each_quad([&](size_t k, V8 row) EGG_INLINE_LAMBDA { call.put(m, k, row); });
      }
    }
  }

  class Embed {
   public:
    Embed(Tile<S>& tile, const egg_op& op)
        : tile_(tile),
          param_(static_cast<size_t>(op.param[0])),
          indices_(op.attr == 0 ? tile.now->tokens.data()
                                : tile.now->rows.data() + (static_cast<size_t>(op.attr) - 1) * Tile<S>::kMembers),
          table_(tile.model.weights.rows(param_)),
          quads_(tile.model.plan.forms[param_].col_quads),
          noise_(tile.params[param_]),
          shift_(tile.model.plan.forms[param_].shift),
          round_(tile.model.nearest() != 0 && shift_ > 0 ? 1 << (shift_ - 1) : 0),
          shift16_(shift_, tile.model.nearest() != 0),
          x_(in(tile, op, 0)),
          y_(out(tile, op)) {}

    // Lanes that read no row get a row of zeros.
    void find_rows(size_t m) {
      for (size_t l = 0; l < kLanes; ++l) {
        const uint32_t row = indices_[m * kLanes + l];
        rows_[l] = row == EGG_NO_ROW ? tile_.model.weights.zeros() : table_ + size_t{row} * quads_ * 4;
      }
    }

    // Draws side A at the rows that a register of pairs reads.
    void draw_a(size_t reg) {
      const U32 rows = S::template load<U32>(indices_ + 2 * reg * kLanes);
      const U32 real = noise_.voting[reg] & (U32)(rows != EGG_NO_ROW);
      const typename NoiseDraw<S>::Side side(tile_.model.noise, EGG_SIDE_A);
      for (size_t r = 0; r < noise_.ranks; ++r) {
        a_[r] = side.one(noise_.a_keys[r * S::kPairRegs + reg], rows) & (V32)real;
      }
    }

    // put(k, quad k of every lane's row).
    template <class Put>
    EGG_INLINE void each_quad(const Put& put) {
      size_t k = 0;
      for (; k + 4 <= quads_; k += 4) {
        V32 four[4];
        S::gather4(rows_, four);
        for (size_t i = 0; i < 4; ++i) put(k + i, (V8)four[i]);
        for (const int8_t*& row : rows_) row += 16;
      }
      for (; k < quads_; ++k) {
        int32_t lanes[kLanes];
        for (size_t l = 0; l < kLanes; ++l) std::memcpy(&lanes[l], rows_[l], 4);
        put(k, S::template load<V8>(lanes));
        for (const int8_t*& row : rows_) row += 4;
      }
    }

    EGG_INLINE void put(size_t m, size_t k, V8 row) const {
      const size_t at = (k * kRegs + m) * S::kBytes;
      S::store(y_ + at, x_ == nullptr ? row : add_clip8<S>(row, S::template load<V8>(x_ + at)));
    }

    // A sum of three terms must be clipped only once, so this widens bytes first.
    EGG_INLINE void put_both(size_t reg, size_t k, V8 row) const {
      if (noise_.ranks == 0) {
        put(2 * reg, k, row);
        put(2 * reg + 1, k, row);
        return;
      }
      const Halves change = noise_.ranks <= Shift16<S>::kRanks ? small_change(reg, k) : change_of_ranks(reg, k);
      const Halves weights{S::even16(row), S::odd16(row)};
      put_sum(2 * reg, k, {weights.even + change.even, weights.odd + change.odd});
      put_sum(2 * reg + 1, k, {weights.even - change.even, weights.odd - change.odd});
    }

   private:
    struct Halves {
      V16 even;
      V16 odd;
    };

    V8 side_b(size_t reg, size_t k, size_t r) const {
      return S::template load<V8>(noise_.b + ((r * quads_ + k) * S::kPairRegs + reg) * S::kBytes) ^
             S::all8(S::kWeightXor);
    }

    EGG_INLINE Halves small_change(size_t reg, size_t k) const {
      V16 even = {};
      V16 odd = {};
      for (size_t r = 0; r < noise_.ranks; ++r) {
        const V8 b = side_b(reg, k, r);
        const V16 a = (V16)((a_[r] & 0xffff) | (a_[r] << 16));
        even += a * S::even16(b);
        odd += a * S::odd16(b);
      }
      return {shift16_.of(even), shift16_.of(odd)};
    }

    // The change, cut at 1023: beyond that, adding it to two bytes leaves int8 in any case.
    Halves change_of_ranks(size_t reg, size_t k) const {
      V32 ab[4] = {};
      for (size_t r = 0; r < noise_.ranks; ++r) {
        const V8 b = side_b(reg, k, r);
        for (size_t i = 0; i < 4; ++i) ab[i] += a_[r] * S::byte32(b, i);
      }
      for (V32& sum : ab) {
        sum = (sum + round_) >> shift_;
        sum = sum > 1023 ? V32{} + 1023 : sum;
        sum = sum < -1023 ? V32{} - 1023 : sum;
      }
      return {(V16)((ab[0] & 0xffff) | (ab[2] << 16)), (V16)((ab[1] & 0xffff) | (ab[3] << 16))};
    }

    EGG_INLINE void put_sum(size_t m, size_t k, Halves sum) const {
      const size_t at = (k * kRegs + m) * S::kBytes;
      if (x_ != nullptr) {
        const V8 x = S::template load<V8>(x_ + at);
        sum.even += S::even16(x);
        sum.odd += S::odd16(x);
      }
      S::store(y_ + at, S::join(S::clip8(sum.even), S::clip8(sum.odd)));
    }

    Tile<S>& tile_;
    size_t param_;
    const uint32_t* indices_;  // of each member
    const int8_t* table_;
    size_t quads_;
    const typename Tile<S>::Param& noise_;
    int32_t shift_;
    int32_t round_;
    Shift16<S> shift16_;
    const int8_t* x_;
    int8_t* y_;
    const int8_t* rows_[kLanes];
    V32 a_[kMostRanks];
  };

  static void l1_norm(Tile<S>& tile, const egg_op& op) {
    const int8_t* x = in(tile, op, 0);
    const size_t all = bytes(tile, op.out);
    V32 sums[kRegs] = {};
    for (size_t i = 0; i < all; i += Tile<S>::kQuadBytes) {
      for (size_t m = 0; m < kRegs; ++m) sums[m] = S::sum_abs(sums[m], S::template load<V8>(x + i + m * S::kBytes));
    }
    V32 means[kRegs];
    for (size_t m = 0; m < kRegs; ++m) means[m] = mean(sums[m], tile.model.plan.program->values[op.out].size);
    if (op.attr == EGG_DIVIDE_RECIPROCAL) {
      scale_by_reciprocal(tile, op, means);
    } else {
      divide(tile, op, means);
    }
  }

  // egg_l1_mean in every lane. The sum is at most 127 n. Up to 2^17 channels float32 holds it exactly, and a quotient
  // that is not an integer is at least 2^-17 from the nearest one. Rounding moves it less.
  static V32 mean(V32 sum, int32_t n) {
    if ((n & (n - 1)) == 0) {
      const V32 whole = sum >> __builtin_ctz(static_cast<unsigned>(n));
      return whole > 1 ? whole : V32{} + 1;
    }
    if (n <= 1 << 17) {
      const V32 whole =
          __builtin_convertvector(__builtin_convertvector(sum, typename S::F32) / static_cast<float>(n), V32);
      return whole > 1 ? whole : V32{} + 1;
    }
    for (size_t l = 0; l < kLanes; ++l) sum[l] = egg_l1_mean(sum[l], n);
    return sum;
  }

  // egg_reciprocal in every lane. A quotient that is no integer is at least 1/127 from one, further than rounding below
  // 2^17 moves it.
  static V32 reciprocal(V32 mean) {
    using F32 = typename S::F32;
    const V32 half_up = (mean >> 1) + 65536;
    return __builtin_convertvector(__builtin_convertvector(half_up, F32) / __builtin_convertvector(mean, F32), V32);
  }

  // In int16, x * gain * R over 2^15 is the upper half of 2 * x * gain times R: 2 * 127^2 < 2^15. Half of that, to the
  // nearest or down, is the same over 2^16, for the floor of a floor is exact. The reciprocals of 1 and 2 do not fit
  // int16; they wrap to 0 and -2^15, which another 2 * x * gain makes good.
  static void scale_by_reciprocal(Tile<S>& tile, const egg_op& op, const V32 (&means)[kRegs]) {
    V32 factors[kRegs];
    V32 wraps = {};
    for (size_t m = 0; m < kRegs; ++m) {
      const V32 reciprocals = reciprocal(means[m]);
      wraps |= (V32)(means[m] <= 2);
      factors[m] = (reciprocals & 0xffff) | (reciprocals << 16);
    }
    const bool nearest = tile.model.nearest() != 0;
    const bool simple = !S::any(wraps) && op.param[1] < 0;
    if (simple) {
      nearest ? scale<true, true>(tile, op, factors) : scale<true, false>(tile, op, factors);
    } else {
      nearest ? scale<false, true>(tile, op, factors) : scale<false, false>(tile, op, factors);
    }
  }

  // kSimple: no reciprocal wraps, and there is no bias.
  template <bool kSimple, bool kNearest>
  static void scale(Tile<S>& tile, const egg_op& op, const V32 (&factors)[kRegs]) {
    const int8_t* x = in(tile, op, 0);
    const int8_t* gain = vector(tile, op, 0);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t i = 0; i < all; i += Tile<S>::kQuadBytes) {
      for (size_t m = 0; m < kRegs; ++m) {
        const size_t at = i + m * S::kBytes;
        const V8 value = S::template load<V8>(x + at);
        const V8 g = S::template load<V8>(gain + at);
        const V8 b = kSimple || bias == nullptr ? V8{} : S::template load<V8>(bias + at);
        const auto scaled = [&](V16 value256, V16 g256, V16 b256, V16 factor) EGG_INLINE_LAMBDA {
          const V16 twice = S::mulhrs16(value256, g256);
          V16 result = S::mulhi16(twice, factor);
          if (!kSimple) result += twice & (factor <= 0);
          result = kNearest ? S::mulhrs16(result, S::all16(1 << 14)) : result >> 1;
          return kSimple ? result : result + (b256 >> 8);
        };
        const auto first = (V16)S::first_twice(factors[m]);
        const auto second = (V16)S::second_twice(factors[m]);
        S::store(y + at, S::pack8(scaled(S::first256(value), S::first256(g), S::first256(b), first),
                                  scaled(S::second256(value), S::second256(g), S::second256(b), second)));
      }
    }
  }

  // The presets' division, lane by lane, of numbers that float32 holds exactly. |x * gain| <= 127^2 and the divisor is
  // at most 127, so a quotient that is not an integer is further from an integer than float32's rounding moves it.
  static void divide(Tile<S>& tile, const egg_op& op, const V32 (&means)[kRegs]) {
    const int8_t* x = in(tile, op, 0);
    const int8_t* gain = vector(tile, op, 0);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t m = 0; m < kRegs; ++m) {
      int32_t mean[kLanes * 4];
      for (size_t i = 0; i < kLanes * 4; ++i) mean[i] = means[m][i / 4];
      for (size_t at = m * S::kBytes; at < all; at += Tile<S>::kQuadBytes) {
        for (size_t i = 0; i < kLanes * 4; ++i) {
          const int32_t xg = x[at + i] * gain[at + i];
          auto quotient = static_cast<int32_t>(static_cast<float>(xg) / static_cast<float>(mean[i]));
          if (op.attr == EGG_DIVIDE_FLOOR && quotient * mean[i] > xg) --quotient;
          y[at + i] = egg_clip8(quotient + (bias == nullptr ? 0 : bias[at + i]));
        }
      }
    }
  }

  // If the sum of two terms leaves int8, the excess is added to the third term.
  static void add(Tile<S>& tile, const egg_op& op) {
    const int8_t* a = in(tile, op, 0);
    const int8_t* b = in(tile, op, 1);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t i = 0; i < all; i += S::kBytes) {
      const V8 first = S::template load<V8>(a + i);
      const V8 second = b == nullptr ? V8{} : S::template load<V8>(b + i);
      if (bias == nullptr) {
        S::store(y + i, add_clip8<S>(first, second));
        continue;
      }
      const V8 third = S::template load<V8>(bias + i);
      const V8 two = S::adds8(first, second);
      const U8 beyond = (U8)first + (U8)second - (U8)two;
      S::store(y + i, add_clip8<S>(two, S::adds8(third, (V8)beyond)));
    }
  }

  // ((f + 127) * h) >> 8: at most 254 * 127 < 2^15.
  static void gru_gate(Tile<S>& tile, const egg_op& op) {
    const int8_t* f = in(tile, op, 0);
    const int8_t* h = in(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t i = 0; i < all; i += S::kBytes) {
      const U8 gate = S::template load<U8>(f + i) + 127;
      const V8 state = S::template load<V8>(h + i);
      S::store(y + i, S::join_upper(S::mul_even8(gate, state), S::mul_odd8(gate, state)));
    }
  }

  // h + (((f + 127) * (c - h)) >> 8). The result is within int8, so the product's lower 16 bits are enough.
  static void gru_mix(Tile<S>& tile, const egg_op& op) {
    const int8_t* f = in(tile, op, 0);
    const int8_t* h = in(tile, op, 1);
    const int8_t* c = in(tile, op, 2);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t i = 0; i < all; i += S::kBytes) {
      const U8 gate = S::template load<U8>(f + i) + 127;
      const V8 state = S::template load<V8>(h + i);
      const V8 candidate = S::template load<V8>(c + i);
      const U16 even = (U16)S::mul_even8(gate, candidate) - (U16)S::mul_even8(gate, state);
      const U16 odd = (U16)S::mul_odd8(gate, candidate) - (U16)S::mul_odd8(gate, state);
      S::store(y + i, (U8)state + (U8)S::join_upper((V16)even, (V16)odd));
    }
  }

  // Padding must stay 0, whatever the table has for 0.
  static void lut(Tile<S>& tile, const egg_op& op) {
    const int8_t* x = in(tile, op, 0);
    int8_t* y = out(tile, op);
    const uint8_t* table = tile.model.plan.byte_tables[static_cast<size_t>(op.table)].data();
    const typename S::Table128 low(table);
    const typename S::Table128 high(table + 128);
    const size_t size = static_cast<size_t>(tile.model.plan.program->values[op.out].size);
    for (size_t g = 0; g < tile.model.plan.quads[static_cast<size_t>(op.out)]; ++g) {
      const size_t channels = 4 * g < size ? std::min(size_t{4}, size - 4 * g) : 0;
      const U32 real = S::all32u(channels == 0 ? 0 : UINT32_MAX >> (32 - 8 * channels));
      for (size_t m = 0; m < kRegs; ++m) {
        const size_t at = (g * kRegs + m) * S::kBytes;
        const U8 index = S::template load<U8>(x + at) ^ 0x80;
        const U8 found = index > 127 ? high.at(index & 0x7f) : low.at(index & 0x7f);
        S::store(y + at, (U32)found & real);
      }
    }
  }

  static void store(Tile<S>& tile, const egg_op& op) {
    std::memcpy(tile.next[static_cast<size_t>(op.out)], in(tile, op, 0), bytes(tile, op.out));
  }
};

}  // namespace eggroll::tile

#endif
