// An MLP with two linears as a fused op. Products are under way while a thread works on earlier results.
#ifndef EGGROLL_CUDA_FUSED_MLP_CUH
#define EGGROLL_CUDA_FUSED_MLP_CUH

#include "fused_wide.cuh"

namespace eggroll::cuda {

// Adds a linear's outputs to x.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void add_to_x(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, int32_t (&sums)[kBlocks][32],
                                         const Rescale& linear, const int32_t (&q)[2]) {
  constexpr uint32_t kMostOwn = FusedTile<kBlocks, kGroups, kMore, kRows>::kMostOwn;
  NoiseBlocks noise;
#pragma unroll
  for (uint32_t i = 0; i < kMostOwn; ++i) {
    if (!tile.owns(i)) continue;
    const uint32_t b = tile.own_block(i);
    const uint4 draws = noise.take(tile);
    uint4 x[2] = {tile.unit(kX, b, 0), tile.unit(kX, b, 1)};
    tile.each_output(sums[kGroups * i], draws, linear, q, kOfSecond, noise, tile.rounding - kRaise, 0,
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

// Makes the sums of an MLP's second linear and its q, with 64 channels between the linears at a time, whose products
// are added to the sums at once.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void multiply_mlp(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                             Fragment<kBlocks>& y, int32_t (&q_up)[2], int32_t (&sums)[kBlocks][32],
                                             int32_t (&q_down)[2]) {
  const Rescale up = op.linears[0];
  const Rescale down = op.linears[1];
  const uint32_t blocks = blocks_of_group(op.blocks, tile.sharing.first(), kGroups);
#pragma unroll
  for (auto& block : sums) {
#pragma unroll
    for (int32_t& sum : block) sum = 0;
  }
  int32_t inner[32];
  tile.await_weights();
  uint32_t up_free = tile.multiply(y, inner);
  q_down[0] = q_down[1] = 0;
  tile.make_later_q(y, up.of_q, q_up, kOfFirst);
  Fragment<1> u;
  Fragment<1> fallen;  // what becomes u once no product reads it any more
  uint4 draws_b;       // noise of the second linear's inputs that u is
  uint4 draws_a;
  NoiseBlocks more;  // of further ranks, of both linears
  const auto take = [&] {
    if constexpr (has_tokens(kRows)) {
      uint4 biases[2];
      tile.take_vector(biases);
      each_perturbed(
          inner, draws_a, up, q_up, tile.fallen_rounding - kRaise, 0, [&](int h, int k, uint32_t low, uint32_t high) {
            const uint32_t bias = word_of(biases[h], k) ^ kFall;
            fallen.of[2 * k + h] = looked_up(tile.look_up, __viaddmin_s16x2_relu(low, plain_low(bias), twice(254)),
                                             __viaddmin_s16x2_relu(high, plain_high(bias), twice(254)));
          });
    } else {
      more = {};
      tile.each_output(inner, draws_a, up, q_up, kOfFirst, more, tile.fallen_rounding, 0,
                       [&](int h, int k, uint32_t low, uint32_t high) {
                         fallen.of[2 * k + h] = lower_bytes(clipped(low), clipped(high));
                       });
    }
    tile.pin_registers(fallen.of);
  };
  const auto hand_over = [&] {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      asm volatile("xor.b32 %0, %1, %2;" : "=r"(u.of[i]) : "r"(fallen.of[i]), "n"(kFall) : "memory");
    }
  };
  // x·B of the second linear for further ranks, of the inputs that u is: kept as it grows.
  const auto add_more_q = [&](bool first_block) {
    tile.each_rank([] {},
                   [&](uint32_t rank) {
                     int32_t two[2] = {0, 0};
                     tile.add_dot(u.of, more.take(tile), two[0], two[1]);
                     tile.sharing.add_up(0, two);
                     if (tile.quarter() != 0) return;
#pragma unroll
                     for (uint32_t h = 0; h < 2; ++h) {
                       int32_t& kept = tile.grown(rank, h);
                       kept = two[h] + (first_block ? 0 : kept);
                     }
                   });
  };
  // Where warpgroups share a tile, weights come hardly faster than they are used: then one product's are enough to go
  // on.
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
  tile.each_rank([&] { tile.keep(kOfSecond, 0, q_down); },
                 [&](uint32_t rank) {
                   int32_t two[2] = {tile.grown(rank, 0), tile.grown(rank, 1)};
                   tile.scale_q(down.of_q, two);
                   tile.keep(kOfSecond, rank, two);
                 });
  wait_products<0>();
#pragma unroll
  for (auto& block : sums) take_sums(block);
  tile.leave_weights(down_free);
  if constexpr (kGroups > 1) {
    tile.exchange_sums(sums, q_down);
    tile.scale_q(down.of_q, q_down);
  }
}

// The same of values of one block: half of the 64 channels between the linears at a time.
__device__ __forceinline__ void multiply_halved_mlp(FusedTile<1, 1, false, Rows::kMembers>& tile, const FusedOp& op,
                                                    Fragment<1>& y, int32_t (&q_up)[2], int32_t (&sums)[1][32],
                                                    int32_t (&q_down)[2]) {
  const Rescale up = op.linears[0];
  const Rescale down = op.linears[1];
#pragma unroll
  for (int32_t& sum : sums[0]) sum = 0;
  q_down[0] = q_down[1] = 0;
  int32_t inner[16];
  Fragment<1> u;
  uint4 draws_b;  // noise of the second linear's inputs that u is
  uint4 draws_a;
  uint32_t fallen[8];  // what becomes u once no product reads it any more
  const auto take = [&](int part) {
    take_sums(inner);
    each_perturbed(inner, draws_a, up, q_up, tile.fallen_rounding, part,
                   [&](int h, int k, uint32_t low, uint32_t high) {
                     fallen[2 * k + h] = lower_bytes(clipped(low), clipped(high));
                   });
#pragma unroll
    for (int j = 0; j < 4; ++j) asm volatile("" : "+r"(fallen[4 * part + j]));
  };
  const auto hand_over = [&] {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      asm volatile("xor.b32 %0, %1, %2;" : "=r"(u.of[j]) : "r"(fallen[j]), "n"(kFall) : "memory");
    }
  };
  tile.await_weights();
  uint32_t up_free = tile.multiply_part(y, inner, tile.stage, 0);
  tile.make_later_q(y, up.of_q, q_up, kOfFirst);
  tile.take_noise(draws_a, draws_b);
  wait_products<0>();
  take(0);
  tile.multiply_part(y, inner, tile.stage, 1);
  tile.stage.advance();
  wait_products<0>();
  tile.leave_weights(up_free);
  take(1);
  hand_over();
  tile.await_noise();
  tile.await_both_weights();
#pragma unroll 1
  for (uint32_t i = 1; i < op.blocks; ++i) {
    const RingPlace from = tile.stage;
    up_free = tile.multiply_part(y, inner, from, 0);
    tile.stage.advance();
    const uint32_t down_free = tile.multiply(u, sums);
    tile.add_dot(u.of, draws_b, q_down[0], q_down[1]);
    tile.load_noise(draws_a, draws_b);
    wait_products<1>();
    take(0);
    tile.multiply_part(y, inner, from, 1);
    wait_products<1>();
    take_sums(sums[0]);
    tile.leave_weights(down_free);
    wait_products<0>();
    tile.leave_weights(up_free);
    take(1);
    tile.await_noise();
    tile.await_both_weights();
    hand_over();
  }
  const uint32_t down_free = tile.multiply(u, sums);
  tile.add_dot(u.of, draws_b, q_down[0], q_down[1]);
  tile.sharing.add_up(0, q_down);
  tile.scale_q(down.of_q, q_down);
  wait_products<0>();
  take_sums(sums[0]);
  tile.leave_weights(down_free);
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_mlp(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op) {
  Fragment<kBlocks> y;
  int32_t q_up[2];
  tile.norm(y, op.linears[0].of_q, q_up);
  int32_t sums[kBlocks][32];
  int32_t q_down[2];
  if constexpr (FusedTile<kBlocks, kGroups, kMore, kRows>::kParts > 1) {
    multiply_halved_mlp(tile, op, y, q_up, sums, q_down);
  } else {
    multiply_mlp(tile, op, y, q_up, sums, q_down);
  }
  add_to_x(tile, sums, op.linears[1], q_down);
}

}  // namespace eggroll::cuda

#endif
