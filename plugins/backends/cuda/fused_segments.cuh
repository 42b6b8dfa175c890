// The segments of the fused forward pass. Products are under way while a thread works on what the ones before left.
#ifndef EGGROLL_CUDA_FUSED_SEGMENTS_CUH
#define EGGROLL_CUDA_FUSED_SEGMENTS_CUH

#include "draw.cuh"
#include "fused_gru.cuh"

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

// Blocks of noise as embeds take them: two a slot.
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

template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void run_embed(FusedTile<kBlocks, kGroups>& tile, const FusedSegment& segment,
                                          uint32_t token) {
#pragma unroll 1
  for (uint32_t first = 0; first < segment.table_count; first += kTablesAtOnce) {
    const TableRows<kBlocks, kGroups> rows(tile, segment.first_table + first, segment.table_count - first, token);
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
        if (i < rows.count) add_table(tile, rows.tables[i], ids[i], a[i], weights[i], noise, x);
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

// Adds rows of a head's tables to 16 raised logits of both rows, in block b.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void add_to_logits(FusedTile<kBlocks, kGroups>& tile,
                                              const TableRows<kBlocks, kGroups>& rows, uint32_t b, NoiseBlocks& noise,
                                              uint4 (&units)[2]) {
  const auto flip = [](uint32_t word) { return word ^ 0x80808080u; };
#pragma unroll
  for (uint4& unit : units) unit = each_word([&](int k) { return flip(word_of(unit, k) + 0x01010101u); });
#pragma unroll 1
  for (uint32_t i = 0; i < rows.count; ++i) {
    uint32_t ids[2];
    int32_t a[2];
    uint4 weights[2];
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      ids[h] = rows.id(i, h);
      a[h] = rows.draw(i, h);
      weights[h] = make_uint4(0, 0, 0, 0);
      if (ids[h] != EGG_NO_ROW) weights[h] = rows.weights(i, ids[h], b);
    }
    add_table(tile, rows.tables[i], ids, a, weights, noise, units);
  }
#pragma unroll
  for (uint4& unit : units) unit = each_word([&](int k) { return flip(word_of(unit, k)) - 0x01010101u; });
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
  const bool adds_rows = segment.table_count > 0;
  const TableRows<kBlocks, kGroups> rows(tile, segment.first_table, segment.table_count, token);
  const uint32_t further = segment.table_count - rows.count;
  const TableRows<kBlocks, kGroups> more(tile, segment.first_table + rows.count, further, token);
#pragma unroll 1
  for (uint32_t b = sharing.first(); b < segment.blocks; b += kGroups) {
    int32_t sums[32];
    tile.await_weights();
    const uint32_t free = tile.multiply(y, sums);
    if (b == 0) tile.make_later_q(y, head.of_q, q);
    NoiseBlocks noise;
    const uint4 draws = noise.take(tile);
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
    if (adds_rows) {
      add_to_logits(tile, rows, b, noise, units);
      if (further > 0) add_to_logits(tile, more, b, noise, units);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        most[h] = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const uint32_t four = word_of(units[h], k);
          most[h] = __vmaxs2(most[h], __vmaxs2(plain_low(four), plain_high(four)));
        }
      }
    }
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
