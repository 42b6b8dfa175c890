// The norms: l1_norm and max_norm.
#ifndef EGGROLL_CUDA_NORM_CUH
#define EGGROLL_CUDA_NORM_CUH

#include "elementwise.cuh"

namespace eggroll::cuda {

// Sum of the magnitudes of four int8 values, added to sum.
__device__ inline int32_t add_magnitudes(uint32_t word, int32_t sum) {
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(word), "r"(0));
  return sum;
}

// The largest int16 in either half.
constexpr uint32_t kMostHalves = 0x7fff7fffu;

// The reciprocal's form of egg_l1_norm, two channels in a word. What x is multiplied by: gain and reciprocal.
struct Reciprocal {
  int32_t reciprocal;
  int32_t rounding;

  template <class T>
  __device__ Reciprocal(const T& tile, int32_t mean)
      : reciprocal(egg_reciprocal(mean)), rounding(egg_rounding(16, tile.args.nearest)) {}

  template <bool kBias>
  __device__ uint4 operator()(const uint4& unit, const uint4& gains, const uint4& biases) const {
    return each_word([&](int k) {
      const uint32_t x = word_of(unit, k);
      const auto g = static_cast<int32_t>(word_of(gains, k));
      const auto scaled = [&](int32_t xg) { return static_cast<uint32_t>(xg * reciprocal + rounding); };
      const uint32_t y0 = scaled(__dp2a_lo(static_cast<int32_t>(pick(x, 0, 0x4480)), g, 0));
      const uint32_t y1 = scaled(__dp2a_lo(static_cast<int32_t>(pick(x, 0, 0x9144)), g, 0));
      const uint32_t y2 = scaled(__dp2a_hi(static_cast<int32_t>(pick(x, 0, 0x44a2)), g, 0));
      const uint32_t y3 = scaled(__dp2a_hi(static_cast<int32_t>(pick(x, 0, 0xb344)), g, 0));
      // Upper halves: the results, int16.
      uint32_t low = pick(y0, y1, 0x7632);
      uint32_t high = pick(y2, y3, 0x7632);
      if (kBias) {
        const uint32_t b = word_of(biases, k);
        low = __viaddmin_s16x2(low, pick(b, 0, 0x9180), kMostHalves);
        high = __viaddmin_s16x2(high, pick(b, 0, 0xb3a2), kMostHalves);
      }
      return clip_raised(low, high, 0);
    });
  }
};

__device__ inline int32_t add_magnitudes(const uint4& unit, int32_t sum) {
#pragma unroll
  for (int k = 0; k < 4; ++k) sum = add_magnitudes(word_of(unit, k), sum);
  return sum;
}

// Rows whose threads' parts are four units at most: all loads are under way before the first is used.
template <bool kBias, class T>
__device__ inline void norm_few(T& tile, const DeviceOp& op) {
  constexpr uint32_t kMost = 4;
  const uint32_t row = tile.row();
  const uint32_t count = units_of(op.out) / 4;
  const NoiseUnits gain = tile.vector(op.vectors[0], row);
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  uint4 x[kMost];
  uint4 gains[kMost];
  uint4 biases[kMost] = {};
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    const uint32_t own = min(i, count - 1);
    x[i] = tile.unit(op.in[0], row, tile.quarter() + 4 * own);
    gains[i] = gain[own];
    if (kBias) biases[i] = bias[own];
  }
  int32_t sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) sum = i < count ? add_magnitudes(x[i], sum) : sum;
  const Reciprocal scale(tile, egg_l1_mean(row_sum(sum), static_cast<int32_t>(op.in[0].size)));
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    if (i >= count) break;
    tile.unit(op.out, row, tile.quarter() + 4 * i) = scale.template operator()<kBias>(x[i], gains[i], biases[i]);
  }
}

template <bool kBias, class T>
__device__ inline void scale_by_reciprocal(T& tile, const DeviceOp& op, int32_t mean) {
  const uint32_t row = tile.row();
  const NoiseUnits gain = tile.vector(op.vectors[0], row);
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  const Reciprocal scale(tile, mean);
  each_unit<1 + kBias>(
      tile, op,
      [&](uint32_t, uint32_t i, uint4(&v)[1 + kBias]) {
        v[0] = gain[i];
        if (kBias) v[kBias] = bias[i];
      },
      [&](uint32_t u, const uint4(&v)[1 + kBias]) {
        return scale.template operator()<kBias>(tile.unit(op.in[0], row, u), v[0], v[kBias]);
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
  const uint32_t units = units_of(op.out);
  if (op.attr == EGG_DIVIDE_RECIPROCAL && units <= 16) {
    return with_flag(op.vectors[1].offset >= 0, [&](auto bias) { norm_few<bias.value>(tile, op); });
  }
  const uint32_t row = tile.row();
  const uint32_t size = op.in[0].size;
  int32_t sum = 0;
  for (uint32_t u = tile.quarter(); u < units; u += 4) {
    sum = add_magnitudes(tile.unit(op.in[0], row, u), sum);
  }
  const int32_t mean = egg_l1_mean(row_sum(sum), static_cast<int32_t>(size));
  if (op.attr == EGG_DIVIDE_RECIPROCAL) {
    with_flag(op.vectors[1].offset >= 0, [&](auto bias) { scale_by_reciprocal<bias.value>(tile, op, mean); });
  } else {
    scale_by_division(tile, op, mean);
  }
}

// egg_max_norm for |x| <= largest <= EGG_WIDE_MAX, as byte 0 of the result. scale: 127 / largest and a little more, so
// that ties go away from zero and nothing else moves: results are at least 1 / (2 largest), 2^-29, from where they
// change, and the error is below 2^-45.
__device__ inline double max_norm_scale(int32_t largest) {
  return __dmul_rn(__ddiv_rn(127.0, static_cast<double>(largest)), 1.0 + 0x1p-40);
}
__device__ inline uint32_t max_norm_byte(int32_t x, double scale) {
  constexpr double kMiddle = 0x1.8p52;  // integers around it are its lower bits and theirs
  const auto raised = static_cast<int32_t>(static_cast<uint32_t>(x) ^ 0x80000000u);  // by 2^31
  const double real = __dsub_rn(__hiloint2double(__double2hiint(kMiddle), raised), kMiddle + 0x1p31);
  return static_cast<uint32_t>(__double2loint(__fma_rn(real, scale, kMiddle)));
}

// The same for |x| <= largest < kSmallLargest, as byte 0 of the result. scale: a little more than 127 / largest, so
// that ties go up and nothing else does: results are at least 1 / (2 largest) from where they change, and the error is
// below 5e-5.
constexpr int32_t kSmallLargest = 1 << 13;
__device__ inline float small_max_norm_scale(int32_t largest) {
  return __fmul_rn(__fdiv_rn(127.0F, static_cast<float>(largest)), 1.0F + 1.0F / (1 << 22));
}
__device__ inline uint32_t max_norm_byte(int32_t x, float scale) {
  constexpr float kMiddle = 12582912.0F;  // 1.5 * 2^23: integers around it are its lower bits and theirs
  const float real = __fsub_rn(__int_as_float(0x4b400000 + x), kMiddle);
  return __float_as_uint(__fmaf_rn(real, scale, kMiddle));
}

// Byte 0 of each.
__device__ inline uint32_t first_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return pick(pick(a, b, 0x0040), pick(c, d, 0x0040), 0x5410);
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
  const auto put = [&](auto scale) {
#pragma unroll
    for (uint32_t i = 0; i < kMost; ++i) {
      if (i >= count) break;
      tile.unit(op.out, row, tile.quarter() + 4 * i) = each_word([&](int k) {
        const auto y = [&](int e) { return max_norm_byte(x[i][4 * k + e], scale); };
        return first_bytes(y(0), y(1), y(2), y(3));
      });
    }
  };
  if (!__any_sync(0xffffffffu, largest >= kSmallLargest)) return put(small_max_norm_scale(largest));
  put(max_norm_scale(largest));
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
  const double scale = max_norm_scale(largest);
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    uint32_t words[4];
    load16<kWide>(tile, op.in[0], row, u, [&](int32_t(&x)[4], int k) {
      const auto y = [&](int e) { return max_norm_byte(x[e], scale); };
      words[k] = first_bytes(y(0), y(1), y(2), y(3));
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

}  // namespace eggroll::cuda

#endif
