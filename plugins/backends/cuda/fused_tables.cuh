// Rows of tables that a token reads, in the fused forward pass.
#ifndef EGGROLL_CUDA_FUSED_TABLES_CUH
#define EGGROLL_CUDA_FUSED_TABLES_CUH

#include "draw.cuh"
#include "fused_tile.cuh"

namespace eggroll::cuda {

// What a token reads of up to kTablesAtOnce tables from `first` on. Each of a row's threads looks one up, so that they
// all wait once.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
struct TableRows {
  const FusedTable* tables;
  uint32_t count;
  const int8_t* noise;  // of the tile
  uint32_t ids[2];      // of the thread's own table, for both rows
  int32_t draws[2];     // of side A

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
      draws[h] = EGG_JOINT_A;
      if (ids[h] == EGG_NO_ROW) continue;
      if (table.side_a == kKeyedA) draws[h] = draw_of(args.values_of_noise, key, EGG_SIDE_A, ids[h]);
      if (table.side_a == kDrawnA) draws[h] = __ldg(noise + noise_place(pair, table.a + ids[h]));
    }
  }

  // Table number i's row of the thread's row h, and the pair's draw of it. All of a warp call this.
  __device__ uint32_t id(uint32_t i, uint32_t h) const { return __shfl_sync(0xffffffffu, ids[h], lane_of(i)); }
  __device__ int32_t draw(uint32_t i, uint32_t h) const { return __shfl_sync(0xffffffffu, draws[h], lane_of(i)); }
  // The same of a further rank, of row `id`, for both rows of the pair.
  __device__ __forceinline__ int32_t more_draw(const FusedArgs& args, uint32_t i, uint32_t id, uint32_t rank) const {
    const FusedTable& table = tables[i];
    const uint32_t pair = threadIdx.x % kGroupThreads / 4;
    const uint32_t at = table.a + rank * table.a_stride;
    if (table.side_a == kDrawnA) return __ldg(noise + noise_place(pair, at + id));
    if (table.side_a != kKeyedA) return EGG_JOINT_A;
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

// clip(x + weights) of 16 channels.
__device__ __forceinline__ uint4 add_plain_row(const uint4& x, const uint4& weights) {
  return each_word([&](int k) {
    const uint32_t a = word_of(x, k);
    const uint32_t b = word_of(weights, k);
    return lower_bytes(add_clipped(signed_low(a), signed_low(b)), add_clipped(signed_high(a), signed_high(b)));
  });
}
// clip(x + weights + s * rshift(ab)); ab(i): sum of the draws' products in channel i; is_odd: s is -1.
template <class Product>
__device__ __forceinline__ uint4 add_row(const uint4& x, const uint4& weights, Product&& ab, int32_t shift,
                                         int32_t nearest, uint32_t is_odd) {
  return each_word([&](int k) {
    int32_t y[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int32_t moved = egg_rshift(ab(4 * k + e), shift, nearest);
      y[e] = byte_of(word_of(x, k), e) + byte_of(word_of(weights, k), e) + (is_odd == 0 ? moved : -moved);
    }
    return clip_pack4(y);
  });
}

// Adds table number i to both rows' 16 channels.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void add_table(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                          const TableRows<kBlocks, kGroups, kMore, kRows>& rows, uint32_t i,
                                          const uint32_t (&ids)[2], const int32_t (&a)[2], const uint4 (&weights)[2],
                                          NoiseBlocks& noise, uint4 (&x)[2]) {
  const FusedArgs& args = tile.args;
  const FusedTable& table = rows.tables[i];
  if (table.side_a == kNoA) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) x[h] = add_plain_row(x[h], weights[h]);
    return;
  }
  const uint4 b = noise.take(tile);
  const int32_t shift = table.side_a == kJointA ? args.joint_shift : args.embed_shift;
  const auto b_at = [](const uint4& draws, int c) { return byte_of(word_of(draws, c / 4), c % 4); };
  if constexpr (kMore) {
    constexpr int kCount = static_cast<int>(kUnit);
    int32_t even[kCount];
    int32_t odd[kCount];
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      even[c] = a[0] * b_at(b, c);
      odd[c] = a[1] * b_at(b, c);
    }
#pragma unroll 1
    for (uint32_t rank = 1; rank < args.shape.ranks; ++rank) {
      const uint4 more_b = noise.take(tile);
      const int32_t more_even = ids[0] == EGG_NO_ROW ? 0 : rows.more_draw(args, i, ids[0], rank);
      const int32_t more_odd = ids[1] == EGG_NO_ROW ? 0 : rows.more_draw(args, i, ids[1], rank);
#pragma unroll
      for (int c = 0; c < kCount; ++c) {
        even[c] += more_even * b_at(more_b, c);
        odd[c] += more_odd * b_at(more_b, c);
      }
    }
    if (ids[0] != EGG_NO_ROW) {
      x[0] = add_row(
          x[0], weights[0], [&](int c) { return even[c]; }, shift, args.nearest, 0);
    }
    if (ids[1] != EGG_NO_ROW) {
      x[1] = add_row(
          x[1], weights[1], [&](int c) { return odd[c]; }, shift, args.nearest, 1);
    }
  } else {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      if (ids[h] == EGG_NO_ROW) continue;
      x[h] = add_row(
          x[h], weights[h], [&](int c) { return a[h] * b_at(b, c); }, shift, args.nearest, tile.is_odd(h));
    }
  }
}

}  // namespace eggroll::cuda

#endif
