// Attention of a tile of tokens.
#ifndef EGGROLL_CUDA_FUSED_ATTENTION_CUH
#define EGGROLL_CUDA_FUSED_ATTENTION_CUH

#include "divisor.cuh"
#include "fused_wide.cuh"

namespace eggroll::cuda {

// The thread's part of an attention's caches, in blocks of channels. A block of keys has 64 channels for each position.
// A block of values has 32 positions for each span and each channel, with channels in the order of the tensor cores.
// Thread c of four has positions 2 c, 2 c + 1, 2 c + 8 and 2 c + 9 in each half of a span. In short windows, a position
// is a row of the warp.
template <class Tile>
struct Caches {
  char* keys;
  char* values;
  uint32_t block_bytes;

  __device__ Caches(const Tile& tile, uint32_t blocks) : block_bytes(cache_block_bytes(tile.args.context)) {
    const uint32_t part = Tile::kWhat == Rows::kSpan ? tile.odd() : tile.thread() / 32;
    keys = tile.caches + part * (2 * blocks * block_bytes);
    values = keys + blocks * block_bytes;
  }
  __device__ static uint32_t position(const Tile& tile, uint32_t h, uint32_t step) {
    return Tile::kWhat == Rows::kSpan ? tile.position(h, step) : tile.row(h) % 16;
  }
  __device__ uint4& key(uint32_t b, uint32_t position, uint32_t unit) const {
    return *reinterpret_cast<uint4*>(keys + b * block_bytes + position * kBlock + unit * kUnit);
  }
  // The positions that thread c of four has in a span for channel `place`: a word for each half.
  __device__ uint2& value(uint32_t b, uint32_t span, uint32_t place, uint32_t c) const {
    return *reinterpret_cast<uint2*>(values + b * block_bytes + span * (kSpan * kBlock) + place * kSpan + c * 8);
  }
};

template <class Tile, uint32_t kBlocks>
__device__ __forceinline__ void keep_keys(const Tile& tile, const Caches<Tile>& caches, uint32_t step,
                                          const Fragment<kBlocks>& k) {
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      caches.key(b, caches.position(tile, h, step), tile.quarter()) = k.unit(b, h);
    }
  }
}

// Two lanes, four apart, hold neighbouring rows: one lane takes channels 0 and 1 of each four, the other 2 and 3.
template <class Tile, uint32_t kBlocks>
__device__ __forceinline__ void keep_values(const Tile& tile, const Caches<Tile>& caches, uint32_t step,
                                            const Fragment<kBlocks>& v) {
  const uint32_t g = threadIdx.x % 32 / 4;
  const uint32_t upper = g % 2;
  const uint32_t half = Tile::kWhat == Rows::kSpan ? tile.row(0) % kSpan / 16 : 0;
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (uint32_t w = 0; w < 4; ++w) {
      const uint32_t first = v.of[8 * b + 2 * w];
      const uint32_t second = v.of[8 * b + 2 * w + 1];
      const uint32_t low = pick(first, second, 0x5410);
      const uint32_t high = pick(first, second, 0x7632);
      const uint32_t theirs = __shfl_xor_sync(0xffffffffu, upper != 0 ? low : high, 4);
      const uint32_t even = upper != 0 ? theirs : low;
      const uint32_t odd = upper != 0 ? high : theirs;
      const uint32_t place = 8 * (2 * w + upper) + 2 * tile.quarter();
      auto* one = reinterpret_cast<uint32_t*>(&caches.value(b, step, place, g / 2)) + half;
      auto* next = reinterpret_cast<uint32_t*>(&caches.value(b, step, place + 1, g / 2)) + half;
      *one = pick(even, odd, 0x6240);
      *next = pick(even, odd, 0x7351);
    }
  }
}

// Rotates both rows by their positions.
template <uint32_t kBlocks, class Tile>
__device__ __forceinline__ void rotate_wide(const Tile& tile, uint32_t step, int32_t (&x)[kBlocks][32]) {
  const FusedArgs& args = tile.args;
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    const int32_t* angles = args.angles + size_t{tile.token(h, step)} * args.head + kUnit * tile.quarter() % args.head;
    int4 constants[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) constants[k] = __ldg(reinterpret_cast<const int4*>(angles) + k);
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        const auto turn = [&](uint32_t e, int32_t c, int32_t d) {
          int32_t& first = x[b][sum_at(h, k, e)];
          int32_t& second = x[b][sum_at(h, k, e + 1)];
          const int32_t turned = egg_rotate(first, c, second, -d);
          second = egg_rotate(first, d, second, c);
          first = turned;
        };
        turn(0, constants[k].x, constants[k].y);
        turn(2, constants[k].z, constants[k].w);
      }
    }
  }
}

// Makes the scores of a span's positions, not yet shifted: scores[i][2 h + e] is row h's for position 8 i + 2 c + e.
// q: the thread's words of a block, in which the channels of all heads but one are zero.
template <class Tile>
__device__ __forceinline__ void make_scores(const Caches<Tile>& caches, uint32_t b, uint32_t span, uint32_t count,
                                            const uint32_t (&q)[8], int32_t (&scores)[4][4]) {
  const uint32_t g = threadIdx.x % 32 / 4;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    if (i >= count) break;
    const uint4 key = caches.key(b, span * kSpan + 8 * i + g, Tile::quarter());
#pragma unroll
    for (int32_t& score : scores[i]) score = 0;
    multiply_add(scores[i], q[0], q[1], q[2], q[3], key.x, key.y);
    multiply_add(scores[i], q[4], q[5], q[6], q[7], key.z, key.w);
  }
}

// Does attention for all heads of one block of channels. q: the thread's words of the block; the result replaces them.
template <class Tile>
__device__ __forceinline__ void attend(const Tile& tile, const Caches<Tile>& caches, uint32_t b, uint32_t step,
                                       const uint32_t (&begin)[2], uint32_t (&q)[8]) {
  const FusedArgs& args = tile.args;
  const uint32_t c = tile.quarter();
  const uint32_t g = threadIdx.x % 32 / 4;
  constexpr bool kSpans = Tile::kWhat == Rows::kSpan;
  const uint32_t first_span = kSpans ? __reduce_min_sync(0xffffffffu, begin[0]) / kSpan : 0;
  const bool resets = __any_sync(0xffffffffu, begin[1] > 0);
  // The warp's rows may see this number of groups of 8 positions in the last span.
  const uint32_t last_count = kSpans ? tile.row(0) % kSpan / 16 * 2 + 2 : 2;
  int32_t low[8][4] = {};   // sums for the lower bytes of weights
  int32_t high[8][4] = {};  // sums for their upper bytes
  int32_t totals[2] = {1, 1};
  const auto seen = [&](uint32_t span, uint32_t i, uint32_t h, uint32_t e) {
    if constexpr (kSpans) {
      const uint32_t at = span * kSpan + 8 * i + 2 * c + e;
      return at <= tile.position(h, step) && at >= begin[h];
    }
    // Only the row's own window: 8 of the warp's rows are of even members, 8 of odd ones.
    const uint32_t from = 2 * c + e - (g - tile.position(h, step));
    return i == h && from <= tile.position(h, step) && from >= begin[h];
  };
#pragma unroll 1
  for (uint32_t head = 0; head < kBlock / args.head; ++head) {
    uint32_t x[8];
    const bool has_queries = kUnit * c / args.head == head;
    const bool has_values = kUnit * (g / 2) / args.head == head;
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) x[i] = has_queries ? q[i] : 0;
    int32_t scores[4][4];
    int32_t largest[2] = {INT32_MIN, INT32_MIN};
    if (args.weighting == EGG_WEIGHT_SOFTMAX) {
#pragma unroll 1
      for (uint32_t span = first_span; span <= step; ++span) {
        const uint32_t count = span == step ? last_count : 4;
        const bool cut = span == step || resets;
        make_scores(caches, b, span, count, x, scores);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
          if (i >= count) break;
#pragma unroll
          for (uint32_t j = 0; j < 4; ++j) {
            if (!cut || seen(span, i, j / 2, j % 2)) largest[j / 2] = max(largest[j / 2], scores[i][j]);
          }
        }
      }
#pragma unroll
      for (int32_t& most : largest) most = egg_rshift(row_max(most), args.score_shift, args.nearest);
    }
    int32_t sums[2] = {0, 0};
#pragma unroll 1
    for (uint32_t span = first_span; span <= step; ++span) {
      const uint32_t count = span == step ? last_count : 4;
      const bool cut = span == step || resets;
      // After softmax's first pass, the scores of a single span are still in registers.
      if (first_span < step || args.weighting != EGG_WEIGHT_SOFTMAX) make_scores(caches, b, span, count, x, scores);
      uint32_t weights[2][4];  // [row h]: lower bytes by half, then upper bytes
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t two[2][2] = {};  // [row][group of 8 positions]: two weights in a word
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
          if (2 * half + i >= count) break;
          int32_t w[4];
#pragma unroll
          for (uint32_t j = 0; j < 4; ++j) {
            const int32_t score = egg_rshift(scores[2 * half + i][j], args.score_shift, args.nearest);
            const bool counts = !cut || seen(span, 2 * half + i, j / 2, j % 2);
            const int32_t index = egg_attention_index(score, largest[j / 2], args.weighting);
            w[j] = counts ? tile.weights_of_scores[index] : 0;
            sums[j / 2] += w[j];
          }
#pragma unroll
          for (uint32_t h = 0; h < 2; ++h) {
            two[h][i] = pick(static_cast<uint32_t>(w[2 * h]), static_cast<uint32_t>(w[2 * h + 1]), 0x5410);
          }
        }
#pragma unroll
        for (uint32_t h = 0; h < 2; ++h) {
          weights[h][half] = pick(two[h][0], two[h][1], 0x6420);
          weights[h][2 + half] = pick(two[h][0], two[h][1], 0x7531);
        }
      }
#pragma unroll
      for (uint32_t i = 0; i < 8; ++i) {
        uint2 v = caches.value(b, span, 8 * i + g, c);
        if (!has_values) v = make_uint2(0, 0);
        multiply_add_unsigned(low[i], weights[0][0], weights[1][0], weights[0][1], weights[1][1], v.x, v.y);
        multiply_add_unsigned(high[i], weights[0][2], weights[1][2], weights[0][3], weights[1][3], v.x, v.y);
      }
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const int32_t total = row_sum(sums[h]);
      if (has_queries) totals[h] = total;
    }
  }
  const auto sum = [&](uint32_t h, uint32_t w, uint32_t e) {
    const uint32_t i = 2 * w + e / 2;
    return high[i][2 * h + e % 2] * 256 + low[i][2 * h + e % 2];
  };
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    const int32_t total = max(1, totals[h]);
    if (args.nearest != 0) {
      // Divides as max_norm does: the dividend is at most 127 times the total, and the total is below 2^31.
      const double scale = __dmul_rn(__ddiv_rn(1.0, static_cast<double>(total)), 1.0 + 0x1p-40);
#pragma unroll
      for (uint32_t w = 0; w < 4; ++w) {
        const auto y = [&](uint32_t e) { return max_norm_byte(sum(h, w, e), scale); };
        q[2 * w + h] = first_bytes(y(0), y(1), y(2), y(3));
      }
    } else {
      const Divisor divide(total, 0);
#pragma unroll
      for (uint32_t w = 0; w < 4; ++w) {
        q[2 * w + h] = pack4(divide(sum(h, w, 0)), divide(sum(h, w, 1)), divide(sum(h, w, 2)), divide(sum(h, w, 3)));
      }
    }
  }
}

}  // namespace eggroll::cuda

#endif
