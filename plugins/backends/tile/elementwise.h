// The ops on int8 without a matrix: embed, l1_norm, add, gru_gate, gru_mix, store, lut.
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
  // f of the even bytes of all operands and of the odd ones, in int16; its results are within int8.
  template <class F, class... Bytes>
  static EGG_INLINE V8 in_halves(const F& f, Bytes... operands) {
    return S::join(f(S::even16(operands)...), f(S::odd16(operands)...));
  }
  // Bytes of an op's first value, or of what it makes.
  static size_t bytes(Tile<S>& tile, int32_t value) {
    return tile.model.plan.groups[static_cast<size_t>(value)] * Tile<S>::kGroupBytes;
  }

  static void embed(Tile<S>& tile, const egg_op& op) {
    const auto param = static_cast<size_t>(op.param[0]);
    const PlanParam& p = tile.model.plan.params[param];
    const typename Tile<S>::Param& noise = tile.params[param];
    const size_t ranks = tile.perturbed ? p.ranks : 0;
    const int32_t shift = tile.model.plan.program->fixed_point + tile.model.plan.noise.sigma_shift;
    const int32_t round = tile.model.nearest() != 0 && shift > 0 ? 1 << (shift - 1) : 0;
    int8_t* y = out(tile, op);
    for (size_t m = 0; m < kRegs; ++m) {
      const int8_t* rows[kLanes];
      for (size_t l = 0; l < kLanes; ++l) rows[l] = tile.model.weights.row(param, tile.tokens[m * kLanes + l]);
      V32 a[64];
      for (size_t r = 0; r < ranks; ++r) {
        const size_t at = r * S::kPairRegs + m / 2;
        for (size_t l = 0; l < kLanes; ++l) {
          a[r][l] = tile.model.noise.value(noise.a_keys[at], l, EGG_SIDE_A, tile.tokens[m * kLanes + l]);
        }
      }
      for (size_t k = 0; k < p.col_groups; ++k) {
        int32_t gathered[kLanes];
        for (size_t l = 0; l < kLanes; ++l) std::memcpy(&gathered[l], rows[l] + 4 * k, 4);
        V8 values = S::template load<V8>(gathered);
        if (ranks != 0) {
          V32 ab[4] = {};
          for (size_t r = 0; r < ranks; ++r) {
            const V8 b = S::template load<V8>(noise.b + ((r * p.col_groups + k) * S::kPairRegs + m / 2) * S::kBytes) ^
                         S::all8(S::kWeightXor);
            for (size_t i = 0; i < 4; ++i) ab[i] += a[r] * S::byte32(b, i);
          }
          for (size_t i = 0; i < 4; ++i) {
            const V32 shifted = (ab[i] + round) >> shift;
            ab[i] = S::byte32(values, i) + (m % 2 == 0 ? shifted : -shifted);
          }
          values = S::pack4(ab[0], ab[1], ab[2], ab[3]);
        }
        S::store(y + (k * kRegs + m) * S::kBytes, values);
      }
    }
  }

  static void l1_norm(Tile<S>& tile, const egg_op& op) {
    const int8_t* x = in(tile, op, 0);
    const size_t all = bytes(tile, op.out);
    V32 sums[kRegs] = {};
    for (size_t i = 0; i < all; i += Tile<S>::kGroupBytes) {
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
  // that is no integer is at least 2^-17 from one, further than rounding moves it.
  static V32 mean(V32 sum, int32_t n) {
    if (n <= 1 << 17) {
      const V32 whole =
          __builtin_convertvector(__builtin_convertvector(sum, typename S::F32) / static_cast<float>(n), V32);
      return whole > 1 ? whole : V32{} + 1;
    }
    for (size_t l = 0; l < kLanes; ++l) sum[l] = egg_l1_mean(sum[l], n);
    return sum;
  }

  // In int16: x * gain * R >> 16 is the upper half of a product, plus a bit of its lower half for nearest. The
  // reciprocals of 1 and 2 do not fit int16; they wrap to R - 2^16, which x * gain makes good.
  static void scale_by_reciprocal(Tile<S>& tile, const egg_op& op, const V32 (&means)[kRegs]) {
    const int8_t* x = in(tile, op, 0);
    const int8_t* gain = vector(tile, op, 0);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    const auto half = static_cast<int16_t>(tile.model.nearest());
    V16 factors[kRegs];
    V16 wrapped[kRegs];
    for (size_t m = 0; m < kRegs; ++m) {
      int32_t lanes[kLanes];
      S::store(lanes, means[m]);
      for (int32_t& lane : lanes) lane = tile.model.reciprocals[static_cast<size_t>(lane)];
      const V32 reciprocals = S::template load<V32>(lanes);
      factors[m] = (V16)((reciprocals & 0xffff) | (reciprocals << 16));
      wrapped[m] = (V16)(reciprocals >= 32768);
    }
    for (size_t i = 0; i < all; i += Tile<S>::kGroupBytes) {
      for (size_t m = 0; m < kRegs; ++m) {
        const size_t at = i + m * S::kBytes;
        const V8 value = S::template load<V8>(x + at);
        const V8 g = S::template load<V8>(gain + at);
        const V8 b = bias == nullptr ? V8{} : S::template load<V8>(bias + at);
        const auto scale = [&](V16 value16, V16 g16, V16 b16) EGG_INLINE_LAMBDA {
          const V16 xg = value16 * g16;
          const U16 low = (U16)xg * (U16)factors[m];
          const V16 rounded = (V16)(low >> 15) & half;
          return S::clip8(S::mulhi16(xg, factors[m]) + rounded + (xg & wrapped[m]) + b16);
        };
        S::store(y + at, in_halves(scale, value, g, b));
      }
    }
  }

  // The presets' division: of lanes, one after another, in numbers that float32 holds exactly. |x * gain| <= 127^2 and
  // the divisor is at most 127, so a quotient that is no integer is further from one than float32 rounds.
  static void divide(Tile<S>& tile, const egg_op& op, const V32 (&means)[kRegs]) {
    const int8_t* x = in(tile, op, 0);
    const int8_t* gain = vector(tile, op, 0);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    for (size_t m = 0; m < kRegs; ++m) {
      int32_t mean[kLanes * 4];
      for (size_t i = 0; i < kLanes * 4; ++i) mean[i] = means[m][i / 4];
      for (size_t at = m * S::kBytes; at < all; at += Tile<S>::kGroupBytes) {
        for (size_t i = 0; i < kLanes * 4; ++i) {
          const int32_t xg = x[at + i] * gain[at + i];
          auto quotient = static_cast<int32_t>(static_cast<float>(xg) / static_cast<float>(mean[i]));
          if (op.attr == EGG_DIVIDE_FLOOR && quotient * mean[i] > xg) --quotient;
          y[at + i] = egg_clip8(quotient + (bias == nullptr ? 0 : bias[at + i]));
        }
      }
    }
  }

  static void add(Tile<S>& tile, const egg_op& op) {
    const int8_t* a = in(tile, op, 0);
    const int8_t* b = in(tile, op, 1);
    const int8_t* bias = vector(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    const auto sum = [](V16 u, V16 v, V16 w) EGG_INLINE_LAMBDA { return S::clip8(u + v + w); };
    for (size_t i = 0; i < all; i += S::kBytes) {
      const V8 first = S::template load<V8>(a + i);
      const V8 second = b == nullptr ? V8{} : S::template load<V8>(b + i);
      if (bias == nullptr) {
        S::store(y + i, S::add_clip8(first, second));
        continue;
      }
      const V8 third = S::template load<V8>(bias + i);
      S::store(y + i, in_halves(sum, first, second, third));
    }
  }

  // ((f + 127) * h) >> 8: at most 254 * 127 < 2^15.
  static void gru_gate(Tile<S>& tile, const egg_op& op) {
    const int8_t* f = in(tile, op, 0);
    const int8_t* h = in(tile, op, 1);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    const auto product = [](V16 gate, V16 state) EGG_INLINE_LAMBDA { return ((gate + 127) * state) >> 8; };
    for (size_t i = 0; i < all; i += S::kBytes) {
      const V8 gate = S::template load<V8>(f + i);
      const V8 state = S::template load<V8>(h + i);
      S::store(y + i, in_halves(product, gate, state));
    }
  }

  // h + (((f + 127) * (c - h)) >> 8): the product takes 17 bits, so its upper half is had from factors times 2^7 and 2.
  static void gru_mix(Tile<S>& tile, const egg_op& op) {
    const int8_t* f = in(tile, op, 0);
    const int8_t* h = in(tile, op, 1);
    const int8_t* c = in(tile, op, 2);
    int8_t* y = out(tile, op);
    const size_t all = bytes(tile, op.out);
    const auto mix = [](V16 gate, V16 state, V16 candidate)
                         EGG_INLINE_LAMBDA { return state + S::mulhi16((gate + 127) << 7, (candidate - state) << 1); };
    for (size_t i = 0; i < all; i += S::kBytes) {
      const V8 gate = S::template load<V8>(f + i);
      const V8 state = S::template load<V8>(h + i);
      const V8 candidate = S::template load<V8>(c + i);
      S::store(y + i, in_halves(mix, gate, state, candidate));
    }
  }

  // Padding stays 0, whatever the table makes of it.
  static void lut(Tile<S>& tile, const egg_op& op) {
    const int8_t* x = in(tile, op, 0);
    int8_t* y = out(tile, op);
    const uint8_t* table = tile.model.plan.byte_tables[static_cast<size_t>(op.table)].data();
    const typename S::Table128 low(table);
    const typename S::Table128 high(table + 128);
    const size_t size = static_cast<size_t>(tile.model.plan.program->values[op.out].size);
    for (size_t g = 0; g < tile.model.plan.groups[static_cast<size_t>(op.out)]; ++g) {
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
