// What the fused ops do to 16 neighbouring channels of a pair's two rows, which a thread holds.
//
// Arithmetic works on two channels in a word. `raised`: the number plus 127, in [0, 254]. `fallen`: 127 minus the
// number, in [0, 254], so that one xor makes bytes of four packed ones.
#ifndef EGGROLL_CUDA_FUSED_MATH_CUH
#define EGGROLL_CUDA_FUSED_MATH_CUH

#include "fused.h"
#include "norm.cuh"

namespace eggroll::cuda {

__host__ __device__ constexpr uint32_t twice(int32_t x) { return static_cast<uint32_t>(x & 0xffff) * 0x10001u; }

// Raises a number if it is added before the upper half is taken.
constexpr int32_t kRaise = 127 << 16;
// Raised or fallen halves, clipped.
__device__ inline uint32_t clipped(uint32_t halves) { return __vimin_s16x2_relu(halves, twice(254)); }
__device__ inline uint32_t upper_halves(int32_t a, int32_t b) {
  return pick(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x7632);
}
__device__ inline uint32_t lower_bytes(uint32_t low, uint32_t high) { return pick(low, high, 0x6420); }
constexpr uint32_t kFall = 0x7f7f7f7fu;  // xor with it makes bytes from fallen bytes, and back
// Channels 0 and 1 of a word with their signs, and 2 and 3.
__device__ inline uint32_t signed_low(uint32_t word) { return pick(word, 0, 0x9180); }
__device__ inline uint32_t signed_high(uint32_t word) { return pick(word, 0, 0xb3a2); }
__device__ inline uint32_t plain_low(uint32_t word) { return pick(word, 0, 0x4140); }
__device__ inline uint32_t plain_high(uint32_t word) { return pick(word, 0, 0x4342); }
// Takes any halves.
__device__ inline uint32_t clip_halves(uint32_t halves) { return __vmaxs2(__vmins2(halves, twice(127)), twice(-127)); }
__device__ inline uint32_t add_clipped(uint32_t a, uint32_t b) {
  return __vmaxs2(__viaddmin_s16x2(a, b, twice(127)), twice(-127));
}

__device__ inline uint32_t& word_at(uint4& unit, int i) {
  return i == 0 ? unit.x : i == 1 ? unit.y : i == 2 ? unit.z : unit.w;
}

// A word's four bytes with their signs.
__device__ __forceinline__ void factors_of(uint32_t word, int32_t (&factors)[4]) {
  factors[0] = static_cast<int32_t>(pick(word, 0, 0x8880));
  factors[1] = static_cast<int32_t>(pick(word, 0, 0x9991));
  factors[2] = static_cast<int32_t>(pick(word, 0, 0xaaa2));
  factors[3] = static_cast<int32_t>(pick(word, 0, 0xbbb3));
}

// Calls make(row of the pair, k, halves of channels 4 k and 4 k + 1, halves of the next two): the outputs of a linear
// before they are clipped, as `rounding` raises them. sums: of all 16 channels, or of part number `part` of them; a:
// noise of the 16 channels; q: of either row, times of_q.
template <int kSums, class Make>
__device__ __forceinline__ void each_perturbed(const int32_t (&sums)[kSums], const uint4& a, const Rescale& linear,
                                               const int32_t (&q)[2], int32_t rounding, int part, Make&& make) {
#pragma unroll
  for (int j = 0; j < kSums / 8; ++j) {
    const int k = part * (kSums / 8) + j;
    int32_t factors[4];
    factors_of(word_of(a, k), factors);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const auto y = [&](int e) {
        return sums[8 * j + 4 * (e / 2) + 2 * h + e % 2] * linear.of_sums + rounding + factors[e] * q[h];
      };
      make(h, k, upper_halves(y(0), y(1)), upper_halves(y(2), y(3)));
    }
  }
}
// The same of sums with guard bits that have been perturbed.
template <class Make>
__device__ __forceinline__ void each_scaled(const int32_t (&sums)[32], int32_t of_q, int32_t rounding, Make&& make) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const auto y = [&](int e) { return sums[8 * k + 4 * (e / 2) + 2 * h + e % 2] * of_q + rounding; };
      make(h, k, upper_halves(y(0), y(1)), upper_halves(y(2), y(3)));
    }
  }
}

// The outputs of a linear, raised or fallen: of row h, two channels in each word.
struct Outputs {
  uint32_t of[2][8];
};

// Raised halves of 16 raised bytes, and back.
__device__ __forceinline__ void halves_of(const uint4& bytes, uint32_t (&halves)[8]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    halves[2 * k] = plain_low(word_of(bytes, k));
    halves[2 * k + 1] = plain_high(word_of(bytes, k));
  }
}
__device__ __forceinline__ uint4 bytes_of(const uint32_t (&halves)[8]) {
  return each_word([&](int k) { return lower_bytes(halves[2 * k], halves[2 * k + 1]); });
}
// Raises numbers to halves, and the numbers of raised bytes. The carry never leaves a byte.
__device__ __forceinline__ void raise(const uint4& numbers, uint32_t (&halves)[8]) {
  halves_of(each_word([&](int k) { return (word_of(numbers, k) ^ 0x80808080u) - 0x01010101u; }), halves);
}
__device__ __forceinline__ uint4 lowered(const uint4& raised) {
  return each_word([&](int k) { return (word_of(raised, k) + 0x01010101u) ^ 0x80808080u; });
}

// egg_gru_gate of four channels; f raised.
__device__ inline uint32_t gated(uint32_t f_low, uint32_t f_high, uint32_t h) {
  const auto four = static_cast<int32_t>(h);
  return second_bytes(__dp2a_lo(static_cast<int32_t>(f_low & 0xffffu), four, 0),
                      __dp2a_lo(static_cast<int32_t>(f_low & 0xffff0000u), four, 0),
                      __dp2a_hi(static_cast<int32_t>(f_high & 0xffffu), four, 0),
                      __dp2a_hi(static_cast<int32_t>(f_high & 0xffff0000u), four, 0));
}

// egg_gru_mix of four channels, as halves; f: raised bytes.
struct Mixed {
  uint32_t low;
  uint32_t high;
};
__device__ inline Mixed mixed(uint32_t f, uint32_t h, uint32_t c) {
  const auto low = static_cast<int32_t>(pick(h, c, 0x5140));
  const auto high = static_cast<int32_t>(pick(h, c, 0x7362));
  // 256 - f and f in the halves of a word.
  const auto factors = [&](uint32_t selector) { return static_cast<int32_t>(pick(f, 0, selector) * 0xffffu + 256); };
  const auto middle = [](int32_t a, int32_t b) {
    return pick(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x6521);
  };
  return {middle(__dp2a_lo(factors(0x4440), low, 0), __dp2a_hi(factors(0x4441), low, 0)),
          middle(__dp2a_lo(factors(0x4442), high, 0), __dp2a_hi(factors(0x4443), high, 0))};
}

// egg_l1_norm of four channels. factor: the negative reciprocal; rounding: of what becomes fallen.
__device__ inline uint32_t normed(uint32_t x, uint32_t gains, int32_t factor, int32_t rounding) {
  const auto g = static_cast<int32_t>(gains);
  const auto y = [&](int32_t xg) { return xg * factor + rounding; };
  const auto two = [&](uint32_t selector) { return static_cast<int32_t>(pick(x, 0, selector)); };
  const uint32_t low = clipped(upper_halves(y(__dp2a_lo(two(0x4480), g, 0)), y(__dp2a_lo(two(0x9144), g, 0))));
  const uint32_t high = clipped(upper_halves(y(__dp2a_hi(two(0x44a2), g, 0)), y(__dp2a_hi(two(0xb344), g, 0))));
  return lower_bytes(low, high) ^ kFall;
}

// The same with a bias. rounding: of what is not raised.
__device__ inline uint32_t normed(uint32_t x, uint32_t gains, uint32_t biases, int32_t factor, int32_t rounding) {
  const auto g = static_cast<int32_t>(gains);
  const uint32_t fallen = biases ^ kFall;
  const auto y = [&](int32_t xg) { return xg * factor + rounding; };
  const auto two = [&](uint32_t selector) { return static_cast<int32_t>(pick(x, 0, selector)); };
  const auto sum = [](int32_t a, int32_t b, uint32_t bias) {
    return __viaddmin_s16x2_relu(upper_halves(a, b), bias, twice(254));
  };
  const uint32_t low = sum(y(__dp2a_lo(two(0x4480), g, 0)), y(__dp2a_lo(two(0x9144), g, 0)), plain_low(fallen));
  const uint32_t high = sum(y(__dp2a_hi(two(0x44a2), g, 0)), y(__dp2a_hi(two(0xb344), g, 0)), plain_high(fallen));
  return lower_bytes(low, high) ^ kFall;
}

}  // namespace eggroll::cuda

#endif
