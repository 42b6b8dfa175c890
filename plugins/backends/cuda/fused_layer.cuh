// A transformer's layers as fused ops, for a tile of tokens.
#ifndef EGGROLL_CUDA_FUSED_LAYER_CUH
#define EGGROLL_CUDA_FUSED_LAYER_CUH

#include "fused_attention.cuh"
#include "fused_mlp.cuh"

namespace eggroll::cuda {

// The first position that each row's attention sees: the last reset at or before its own token, else 0.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void find_visible(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t step,
                                             uint32_t (&begin)[2]) {
  const FusedArgs& args = tile.args;
  if constexpr (kRows == Rows::kWindows) {
    const uint32_t own = tile.position(0, step);
    const uint32_t lane = threadIdx.x % 32 - 4 * own - tile.quarter();  // of the window's first token
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const uint32_t resets = __ballot_sync(0xffffffffu, args.resets[tile.entry(h, step)] != 0);
      const uint32_t before = resets >> lane & 0x11111111u & (0xffffffffu >> (31 - 4 * own));
      begin[h] = before != 0 ? (31 - static_cast<uint32_t>(__clz(static_cast<int>(before)))) / 4 : 0;
    }
    return;
  }
  const size_t first = tile.entry(0, 0) / args.tokens * args.tokens;
  begin[0] = begin[1] = 0;
  for (uint32_t span = 0; span <= step; ++span) {
    const uint32_t token = span * kSpan + threadIdx.x % 32;
    const uint32_t resets = __ballot_sync(0xffffffffu, token < args.tokens && args.resets[first + token] != 0);
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const uint32_t own = span < step ? 31 : tile.row(h) % kSpan;
      const uint32_t before = resets & (0xffffffffu >> (31 - own));
      if (before != 0) begin[h] = span * kSpan + 31 - static_cast<uint32_t>(__clz(static_cast<int>(before)));
    }
  }
}

template <uint32_t kBlocks, class Tile>
__device__ __forceinline__ void keep_x(const Tile& tile, const Fragment<kBlocks>& x) {
#pragma unroll
  for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) tile.unit(kX, b, h) = x.unit(b, h);
  }
}

// x becomes max_norm(x + linear(lut(linear(l1_norm(x))))).
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_token_mlp(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                              Fragment<kBlocks>& y) {
  int32_t sums[kBlocks][32];
  int32_t q_up[2];
  int32_t q[2];
  multiply_mlp(tile, op, y, q_up, sums, q);
  finish_wide(tile, sums, op.linears[1].of_sums, q);
  add_residual<true>(tile, sums);
  Fragment<kBlocks> x;
  scale_wide(sums, x);
  keep_x(tile, x);
}

// Attention: makes v, k and q, then the result. Linears share the code after their products, because the processor's
// instruction cache is small.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_attention(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                              Fragment<kBlocks>& in, uint32_t step) {
  using Tile = FusedTile<kBlocks, kGroups, kMore, kRows>;
  enum : uint32_t { kValues, kKeys, kQueries, kLast };
  const Caches<Tile> caches(tile, kBlocks);
  tile.meet();  // what the last attention kept here has been read
#pragma unroll 1
  for (uint32_t part = kValues; part <= kLast; ++part) {
    int32_t sums[kBlocks][32];
    int32_t q[2];
    multiply_all(tile, in, sums, q);
    finish_wide(tile, sums, op.linears[part].of_sums, q);
    if (part == kKeys || part == kQueries) rotate_wide(tile, step, sums);
    if (part == kLast) add_residual<false>(tile, sums);
    Fragment<kBlocks> out;
    scale_wide(sums, out);
    if (part == kValues) keep_values(tile, caches, step, out);
    if (part == kKeys) keep_keys(tile, caches, step, out);
    if (part == kQueries) {
      tile.meet();
      in = out;
      uint32_t begin[2];
      find_visible(tile, step, begin);
      each_block(in, [&](uint32_t b, uint32_t(&block)[8]) { attend(tile, caches, b, step, begin, block); });
    }
    if (part == kLast) keep_x(tile, out);
  }
}

}  // namespace eggroll::cuda

#endif
