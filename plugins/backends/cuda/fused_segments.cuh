// The segments of the fused forward pass. Products are under way while a thread works on what the ones before left.
#ifndef EGGROLL_CUDA_FUSED_SEGMENTS_CUH
#define EGGROLL_CUDA_FUSED_SEGMENTS_CUH

#include "fused_gru.cuh"

namespace eggroll::cuda {

template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void run_embed(FusedTile<kBlocks, kGroups>& tile, uint32_t token) {
  const FusedArgs& args = tile.args;
  const uint32_t ids[2] = {args.inputs[tile.entry(0, token)], args.inputs[tile.entry(1, token)]};
  const uint4* weights[2];
  int32_t a[2];
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    weights[h] =
        reinterpret_cast<const uint4*>(args.embedding + size_t{ids[h]} * args.embedding_stride) + tile.quarter();
    const uint32_t pair = tile.thread() / 4;
    const uint32_t in_launch = args.tile_noise == 0 ? 0 : min(tile.number, divide_up(args.rows, kTileRows) - 1);
    a[h] = __ldg(args.noise + in_launch * args.tile_noise + noise_place(pair, args.embedding_a + ids[h]));
  }
#pragma unroll 1
  for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups) {
    const uint4 draws = tile.take_noise();
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const uint4 row = __ldg(weights[h] + 4 * b);
      const uint4 x = each_word([&](int k) {
        int32_t y[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          y[e] = egg_perturbed(byte_of(word_of(row, k), e), a[h] * byte_of(word_of(draws, k), e), h == 0 ? 1 : -1,
                               args.embed_shift, args.nearest);
        }
        return clip_pack4(y);
      });
      tile.magnitudes[h] = add_magnitudes(x, tile.magnitudes[h]);
      tile.unit(kX, b, h) = x;
    }
  }
}

// 64 channels between the two linears at a time: what comes of them is added to the second's sums at once.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void run_mlp(FusedTile<kBlocks, kGroups>& tile, const FusedSegment& segment) {
  const Rescale up = segment.linears[0];
  const Rescale down = segment.linears[1];
  const uint32_t blocks = blocks_of_group(segment.blocks, tile.sharing.first(), kGroups);
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
  tile.make_later_q(y, up.of_q, q_up);
  Fragment<1> u;
  Fragment<1> fallen;  // what becomes u once no product reads it any more
  uint4 draws_b;       // noise of the second linear's inputs that u is
  uint4 draws_a;
  const auto take = [&] {
    each_output(inner, draws_a, up.of_sums, q_up, tile.fallen_rounding, [&](int h, int k, uint32_t low, uint32_t high) {
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
    tile.await_noise();
    await_next();
    wait_products<0>();
#pragma unroll
    for (auto& block : sums) take_sums(block);
    tile.leave_weights(down_free);
    hand_over();
  }
  const uint32_t down_free = tile.multiply(u, sums);
  tile.add_dot(u.of, draws_b, q_down[0], q_down[1]);
  if constexpr (kGroups == 1) {
    tile.sharing.add_up(0, q_down);
    tile.scale_q(down.of_q, q_down);
  }
  wait_products<0>();
#pragma unroll
  for (auto& block : sums) take_sums(block);
  tile.leave_weights(down_free);
  if constexpr (kGroups > 1) {
    tile.trade(sums, q_down);
    tile.scale_q(down.of_q, q_down);
  }
  constexpr uint32_t kMostOwn = FusedTile<kBlocks, kGroups>::kMostOwn;
#pragma unroll
  for (uint32_t first = 0; first < kMostOwn; first += 2) {
    uint4 draws[2];
    tile.take_noise(draws[0], draws[1]);
#pragma unroll
    for (uint32_t i = first; i < first + 2 && i < kMostOwn; ++i) {
      if (!tile.owns(i)) continue;
      const uint32_t b = tile.own_block(i);
      uint4 x[2] = {tile.unit(kX, b, 0), tile.unit(kX, b, 1)};
      each_output(sums[kGroups * i], draws[i - first], down.of_sums, q_down, tile.rounding - kRaise,
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
}

// The logits, raised, take the places of x and the scratch value.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void run_head(FusedTile<kBlocks, kGroups>& tile, const FusedSegment& segment,
                                         uint32_t token) {
  const FusedArgs& args = tile.args;
  const Rescale& head = segment.linears[0];
  const Sharing<kGroups>& sharing = tile.sharing;
  Fragment<kBlocks> y;
  int32_t q[2];
  tile.norm(y, head.of_q, q);
  sharing.meet();               // the logits' places are those of y
  int32_t largest[2] = {0, 0};  // raised
#pragma unroll 1
  for (uint32_t b = sharing.first(); b < segment.blocks; b += kGroups) {
    int32_t sums[32];
    tile.await_weights();
    const uint32_t free = tile.multiply(y, sums);
    if (b == 0) tile.make_later_q(y, head.of_q, q);
    const uint4 draws = tile.take_noise();
    wait_products<0>();
    take_sums(sums);
    tile.leave_weights(free);
    uint4 units[2];
    uint32_t most[2] = {0, 0};
    each_output(sums, draws, head.of_sums, q, tile.rounding, [&](int h, int k, uint32_t low, uint32_t high) {
      const uint32_t l = clipped(low);
      const uint32_t u = clipped(high);
      word_at(units[h], k) = lower_bytes(l, u);
      most[h] = __vmaxs2(most[h], __vmaxs2(l, u));
    });
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      tile.unit(kX, b, h) = units[h];
      if (kBlock * (b + 1) <= args.vocab) {
        largest[h] = max(largest[h], static_cast<int32_t>(max(most[h] & 0xffff, most[h] >> 16)));
      } else {
        const uint32_t begin = kBlock * b + kUnit * tile.quarter();
#pragma unroll
        for (uint32_t i = 0; i < kUnit; ++i) {
          const uint32_t logit = word_of(units[h], static_cast<int>(i / 4)) >> (8 * (i % 4)) & 0xff;
          if (begin + i < args.vocab) largest[h] = max(largest[h], static_cast<int32_t>(logit));
        }
      }
    }
  }
  sharing.find_largest(kOfOutputs, largest);
#pragma unroll 1
  for (uint32_t h = 0; h < 2; ++h) {
    const uint32_t target = args.targets[tile.entry(h, token)];
    const int32_t most = h == 0 ? largest[0] : largest[1];
    unsigned long long sum = 0;
#pragma unroll 1
    for (uint32_t b = sharing.first(); b < segment.blocks; b += kGroups) {
      const uint4 logits = tile.unit(kX, b, h);
      const uint32_t begin = kBlock * b + kUnit * tile.quarter();
      const auto of = [&](int i) {
        return tile.exponentials[most - static_cast<int32_t>(word_of(logits, i / 4) >> (8 * (i % 4)) & 0xff)];
      };
      if (kBlock * (b + 1) <= args.vocab) {
        // Three of at most 2^30 fit in 32 bits.
#pragma unroll
        for (int i = 0; i < 15; i += 3) sum += of(i) + of(i + 1) + of(i + 2);
        sum += of(15);
      } else {
#pragma unroll
        for (int i = 0; i < static_cast<int>(kUnit); ++i) {
          if (begin + static_cast<uint32_t>(i) < args.vocab) sum += of(i);
        }
      }
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    sum = sharing.add_up_row(kOfY, h, sum);
    // The thread that has the target's logit.
    if (target == EGG_NO_TARGET || target / kUnit % 4 != tile.quarter()) continue;
    if (target / kBlock % kGroups != sharing.first()) continue;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&tile.unit(kX, target / kBlock, h));
    const int32_t raised = __clzll(static_cast<int64_t>(sum));
    tile.losses[8 * h] +=
        egg_loss_q16(sum << raised, most, bytes[target % kUnit], args.loss_unit, args.loss_tables->log2_q24) -
        raised * 65536;
  }
}

}  // namespace eggroll::cuda

#endif
