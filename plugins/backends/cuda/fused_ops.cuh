// The fused ops but for the GRU and the head. Products are under way while a thread works on what the ones before left.
#ifndef EGGROLL_CUDA_FUSED_OPS_CUH
#define EGGROLL_CUDA_FUSED_OPS_CUH

#include "fused_gru.cuh"
#include "fused_head.cuh"

namespace eggroll::cuda {

template <uint32_t kBlocks, uint32_t kGroups, bool kMore>
__device__ __forceinline__ void run_embed(FusedTile<kBlocks, kGroups, kMore>& tile, const FusedOp& op, uint32_t token) {
#pragma unroll 1
  for (uint32_t first = 0; first < op.table_count; first += kTablesAtOnce) {
    const TableRows<kBlocks, kGroups, kMore> rows(tile, op.first_table + first, op.table_count - first, token);
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
      uint4 x[2] = {};
      if (first > 0) {
        x[0] = tile.unit(kX, b, 0);
        x[1] = tile.unit(kX, b, 1);
      }
#pragma unroll
      for (uint32_t i = 0; i < kTablesAtOnce; ++i) {
        if (i < rows.count) add_table(tile, rows, i, ids[i], a[i], weights[i], noise, x);
      }
      tile.unit(kX, b, 0) = x[0];
      tile.unit(kX, b, 1) = x[1];
    }
  }
#pragma unroll 1
  for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) tile.magnitudes[h] = add_magnitudes(tile.unit(kX, b, h), tile.magnitudes[h]);
  }
}

// Adds a linear's outputs to x.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore>
__device__ __forceinline__ void add_to_x(FusedTile<kBlocks, kGroups, kMore>& tile, int32_t (&sums)[kBlocks][32],
                                         int32_t of_sums, const int32_t (&q)[2]) {
  constexpr uint32_t kMostOwn = FusedTile<kBlocks, kGroups, kMore>::kMostOwn;
  NoiseBlocks noise;
#pragma unroll
  for (uint32_t i = 0; i < kMostOwn; ++i) {
    if (!tile.owns(i)) continue;
    const uint32_t b = tile.own_block(i);
    const uint4 draws = noise.take(tile);
    uint4 x[2] = {tile.unit(kX, b, 0), tile.unit(kX, b, 1)};
    tile.add_more(sums[kGroups * i], of_sums, kOfSecond, noise);
    each_output(sums[kGroups * i], draws, tile.of_more(of_sums), q, tile.rounding - kRaise,
                [&](int h, int k, uint32_t low, uint32_t high) {
                  const uint32_t old = word_of(x[h], k);
                  word_at(x[h], k) = lower_bytes(add_clipped(clip_halves(low), signed_low(old)),
                                                 add_clipped(clip_halves(high), signed_high(old)));
                });
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      tile.unit(kX, b, h) = x[h];
      tile.magnitudes[h] = add_magnitudes(x[h], tile.magnitudes[h]);
    }
  }
}

// 64 channels between the two linears at a time: what comes of them is added to the second's sums at once.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore>
__device__ __forceinline__ void run_mlp(FusedTile<kBlocks, kGroups, kMore>& tile, const FusedOp& op) {
  const Rescale up = op.linears[0];
  const Rescale down = op.linears[1];
  const uint32_t blocks = blocks_of_group(op.blocks, tile.sharing.first(), kGroups);
  Fragment<kBlocks> y;
  int32_t q_up[2];
  tile.norm(y, up.of_q, q_up);
  int32_t sums[kBlocks][32];
#pragma unroll
  for (auto& block : sums) {
#pragma unroll
    for (int32_t& sum : block) sum = 0;
  }
  int32_t inner[32];
  tile.await_weights();
  uint32_t up_free = tile.multiply(y, inner);
  int32_t q_down[2] = {0, 0};
  tile.make_later_q(y, up.of_q, q_up, kOfFirst);
  Fragment<1> u;
  Fragment<1> fallen;  // what becomes u once no product reads it any more
  uint4 draws_b;       // noise of the second linear's inputs that u is
  uint4 draws_a;
  NoiseBlocks more;  // of further ranks, of both linears
  const auto take = [&] {
    more = {};
    tile.add_more(inner, up.of_sums, kOfFirst, more);
    const int32_t of_sums = tile.of_more(up.of_sums);
    each_output(inner, draws_a, of_sums, q_up, tile.fallen_rounding, [&](int h, int k, uint32_t low, uint32_t high) {
      fallen.of[2 * k + h] = lower_bytes(clipped(low), clipped(high));
    });
    tile.settle(fallen.of);
  };
  const auto hand_over = [&] {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      asm volatile("xor.b32 %0, %1, %2;" : "=r"(u.of[i]) : "r"(fallen.of[i]), "n"(kFall) : "memory");
    }
  };
  // x·B of the second linear for further ranks, of the inputs that u is: kept as it grows.
  const auto add_more_q = [&](bool first_block) {
    tile.each_more_rank([&](uint32_t rank) {
      int32_t two[2] = {0, 0};
      tile.add_dot(u.of, more.take(tile), two[0], two[1]);
      tile.sharing.add_up(0, two);
      if (tile.quarter() != 0) return;
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        int32_t& kept = tile.more_q(kOfSecond, rank, h);
        kept = two[h] + (first_block ? 0 : kept);
      }
    });
  };
  // Where groups share a tile, weights come hardly faster than they are used: then one product's are enough to go on.
  const auto await_next = [&] {
    if constexpr (kGroups == 1) {
      tile.await_both_weights();
    } else {
      tile.await_weights();
    }
  };
  tile.take_noise(draws_a, draws_b);
  wait_products<0>();
  take_sums(inner);
  tile.leave_weights(up_free);
  take();
  hand_over();
  add_more_q(true);
  tile.await_noise();
  await_next();
#pragma unroll 1
  for (uint32_t i = 1; i < blocks; ++i) {
    up_free = tile.multiply(y, inner);
    if constexpr (kGroups > 1) tile.await_weights();
    const uint32_t down_free = tile.multiply(u, sums);
    tile.add_dot(u.of, draws_b, q_down[0], q_down[1]);
    tile.load_noise(draws_a, draws_b);
    wait_products<1>();
    take_sums(inner);
    tile.leave_weights(up_free);
    take();
    if constexpr (!kMore) tile.await_noise();
    await_next();
    wait_products<0>();
#pragma unroll
    for (auto& block : sums) take_sums(block);
    tile.leave_weights(down_free);
    hand_over();
    add_more_q(false);
    if constexpr (kMore) tile.await_noise();
  }
  const uint32_t down_free = tile.multiply(u, sums);
  tile.add_dot(u.of, draws_b, q_down[0], q_down[1]);
  if constexpr (kGroups == 1) {
    tile.sharing.add_up(0, q_down);
    tile.scale_q(down.of_q, q_down);
  }
  tile.each_more_rank([&](uint32_t rank) {
    int32_t two[2] = {tile.more_q(kOfSecond, rank, 0), tile.more_q(kOfSecond, rank, 1)};
    __syncwarp();
    tile.scale_q(down.of_q, two);
    tile.keep(kOfSecond, rank, two);
  });
  wait_products<0>();
#pragma unroll
  for (auto& block : sums) take_sums(block);
  tile.leave_weights(down_free);
  if constexpr (kGroups > 1) {
    tile.trade(sums, q_down);
    tile.scale_q(down.of_q, q_down);
  }
  add_to_x(tile, sums, down.of_sums, q_down);
}

}  // namespace eggroll::cuda

#endif
