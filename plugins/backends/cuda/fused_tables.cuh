// Rows of tables that a token reads, in the fused forward pass.
#ifndef EGGROLL_CUDA_FUSED_TABLES_CUH
#define EGGROLL_CUDA_FUSED_TABLES_CUH

#include "draw.cuh"
#include "fused_tile.cuh"

namespace eggroll::cuda {

// The factor whose product with x has x >> shift in its upper half. A product of two draws is below 2^14 in
// magnitude, so larger shifts change nothing.
__device__ inline int32_t scale_of_shift(int32_t shift) { return 1 << (16 - min(shift, 16)); }

// What a token reads of up to kTablesAtOnce tables from `first` on. Each of a row's threads looks up one table, so all
// wait only once.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
struct TableRows {
  const FusedTable* tables;
  uint32_t count;
  const int8_t* noise;  // of the tile
  uint32_t ids[2];      // of the thread's own table, for both rows
  // Side A's draws. If a side has one draw, it is scaled by scale_of_shift() and, for odd members, negated. 0: no row.
  int32_t draws[2];

  __device__ TableRows(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t first, uint32_t left,
                       uint32_t step)
      : tables(tile.args.tables + first), count(min(left, kTablesAtOnce)) {
    if (count == 0) return;
    const FusedArgs& args = tile.args;
    const FusedTable& table = tables[min(tile.quarter(), count - 1)];
    noise = tile.noise_of_tile();
    const uint32_t pair = tile.pair();
    unsigned long long key = 0;
    if (table.side_a == kKeyedA) {
      key = __ldg(reinterpret_cast<const unsigned long long*>(noise + noise_place(pair, table.a)));
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const size_t entry = tile.entry(h, step);
      ids[h] = table.row_of == 0 ? args.inputs[entry] : args.row_numbers[entry * args.index_count + table.row_of - 1];
      draws[h] = 0;
      if (ids[h] == EGG_NO_ROW) continue;
      if (table.side_a == kKeyedA) draws[h] = draw_of(args.values_of_noise, key, EGG_SIDE_A, ids[h]);
      if (table.side_a == kDrawnA) draws[h] = __ldg(noise + noise_place(pair, table.a + ids[h]));
      if constexpr (!kMore) {
        const int32_t scale = scale_of_shift(args.embed_shift);
        draws[h] *= tile.is_odd(h) == 0 ? scale : -scale;
      }
    }
  }

  // Table number i's row of the thread's row h, and the pair's draw of it. All threads of a warp must call this.
  __device__ uint32_t id(uint32_t i, uint32_t h) const { return __shfl_sync(0xffffffffu, ids[h], lane_of(i)); }
  __device__ int32_t draw(uint32_t i, uint32_t h) const { return __shfl_sync(0xffffffffu, draws[h], lane_of(i)); }
  // The same of a further rank, of row `id`, for both rows of the pair.
  __device__ __forceinline__ int32_t more_draw(const FusedArgs& args, uint32_t i, uint32_t id, uint32_t rank) const {
    const FusedTable& table = tables[i];
    const uint32_t pair = threadIdx.x % kGroupThreads / 4;
    const uint32_t at = table.a + rank * table.a_stride;
    if (table.side_a == kDrawnA) return __ldg(noise + noise_place(pair, at + id));
    const auto key = __ldg(reinterpret_cast<const unsigned long long*>(noise + noise_place(pair, at)));
    return draw_of(args.values_of_noise, key, EGG_SIDE_A, id);
  }
  __device__ static int lane_of(uint32_t i) { return static_cast<int>(threadIdx.x % 32 / 4 * 4 + i); }

  // The thread's part of block b of a row.
  __device__ uint4 weights(uint32_t i, uint32_t id, uint32_t b) const {
    return __ldg(reinterpret_cast<const uint4*>(tables[i].weights + size_t{id} * tables[i].stride) + 4 * b +
                 threadIdx.x % 4);
  }
};

// Adds weights to 16 channels of row h.
__device__ __forceinline__ void add_row(Outputs& x, uint32_t h, const uint4& weights) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t four = word_of(weights, k);
    x.of[h][2 * k] = __viaddmin_s16x2_relu(x.of[h][2 * k], signed_low(four), twice(254));
    x.of[h][2 * k + 1] = __viaddmin_s16x2_relu(x.of[h][2 * k + 1], signed_high(four), twice(254));
  }
}
// The same and a perturbation: moved(i) has it in halves, of channels 2 i and 2 i + 1. Up to 2^14 in magnitude.
template <class Moved>
__device__ __forceinline__ void add_row(Outputs& x, uint32_t h, const uint4& weights, Moved&& moved) {
  const auto add = [](uint32_t& to, uint32_t two, uint32_t by) {
    to = __viaddmin_s16x2_relu(to, __viaddmin_s16x2(two, by, twice(32767)), twice(254));
  };
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t four = word_of(weights, k);
    add(x.of[h][2 * k], signed_low(four), moved(2 * k));
    add(x.of[h][2 * k + 1], signed_high(four), moved(2 * k + 1));
  }
}

// Adds table number i to both rows' 16 channels, raised.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void add_table(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                          const TableRows<kBlocks, kGroups, kMore, kRows>& rows, uint32_t i,
                                          const uint32_t (&ids)[2], const int32_t (&a)[2], const uint4 (&weights)[2],
                                          NoiseBlocks& noise, Outputs& x) {
  const FusedArgs& args = tile.args;
  const FusedTable& table = rows.tables[i];
  if (table.side_a == kNoA) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) add_row(x, h, weights[h]);
    return;
  }
  const int32_t shift = args.embed_shift;
  const uint4 b = noise.take(tile);
  if constexpr (kMore) {
    constexpr int kCount = static_cast<int>(kUnit);
    const auto b_at = [](const uint4& draws, int c) { return byte_of(word_of(draws, c / 4), c % 4); };
    int32_t sums[2][kCount];
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      sums[0][c] = a[0] * b_at(b, c);
      sums[1][c] = a[1] * b_at(b, c);
    }
#pragma unroll 1
    for (uint32_t rank = 1; rank < args.shape.ranks; ++rank) {
      const uint4 more_b = noise.take(tile);
      const int32_t more_even = ids[0] == EGG_NO_ROW ? 0 : rows.more_draw(args, i, ids[0], rank);
      const int32_t more_odd = ids[1] == EGG_NO_ROW ? 0 : rows.more_draw(args, i, ids[1], rank);
#pragma unroll
      for (int c = 0; c < kCount; ++c) {
        sums[0][c] += more_even * b_at(more_b, c);
        sums[1][c] += more_odd * b_at(more_b, c);
      }
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      // A larger one is clipped after the sum in any case.
      const auto moved = [&](int c) {
        const int32_t by = egg_clip(egg_rshift(sums[h][c], shift, args.nearest), 1 << 14);
        return static_cast<uint32_t>(h == 0 ? by : -by);
      };
      add_row(x, h, weights[h], [&](int i) { return pick(moved(2 * i), moved(2 * i + 1), 0x5410); });
    }
  } else {
    // The upper half of -ab, scaled, becomes -rshift(ab) with a rounding of its own.
    const int32_t even_rounding = egg_rounding(16, args.nearest) & -static_cast<int32_t>(shift > 0);
    const int32_t odd_rounding = 65536 - scale_of_shift(shift) - even_rounding;
    int32_t factors[kUnit];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int32_t four[4];
      factors_of(word_of(b, k), four);
#pragma unroll
      for (int e = 0; e < 4; ++e) factors[4 * k + e] = four[e];
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const int32_t rounding = tile.is_odd(h) == 0 ? even_rounding : odd_rounding;
      add_row(x, h, weights[h], [&](int i) {
        return upper_halves(a[h] * factors[2 * i] + rounding, a[h] * factors[2 * i + 1] + rounding);
      });
    }
  }
}

}  // namespace eggroll::cuda

#endif
