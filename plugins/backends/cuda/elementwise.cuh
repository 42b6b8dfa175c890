// The ops on channels: each thread works on its quarter of a row.
#ifndef EGGROLL_CUDA_ELEMENTWISE_CUH
#define EGGROLL_CUDA_ELEMENTWISE_CUH

#include "tile.cuh"

namespace eggroll::cuda {

// Units of an int8 value out of kCount others each: load(unit, its number among the thread's, the others), then
// make(unit, the others). Several loads are under way before the first is used.
template <int kCount, class T, class Load, class Make>
__device__ inline void each_unit(T& tile, const DeviceOp& op, Load&& load, Make&& make) {
  constexpr uint32_t kAhead = 4;
  const uint32_t count = units_of(op.out) / 4;
  for (uint32_t first = 0; first < count; first += kAhead) {
    uint4 loaded[kAhead][kCount];
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t i = min(first + k, count - 1);
      load(tile.quarter() + 4 * i, i, loaded[k]);
    }
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t u = tile.quarter() + 4 * (first + k);
      if (first + k < count) tile.unit(op.out, tile.row(), u) = make(u, loaded[k]);
    }
  }
}

template <class T>
__device__ inline void run_load_state(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const bool reset = tile.args.resets[tile.entry(tile.row())] != 0;
  const auto* state = reinterpret_cast<const uint4*>(
      tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
  each_unit<1>(
      tile, op, [&](uint32_t u, uint32_t, uint4(&v)[1]) { v[0] = state[u]; },
      [&](uint32_t, const uint4(&v)[1]) { return reset ? make_uint4(0, 0, 0, 0) : v[0]; });
}

template <class T>
__device__ inline void run_store(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  if (!tile.is_real(tile.row())) return;
  auto* state =
      reinterpret_cast<uint4*>(tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) state[u] = tile.unit(op.in[0], tile.row(), u);
}

template <class T>
__device__ inline void run_embed(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t token = tile.args.inputs[tile.entry(tile.row())];
  const uint32_t ranks = tile.ranks(op);
  const auto* weights = reinterpret_cast<const uint4*>(op.matrix + size_t{token} * op.matrix_stride);
  const int32_t sign = tile.sign_of(tile.row());
  for (uint32_t i = 0; 4 * i < units_of(op.out); ++i) {
    const uint32_t u = tile.quarter() + 4 * i;
    const uint4 unit = __ldg(weights + u);
    int32_t ab[16] = {};
    for (uint32_t r = 0; r < ranks; ++r) {
      const int32_t a = __ldg(tile.noise(tile.row(), op.a_offset + r * op.a_stride + token));
      const uint4 b = tile.noise_units(tile.row(), op.b_offset + r * op.b_stride)[i];
#pragma unroll
      for (int k = 0; k < 16; ++k) ab[k] += a * byte_of(word_of(b, k / 4), k % 4);
    }
    tile.unit(op.out, tile.row(), u) = each_word([&](int k) {
      int32_t y[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        y[e] =
            egg_perturbed(byte_of(word_of(unit, k), e), ab[4 * k + e], sign, tile.args.embed_shift, tile.args.nearest);
      }
      return clip_pack4(y);
    });
  }
}

// Sum of the magnitudes of four int8 values, added to sum.
__device__ inline int32_t add_magnitudes(uint32_t word, int32_t sum) {
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(word), "r"(0));
  return sum;
}

// The largest int16 in either half.
constexpr uint32_t kMostHalves = 0x7fff7fffu;

// The reciprocal's form of egg_l1_norm, two channels in a word.
template <bool kBias, class T>
__device__ inline void scale_by_reciprocal(T& tile, const DeviceOp& op, int32_t mean) {
  const uint32_t row = tile.row();
  const NoiseUnits gain = tile.vector(op.vectors[0], row);
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  const int32_t reciprocal = egg_reciprocal(mean);
  const int32_t rounding = egg_rounding(16, tile.args.nearest);
  each_unit<1 + kBias>(
      tile, op,
      [&](uint32_t, uint32_t i, uint4(&v)[1 + kBias]) {
        v[0] = gain[i];
        if (kBias) v[kBias] = bias[i];
      },
      [&](uint32_t u, const uint4(&v)[1 + kBias]) {
        const uint4 unit = tile.unit(op.in[0], row, u);
        return each_word([&](int k) {
          const uint32_t x = word_of(unit, k);
          const auto g = static_cast<int32_t>(word_of(v[0], k));
          const auto scaled = [&](int32_t xg) { return static_cast<uint32_t>(xg * reciprocal + rounding); };
          const uint32_t y0 = scaled(__dp2a_lo(static_cast<int32_t>(pick(x, 0, 0x4480)), g, 0));
          const uint32_t y1 = scaled(__dp2a_lo(static_cast<int32_t>(pick(x, 0, 0x9144)), g, 0));
          const uint32_t y2 = scaled(__dp2a_hi(static_cast<int32_t>(pick(x, 0, 0x44a2)), g, 0));
          const uint32_t y3 = scaled(__dp2a_hi(static_cast<int32_t>(pick(x, 0, 0xb344)), g, 0));
          // Upper halves: the results, int16.
          uint32_t low = pick(y0, y1, 0x7632);
          uint32_t high = pick(y2, y3, 0x7632);
          if (kBias) {
            const uint32_t b = word_of(v[kBias], k);
            low = __viaddmin_s16x2(low, pick(b, 0, 0x9180), kMostHalves);
            high = __viaddmin_s16x2(high, pick(b, 0, 0xb3a2), kMostHalves);
          }
          return clip_raised(low, high, 0);
        });
      });
}

template <class T>
__device__ inline void scale_by_division(T& tile, const DeviceOp& op, int32_t mean) {
  const uint32_t row = tile.row();
  const NoiseUnits gain = tile.vector(op.vectors[0], row);
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
#pragma unroll 1
  for (uint32_t i = 0; i < units_of(op.out) / 4; ++i) {
    const uint32_t u = tile.quarter() + 4 * i;
    const uint4 unit = tile.unit(op.in[0], row, u);
    const uint4 gains = gain[i];
    const uint4 biases = bias.any() ? bias[i] : make_uint4(0, 0, 0, 0);
    tile.unit(op.out, row, u) = each_word([&](int k) {
      int32_t y[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        y[e] = egg_l1_norm(byte_of(word_of(unit, k), e) * byte_of(word_of(gains, k), e), mean,
                           byte_of(word_of(biases, k), e), op.attr, tile.args.nearest);
      }
      return pack4(y[0], y[1], y[2], y[3]);
    });
  }
}

template <class T>
__device__ inline void run_l1_norm(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
  const uint32_t size = op.in[0].size;
  const uint32_t units = units_of(op.out);
  int32_t sum = 0;
  for (uint32_t u = tile.quarter(); u < units; u += 4) {
    const uint4 unit = tile.unit(op.in[0], row, u);
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      sum = add_magnitudes(word_of(unit, static_cast<int>(k)), sum);
    }
  }
  const int32_t mean = egg_l1_mean(row_sum(sum), static_cast<int32_t>(size));
  if (op.attr == EGG_DIVIDE_RECIPROCAL) {
    with_flag(op.vectors[1].offset >= 0, [&](auto bias) { scale_by_reciprocal<bias.value>(tile, op, mean); });
  } else {
    scale_by_division(tile, op, mean);
  }
}

template <bool kTwo, bool kBias, class T>
__device__ inline void add_narrow(T& tile, const DeviceOp& op) {
  const uint32_t row = tile.row();
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  each_unit<1 + kTwo + kBias>(
      tile, op,
      [&](uint32_t u, uint32_t i, uint4(&v)[1 + kTwo + kBias]) {
        v[0] = tile.unit(op.in[0], row, u);
        if (kTwo) v[kTwo] = tile.unit(op.in[1], row, u);
        if (kBias) v[kTwo + kBias] = bias[i];
      },
      [&](uint32_t, const uint4(&v)[1 + kTwo + kBias]) {
        return each_word([&](int k) {
          uint32_t low = 0;
          uint32_t high = 0;
#pragma unroll
          for (const uint4& x : v) {
            low += raised_low(word_of(x, k));
            high += raised_high(word_of(x, k));
          }
          return clip_raised(low, high, 128 * (1 + kTwo + kBias));
        });
      });
}

template <class T>
__device__ inline void add_wide(T& tile, const DeviceOp& op) {
  const uint32_t row = tile.row();
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  const bool two = op.in[1].bytes != 0;
  for (uint32_t i = 0; i < units_of(op.out) / 4; ++i) {
    const uint32_t u = tile.quarter() + 4 * i;
    int32_t sums[4][4] = {};
    const auto add = [&](int32_t(&x)[4], int k) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[k][e] += x[e];
    };
    with_flag(op.in[0].wide != 0, [&](auto wide) { load16<wide.value>(tile, op.in[0], row, u, add); });
    if (two) with_flag(op.in[1].wide != 0, [&](auto wide) { load16<wide.value>(tile, op.in[1], row, u, add); });
    if (bias.any()) {
      const uint4 biases = bias[i];
#pragma unroll
      for (int k = 0; k < 16; ++k) sums[k / 4][k % 4] += byte_of(word_of(biases, k / 4), k % 4);
    }
    store16(tile, op.out, row, u, sums);
  }
}

template <class T>
__device__ inline void run_add(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  if constexpr (T::kAnyOp) {
    if (op.in[0].wide + op.in[1].wide + op.out.wide != 0) return add_wide(tile, op);
  }
  const bool two = op.in[1].bytes != 0;
  with_flag(two, [&](auto other) {
    with_flag(op.vectors[1].offset >= 0, [&](auto bias) { add_narrow<other.value, bias.value>(tile, op); });
  });
}

// Byte 1 of four numbers.
__device__ inline uint32_t second_bytes(int32_t a, int32_t b, int32_t c, int32_t d) {
  const uint32_t low = pick(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x0051);
  const uint32_t high = pick(static_cast<uint32_t>(c), static_cast<uint32_t>(d), 0x0051);
  return pick(low, high, 0x5410);
}

// Channel i of a word, plus 127.
__device__ inline int32_t gate_of(uint32_t f, int i) { return __dp4a(static_cast<int32_t>(f), 1 << (8 * i), 127); }

template <class T>
__device__ inline void run_gru_gate(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.unit(op.in[0], row, u);
    const uint4 h = tile.unit(op.in[1], row, u);
    // egg_gru_gate: the product's bits 8 to 15 are the result.
    tile.unit(op.out, row, u) = each_word([&](int k) {
      const auto y = [&](int i) { return gate_of(word_of(f, k), i) * byte_of(word_of(h, k), i); };
      return second_bytes(y(0), y(1), y(2), y(3));
    });
  }
}

template <class T>
__device__ inline void run_gru_mix(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.unit(op.in[0], row, u);
    const uint4 h = tile.unit(op.in[1], row, u);
    const uint4 c = tile.unit(op.in[2], row, u);
    // egg_gru_mix, h + (F (c - h) >> 8), is ((256 - F) h + F c) >> 8.
    tile.unit(op.out, row, u) = each_word([&](int k) {
      const auto low = static_cast<int32_t>(pick(word_of(h, k), word_of(c, k), 0x5140));
      const auto high = static_cast<int32_t>(pick(word_of(h, k), word_of(c, k), 0x7362));
      const auto factors = [&](int i) { return gate_of(word_of(f, k), i) * 0xffff + 256; };
      return second_bytes(__dp2a_lo(factors(0), low, 0), __dp2a_hi(factors(1), low, 0), __dp2a_lo(factors(2), high, 0),
                          __dp2a_hi(factors(3), high, 0));
    });
  }
}

// The bytes of a word that are channels below `size`; the word begins with channel i. Channels beyond the last are zero
// in every value: only a lut would make something else of a zero.
__device__ inline uint32_t real_bytes(uint32_t word, uint32_t i, uint32_t size) {
  if (i + 4 <= size) return word;
  return i >= size ? 0 : word & (0xffffffffu >> (8 * (4 - (size - i))));
}

template <class T>
__device__ inline void run_lut(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
#pragma unroll 2
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 x = tile.unit(op.in[0], tile.row(), u);
    tile.unit(op.out, tile.row(), u) = each_word([&](int k) {
      const uint32_t raised = word_of(x, k) ^ 0x80808080u;
      const auto y = [&](int i) { return static_cast<int32_t>(__ldg(op.byte_table + (raised >> (8 * i) & 0xff))); };
      return real_bytes(pack4(y(0), y(1), y(2), y(3)), kUnit * u + 4 * static_cast<uint32_t>(k), op.out.size);
    });
  }
}

// A row in registers where its threads' parts are four units at most, so that it is read but once.
template <bool kWide, class T>
__device__ inline void scale_few(T& tile, const DeviceOp& op) {
  constexpr uint32_t kMost = 4;
  const uint32_t row = tile.row();
  const uint32_t count = units_of(op.out) / 4;
  int32_t x[kMost][kUnit];
  int32_t largest = 0;
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    load16<kWide>(tile, op.in[0], row, tile.quarter() + 4 * min(i, count - 1), [&](int32_t(&four)[4], int k) {
#pragma unroll
      for (int e = 0; e < 4; ++e) x[i][4 * k + e] = four[e];
    });
  }
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
#pragma unroll
    for (const int32_t value : x[i]) largest = max(largest, abs(value));
  }
  largest = max(1, row_max(largest));
  const float scale = __fdiv_rn(127.0F, static_cast<float>(largest));
  if (!__any_sync(0xffffffffu, largest >= 1 << 13)) {
    const float raised = __fmul_rn(scale, 1.0F + 1.0F / (1 << 22));
#pragma unroll
    for (uint32_t i = 0; i < kMost; ++i) {
      if (i >= count) break;
      tile.unit(op.out, row, tile.quarter() + 4 * i) = each_word([&](int k) {
        const auto y = [&](int e) { return max_norm_byte(x[i][4 * k + e], raised); };
        return pick(pick(y(0), y(1), 0x0040), pick(y(2), y(3), 0x0040), 0x5410);
      });
    }
    return;
  }
  with_flag(!__any_sync(0xffffffffu, largest >= 1 << 22), [&](auto small) {
#pragma unroll
    for (uint32_t i = 0; i < kMost; ++i) {
      if (i >= count) break;
      tile.unit(op.out, row, tile.quarter() + 4 * i) = each_word([&](int k) {
        int32_t y[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) y[e] = max_norm32<small.value>(x[i][4 * k + e], largest, scale);
        return pack4(y[0], y[1], y[2], y[3]);
      });
    }
  });
}

template <bool kWide, class T>
__device__ inline void scale_many(T& tile, const DeviceOp& op) {
  const uint32_t row = tile.row();
  int32_t largest = 0;
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) {
    load16<kWide>(tile, op.in[0], row, u, [&](int32_t(&x)[4], int) {
#pragma unroll
      for (int i = 0; i < 4; ++i) largest = max(largest, abs(x[i]));
    });
  }
  largest = max(1, row_max(largest));
  const float scale = __fdiv_rn(127.0F, static_cast<float>(largest));
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    uint32_t words[4];
    load16<kWide>(tile, op.in[0], row, u, [&](int32_t(&x)[4], int k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = max_norm32<false>(x[i], largest, scale);
      words[k] = pack4(x[0], x[1], x[2], x[3]);
    });
    tile.unit(op.out, row, u) = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

template <bool kWide, class T>
__device__ inline void scale_to_largest(T& tile, const DeviceOp& op) {
  units_of(op.out) <= 16 ? scale_few<kWide>(tile, op) : scale_many<kWide>(tile, op);
}

template <class T>
__device__ inline void run_max_norm(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  with_flag(op.in[0].wide != 0, [&](auto wide) { scale_to_largest<wide.value>(tile, op); });
}

template <bool kWide, class T>
__device__ inline void rotate(T& tile, const DeviceOp& op) {
  const auto head = static_cast<uint32_t>(op.head);
  const int32_t* angles = op.table + size_t{tile.at.token} * head;
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    uint32_t channel = kUnit * u % head;
    int32_t y[4][4];
    load16<kWide>(tile, op.in[0], tile.row(), u, [&](int32_t(&x)[4], int k) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const int2 constants = __ldg(reinterpret_cast<const int2*>(angles + channel));
        channel = channel + 2 == head ? 0 : channel + 2;
        y[k][i] = egg_rotate(x[i], constants.x, x[i + 1], -constants.y);
        y[k][i + 1] = egg_rotate(x[i], constants.y, x[i + 1], constants.x);
      }
    });
    store16(tile, op.out, tile.row(), u, y);
  }
}

template <class T>
__device__ inline void run_rope(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  with_flag(op.in[0].wide != 0, [&](auto wide) { rotate<wide.value>(tile, op); });
}

}  // namespace eggroll::cuda

#endif
