// The embedding as a fused op.
#ifndef EGGROLL_CUDA_FUSED_EMBED_CUH
#define EGGROLL_CUDA_FUSED_EMBED_CUH

#include "fused_tables.cuh"

namespace eggroll::cuda {

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_embed(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                          uint32_t step) {
#pragma unroll 1
  for (uint32_t first = 0; first < op.table_count; first += kTablesAtOnce) {
    const TableRows<kBlocks, kGroups, kMore, kRows> rows(tile, op.first_table + first, op.table_count - first, step);
    uint32_t ids[kTablesAtOnce][2];
    int32_t a[kTablesAtOnce][2];
#pragma unroll
    for (uint32_t i = 0; i < kTablesAtOnce; ++i) {
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        ids[i][h] = rows.id(i, h);
        a[i][h] = rows.draw(i, h);
        if (i >= rows.count) ids[i][h] = EGG_NO_ROW;
      }
    }
    NoiseBlocks noise;
#pragma unroll 1
    for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups) {
      uint4 weights[kTablesAtOnce][2];
#pragma unroll
      for (uint32_t i = 0; i < kTablesAtOnce; ++i) {
#pragma unroll
        for (uint32_t h = 0; h < 2; ++h) {
          weights[i][h] = make_uint4(0, 0, 0, 0);
          if (ids[i][h] != EGG_NO_ROW) weights[i][h] = rows.weights(i, ids[i][h], b);
        }
      }
      Outputs x;
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        if (first > 0) {
          raise(tile.unit(kX, b, h), x.of[h]);
        } else {
#pragma unroll
          for (uint32_t& two : x.of[h]) two = twice(127);
        }
      }
#pragma unroll
      for (uint32_t i = 0; i < kTablesAtOnce; ++i) {
        if (i < rows.count) add_table(tile, rows, i, ids[i], a[i], weights[i], noise, x);
      }
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) tile.unit(kX, b, h) = lowered(bytes_of(x.of[h]));
    }
  }
#pragma unroll 1
  for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups) {
    if constexpr (has_tokens(kRows)) {
      uint4 biases[2];
      tile.take_vector(biases);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        Outputs x;
        raise(tile.unit(kX, b, h), x.of[h]);
        add_row(x, h, biases[h]);
        tile.unit(kX, b, h) = lowered(bytes_of(x.of[h]));
      }
    }
#pragma unroll
    for (uint32_t h = 0; h < 2 && !has_tokens(kRows); ++h) {
      tile.magnitudes[h] = add_magnitudes(tile.unit(kX, b, h), tile.magnitudes[h]);
    }
  }
}

}  // namespace eggroll::cuda

#endif
