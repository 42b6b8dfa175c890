// Wide values of a tile of tokens: a thread has 16 neighbouring channels of two rows in each block, as the tensor cores
// leave them.
#ifndef EGGROLL_CUDA_FUSED_WIDE_CUH
#define EGGROLL_CUDA_FUSED_WIDE_CUH

#include "fused_tile.cuh"

namespace eggroll::cuda {

// Where a thread's sums have channel 4 k + e of its 16, of row h.
__device__ constexpr uint32_t sum_at(uint32_t h, uint32_t k, uint32_t e) { return 8 * k + 4 * (e / 2) + 2 * h + e % 2; }

// A word of fallen bytes from fallen halves. own: the first entry of the lane's copy of a lut.
__device__ __forceinline__ uint32_t looked_up(const char* own, uint32_t low, uint32_t high) {
  const auto entry = [&](uint32_t at) { return *reinterpret_cast<const uint32_t*>(own + at); };
  const auto both = [&](uint32_t halves) {
    const uint32_t at = halves * kLookUpStride;  // of two entries, in the halves of a word
    return pick(entry(at & 0xffff), entry(at >> 16), 0x0040);
  };
  return pick(both(low), both(high), 0x5410);
}

// Begins and ends the products of a linear of x, 64 outputs at a time, and makes q.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void multiply_all(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                             const Fragment<kBlocks>& x, int32_t (&sums)[kBlocks][32],
                                             int32_t (&q)[2]) {
  uint32_t free = 0;
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
    tile.await_weights();
    const uint32_t now = tile.multiply(x, sums[b]);
    if (b > 0) {
      wait_products<1>();
      tile.leave_weights(free);
    }
    free = now;
  }
  tile.make_q(x, 1, q, kOfFirst);
  wait_products<0>();
#pragma unroll
  for (auto& block : sums) take_sums(block);
  tile.leave_weights(free);
}

// Makes a linear's outputs of its sums. shift: with the guard bits; q: of either row.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void finish_wide(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                            int32_t (&sums)[kBlocks][32], int32_t shift, const int32_t (&q)[2]) {
  const int32_t rounding = egg_rounding(shift, tile.args.nearest);
  NoiseBlocks noise;
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
    const uint4 draws = noise.take(tile);
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      int32_t factors[4];
      factors_of(word_of(draws, static_cast<int>(k)), factors);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e) {
          int32_t& sum = sums[b][sum_at(h, k, e)];
          sum = (sum * (1 << EGG_LINEAR_GUARD_BITS) + factors[e] * q[h] + rounding) >> shift;
        }
      }
    }
  }
}

// Adds x, and a bias where there is one.
template <bool kBiased, uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void add_residual(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                             int32_t (&made)[kBlocks][32]) {
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
    uint4 biases[2] = {};
    if (kBiased) tile.take_vector(biases);
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const uint4 x = tile.unit(kX, b, h);
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e) {
          made[b][sum_at(h, k, e)] += byte_of(word_of(x, static_cast<int>(k)), static_cast<int>(e)) +
                                      byte_of(word_of(biases[h], static_cast<int>(k)), static_cast<int>(e));
        }
      }
    }
  }
}

// out = max_norm(x)
template <uint32_t kBlocks>
__device__ __forceinline__ void scale_wide(const int32_t (&x)[kBlocks][32], Fragment<kBlocks>& out) {
  int32_t largest[2] = {1, 1};
  int32_t least[2] = {0, 0};
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (uint32_t i = 0; i < 32; i += 4) {
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        largest[h] = __vimax3_s32(largest[h], x[b][i + 2 * h], x[b][i + 2 * h + 1]);
        least[h] = __vimin3_s32(least[h], x[b][i + 2 * h], x[b][i + 2 * h + 1]);
      }
    }
  }
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) largest[h] = row_max(max(largest[h], -least[h]));
  const auto put = [&](const auto& scales) {
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
#pragma unroll
        for (uint32_t h = 0; h < 2; ++h) {
          const auto y = [&](uint32_t e) { return max_norm_byte(x[b][sum_at(h, k, e)], scales[h]); };
          out.of[8 * b + 2 * k + h] = first_bytes(y(0), y(1), y(2), y(3));
        }
      }
    }
  };
  if (!__any_sync(0xffffffffu, max(largest[0], largest[1]) >= kSmallLargest)) {
    const float scales[2] = {small_max_norm_scale(largest[0]), small_max_norm_scale(largest[1])};
    put(scales);
  } else {
    const double scales[2] = {max_norm_scale(largest[0]), max_norm_scale(largest[1])};
    put(scales);
  }
}

}  // namespace eggroll::cuda

#endif
