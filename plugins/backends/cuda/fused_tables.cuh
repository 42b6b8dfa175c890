// Rows of tables that a token reads, in the fused forward pass.
#ifndef EGGROLL_CUDA_FUSED_TABLES_CUH
#define EGGROLL_CUDA_FUSED_TABLES_CUH

#include "draw.cuh"
#include "fused_tile.cuh"

namespace eggroll::cuda {

// What a token reads of up to kTablesAtOnce tables from `first` on. Each of a row's threads looks one up, so that they
// all wait once.
template <uint32_t kBlocks, uint32_t kGroups>
struct TableRows {
  const FusedTable* tables;
  uint32_t count;
  uint32_t ids[2];   // of the thread's own table, for both rows
  int32_t draws[2];  // of side A

  __device__ TableRows(const FusedTile<kBlocks, kGroups>& tile, uint32_t first, uint32_t left, uint32_t token)
      : tables(tile.args.tables + first), count(min(left, kTablesAtOnce)) {
    if (count == 0) return;
    const FusedArgs& args = tile.args;
    const FusedTable& table = tables[min(tile.quarter(), count - 1)];
    const uint32_t in_launch = args.tile_noise == 0 ? 0 : min(tile.number, divide_up(args.rows, kTileRows) - 1);
    const int8_t* noise = args.noise + in_launch * args.tile_noise;
    const uint32_t pair = tile.thread() / 4;
    unsigned long long key = 0;
    if (table.side_a == kKeyedA) {
      key = __ldg(reinterpret_cast<const unsigned long long*>(noise + noise_place(pair, table.a)));
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const size_t entry = tile.entry(h, token);
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
  __device__ static int lane_of(uint32_t i) { return static_cast<int>(threadIdx.x % 32 / 4 * 4 + i); }

  // The thread's part of block b of a row.
  __device__ uint4 weights(uint32_t i, uint32_t id, uint32_t b) const {
    return __ldg(reinterpret_cast<const uint4*>(tables[i].weights + size_t{id} * tables[i].stride) + 4 * b +
                 threadIdx.x % 4);
  }
};

// Blocks of noise as embeds take them: two a stage.
struct NoiseBlocks {
  uint4 next = {};
  bool has_next = false;

  template <class T>
  __device__ uint4 take(T& tile) {
    uint4 block = next;
    if (!has_next) tile.take_noise(block, next);
    has_next = !has_next;
    return block;
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
// clip(x + weights + s * rshift(a * b)), of row h of a pair.
__device__ __forceinline__ uint4 add_row(const uint4& x, const uint4& weights, int32_t a, const uint4& b, int32_t shift,
                                         int32_t nearest, uint32_t h) {
  return each_word([&](int k) {
    int32_t y[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int32_t moved = egg_rshift(a * byte_of(word_of(b, k), e), shift, nearest);
      y[e] = byte_of(word_of(x, k), e) + byte_of(word_of(weights, k), e) + (h == 0 ? moved : -moved);
    }
    return clip_pack4(y);
  });
}

// Adds table number i to both rows' 16 channels.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void add_table(FusedTile<kBlocks, kGroups>& tile, const FusedTable& table,
                                          const uint32_t (&ids)[2], const int32_t (&a)[2], const uint4 (&weights)[2],
                                          NoiseBlocks& noise, uint4 (&x)[2]) {
  const FusedArgs& args = tile.args;
  if (table.side_a == kNoA) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) x[h] = add_plain_row(x[h], weights[h]);
    return;
  }
  const uint4 b = noise.take(tile);
  const int32_t shift = table.side_a == kJointA ? args.joint_shift : args.embed_shift;
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    if (ids[h] != EGG_NO_ROW) x[h] = add_row(x[h], weights[h], a[h], b, shift, args.nearest, h);
  }
}

}  // namespace eggroll::cuda

#endif
