// The head and the loss as a fused op.
#ifndef EGGROLL_CUDA_FUSED_HEAD_CUH
#define EGGROLL_CUDA_FUSED_HEAD_CUH

#include "fused_tables.cuh"

namespace eggroll::cuda {

// Adds rows of a head's tables to 16 raised logits of both rows, in block b.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void add_to_logits(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                              const TableRows<kBlocks, kGroups, kMore, kRows>& rows, uint32_t b,
                                              NoiseBlocks& noise, uint4 (&units)[2]) {
  Outputs x;
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) halves_of(units[h], x.of[h]);
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
    add_table(tile, rows, i, ids, a, weights, noise, x);
  }
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) units[h] = bytes_of(x.of[h]);
}

// The largest of 16 raised logits.
__device__ __forceinline__ uint32_t most_of(const uint4& logits) {
  uint32_t most = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t four = word_of(logits, k);
    most = __vmaxs2(most, __vmaxs2(plain_low(four), plain_high(four)));
  }
  return most;
}

// Updates the largest of the thread's raised logits of both rows with block b. most: the largest of all 16, in two
// halves.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void note_largest(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t b,
                                             const uint4 (&units)[2], const uint32_t (&most)[2],
                                             int32_t (&largest)[2]) {
  const FusedArgs& args = tile.args;
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
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

// Hands over the thread's 16 raised logits of row h in block b.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ inline void write_logits(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t h, uint32_t b,
                                    const uint4& logits) {
  const FusedArgs& args = tile.args;
  int8_t* out = args.logits + size_t{tile.member(h)} * args.vocab;
  const uint32_t begin = kBlock * b + kUnit * tile.quarter();
#pragma unroll
  for (uint32_t i = 0; i < kUnit; ++i) {
    const auto raised = static_cast<int32_t>(word_of(logits, static_cast<int>(i / 4)) >> (8 * (i % 4)) & 0xff);
    if (begin + i < args.vocab) out[begin + i] = static_cast<int8_t>(raised - 127);
  }
}

// The rows of a head's tables that a token reads.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
struct HeadRows {
  TableRows<kBlocks, kGroups, kMore, kRows> rows;
  TableRows<kBlocks, kGroups, kMore, kRows> more;

  __device__ __forceinline__ HeadRows(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                      uint32_t step)
      : rows(tile, op.first_table, op.table_count, step),
        more(tile, op.first_table + rows.count, op.table_count - rows.count, step) {}
};

// Calls take(block, the thread's 16 raised logits of both rows, most) for each of the group's blocks but the first
// `done`, an even number; most: see note_largest.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, class Take>
__device__ __forceinline__ void each_logits(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                            const Fragment<kBlocks>& y, const int32_t (&q)[2],
                                            const HeadRows<kBlocks, kGroups, kMore, kRows>& tables, uint32_t done,
                                            Take&& take) {
  const Rescale& head = op.linears[0];
  NoiseBlocks noise;
#pragma unroll 1
  for (uint32_t b = tile.sharing.first() + kGroups * done; b < op.blocks; b += kGroups) {
    int32_t sums[32];
    tile.await_weights();
    const uint32_t free = tile.multiply(y, sums);
    const uint4 draws = noise.take(tile);
    wait_products<0>();
    take_sums(sums);
    tile.leave_weights(free);
    uint4 units[2];
    uint32_t most[2] = {0, 0};
    tile.each_output(sums, draws, head, q, kOfFirst, noise, tile.rounding, 0,
                     [&](int h, int k, uint32_t low, uint32_t high) {
                       const uint32_t l = clipped(low);
                       const uint32_t u = clipped(high);
                       word_at(units[h], k) = lower_bytes(l, u);
                       most[h] = __vmaxs2(most[h], __vmaxs2(l, u));
                     });
    if (op.table_count > 0) {
      add_to_logits(tile, tables.rows, b, noise, units);
      if (tables.more.count > 0) add_to_logits(tile, tables.more, b, noise, units);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) most[h] = most_of(units[h]);
    }
    take(b, units, most);
  }
}

// The sum of the exponentials of 16 raised logits below `most`.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ unsigned long long sum_exponentials(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                                               const uint4& logits, int32_t most) {
  // Four distances below the largest at once: no byte borrows from another.
  const uint32_t four_most = static_cast<uint32_t>(most) * 0x01010101u;
  const uint32_t entries = shared_address(tile.exponentials);
  // A product of bytes makes a distance the address of its entry, in one instruction.
  const auto of = [&](uint32_t i) {
    return load_shared(__dp4a(four_most - word_of(logits, static_cast<int>(i / 4)), 4u << (8 * (i % 4)), entries));
  };
  // Three numbers of at most 2^30 fit in 32 bits.
  unsigned long long sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < kUnit - 1; i += 3) sum += of(i) + of(i + 1) + of(i + 2);
  return sum + of(kUnit - 1);
}
// Makes this sum for the thread's logits in block b, without padding.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ unsigned long long sum_exponentials(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                                               const uint4& logits, uint32_t b, int32_t most) {
  if (kBlock * (b + 1) <= tile.args.vocab) return sum_exponentials(tile, logits, most);
  unsigned long long sum = 0;
  const uint32_t begin = kBlock * b + kUnit * tile.quarter();
#pragma unroll
  for (uint32_t i = 0; i < kUnit; ++i) {
    const uint32_t logit = word_of(logits, static_cast<int>(i / 4)) >> (8 * (i % 4)) & 0xff;
    if (begin + i < tile.args.vocab) sum += tile.exponentials[static_cast<uint32_t>(most) - logit];
  }
  return sum;
}

// Adds the loss of row h from the thread's part of the sum of exponentials below `most`. logit() returns the
// target's raised logit. Only the thread that has it calls it.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, class Logit>
__device__ __forceinline__ void add_loss(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t h, uint32_t target,
                                         unsigned long long sum, int32_t most, Logit&& logit) {
  const FusedArgs& args = tile.args;
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  sum = tile.sharing.add_up_row(kOfY, h, sum);
  if (target == EGG_NO_TARGET || target / kUnit % 4 != tile.quarter()) return;
  if (target / kBlock % kGroups != tile.sharing.first()) return;
  const int raised = __clzll(static_cast<int64_t>(sum));
  tile.losses[8 * h] +=
      egg_loss_q16(sum << raised, most, logit(), args.loss_unit, args.loss_tables->log2_q24) - raised * 65536;
}

// The number of a group's blocks that are whole and to whose logits no table is added. It is even. A short loop makes
// them.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ uint32_t plain_blocks(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                                 const FusedOp& op) {
  if (kMore || op.table_count > 0) return 0;
  return blocks_of_group(tile.args.vocab / kBlock, tile.sharing.first(), kGroups) / 2 * 2;
}

// Calls take(block, sums, side A's draws) for the first `count` of these blocks. Two blocks share a stage of noise.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, class Take>
__device__ __forceinline__ void each_plain_block(FusedTile<kBlocks, kGroups, kMore, kRows>& tile,
                                                 const Fragment<kBlocks>& y, uint32_t count, Take&& take) {
  uint32_t b = tile.sharing.first();
#pragma unroll 1
  for (uint32_t i = 0; i < count; i += 2) {
    uint4 draws[2];
#pragma unroll
    for (uint32_t j = 0; j < 2; ++j) {
      int32_t sums[32];
      tile.await_weights();
      const uint32_t free = tile.multiply(y, sums);
      if (j == 0) tile.take_noise(draws[0], draws[1]);
      wait_products<0>();
      take_sums(sums);
      tile.leave_weights(free);
      take(b, sums, draws[j]);
      b += kGroups;
    }
  }
}

// The logits take the places of x and the scratch value, or of keys and values.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_head(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                         uint32_t step) {
  const Sharing<kGroups>& sharing = tile.sharing;
  const uint32_t plain = plain_blocks(tile, op);
  int32_t largest[2] = {0, 0};  // raised
  {
    const Rescale& head = op.linears[0];
    Fragment<kBlocks> y;
    int32_t q[2];
    tile.norm(y, head.of_q, q);
    sharing.meet();                                // the logits' places are those of y
    if constexpr (has_tokens(kRows)) tile.meet();  // or those of keys and values
    const HeadRows<kBlocks, kGroups, kMore, kRows> tables(tile, op, step);
    tile.make_later_q(y, head.of_q, q, kOfFirst);
    uint32_t most[2] = {0, 0};  // in two halves
    each_plain_block(tile, y, plain, [&](uint32_t b, const int32_t(&sums)[32], const uint4& draws) {
      uint4 units[2];
      each_perturbed(sums, draws, head, q, tile.rounding, 0, [&](int h, int k, uint32_t low, uint32_t high) {
        const uint32_t l = clipped(low);
        const uint32_t u = clipped(high);
        word_at(units[h], k) = lower_bytes(l, u);
        most[h] = __vimax3_s16x2(most[h], l, u);
      });
      tile.logit_unit(b, 0) = units[0];
      tile.logit_unit(b, 1) = units[1];
    });
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) largest[h] = static_cast<int32_t>(max(most[h] & 0xffff, most[h] >> 16));
    each_logits(tile, op, y, q, tables, plain,
                [&](uint32_t b, const uint4(&units)[2], const uint32_t(&most_of_block)[2]) {
                  tile.logit_unit(b, 0) = units[0];
                  tile.logit_unit(b, 1) = units[1];
                  note_largest(tile, b, units, most_of_block, largest);
                });
  }
  sharing.find_largest(kOfOutputs, largest);
#pragma unroll 1
  for (uint32_t h = 0; h < 2; ++h) {
    const uint32_t target = tile.target(h, step);
    const int32_t most = h == 0 ? largest[0] : largest[1];
    unsigned long long sum = 0;
    uint32_t b = sharing.first();
#pragma unroll 2
    for (; b < kGroups * plain; b += kGroups) sum += sum_exponentials(tile, tile.logit_unit(b, h), most);
#pragma unroll 1
    for (; b < op.blocks; b += kGroups) sum += sum_exponentials(tile, tile.logit_unit(b, h), b, most);
    add_loss(tile, h, target, sum, most, [&] {
      return int32_t{reinterpret_cast<const uint8_t*>(&tile.logit_unit(target / kBlock, h))[target % kUnit]};
    });
  }
}

// The sum with its guard bits. A shift makes it, because another pipe than that of products does shifts.
__device__ __forceinline__ int32_t shifted(int32_t sum) {
  int32_t x;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(x) : "r"(0), "r"(sum), "n"(EGG_LINEAR_GUARD_BITS));
  return x;
}

// Updates the largest of the thread's perturbed sums of both rows: the linear makes the largest output from the largest
// sum. q must not be scaled. A product of two numbers with two bytes takes plain draws.
__device__ __forceinline__ void note_largest(const int32_t (&sums)[32], const uint4& a, const int32_t (&q)[2],
                                             int32_t (&largest)[2]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const auto four = static_cast<int32_t>(word_of(a, k));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int32_t first = q[h] & 0xffff;
      const int32_t second = q[h] << 16;
      const auto sum = [&](int e) {
        const int32_t x = sums[8 * k + 4 * (e / 2) + 2 * h + e % 2];
        return e % 2 == 0 ? x * (1 << EGG_LINEAR_GUARD_BITS) : shifted(x);
      };
      largest[h] = __vimax3_s32(largest[h], __dp2a_lo(first, four, sum(0)), __dp2a_lo(second, four, sum(1)));
      largest[h] = __vimax3_s32(largest[h], __dp2a_hi(first, four, sum(2)), __dp2a_hi(second, four, sum(3)));
    }
  }
}

// run_head if the chip has no room for the logits: makes them once to find the largest, and again for the sum.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_wide_head(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                              uint32_t step) {
  const FusedArgs& args = tile.args;
  const Rescale& head = op.linears[0];
  Fragment<kBlocks> y;
  int32_t q[2] = {0, 0};  // q of several ranks is kept elsewhere
  tile.norm(y, head.of_q, q);
  const HeadRows<kBlocks, kGroups, kMore, kRows> tables(tile, op, step);
  tile.make_later_q(y, head.of_q, q, kOfFirst);
  const bool gives_any = args.logits != nullptr && (has_tokens(kRows) || step + 1 == args.tokens);
  const uint32_t plain = gives_any ? 0 : plain_blocks(tile, op);
  const int32_t scale = 31 - __clz(head.of_q);  // of_q: a power of two
  const int32_t plain_q[2] = {q[0] >> scale, q[1] >> scale};
  int32_t largest[2] = {-kMostScaled >> scale, -kMostScaled >> scale};  // sums; then outputs, raised
  each_plain_block(tile, y, plain, [&](uint32_t, const int32_t(&sums)[32], const uint4& draws) {
    note_largest(sums, draws, plain_q, largest);
  });
#pragma unroll
  for (int32_t& most : largest) most = min(max(most * head.of_q + tile.rounding, 0) >> 16, 254);
  each_logits(tile, op, y, q, tables, plain, [&](uint32_t b, const uint4(&units)[2], const uint32_t(&most)[2]) {
    note_largest(tile, b, units, most, largest);
  });
  tile.take_noise_again();
  tile.sharing.find_largest(kOfOutputs, largest);
  const uint32_t targets[2] = {tile.target(0, step), tile.target(1, step)};
  const bool gives[2] = {gives_any && tile.gives_logits(0, step), gives_any && tile.gives_logits(1, step)};
  unsigned long long sums_of[2] = {0, 0};
  uint32_t logits[2] = {0, 0};  // of the targets, raised
  const auto note_target = [&](uint32_t h, uint32_t b, const uint4& unit) {
    if (targets[h] / kUnit != b * (kBlock / kUnit) + tile.quarter()) return;
    logits[h] = word_of(unit, static_cast<int>(targets[h] % kUnit / 4)) >> (8 * (targets[h] % 4)) & 0xff;
  };
  each_plain_block(tile, y, plain, [&](uint32_t b, const int32_t(&sums)[32], const uint4& draws) {
    uint4 units[2];
    each_perturbed(sums, draws, head, q, tile.rounding, 0, [&](int h, int k, uint32_t low, uint32_t high) {
      word_at(units[h], k) = lower_bytes(clipped(low), clipped(high));
    });
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      sums_of[h] += sum_exponentials(tile, units[h], largest[h]);
      note_target(h, b, units[h]);
    }
  });
  each_logits(tile, op, y, q, tables, plain, [&](uint32_t b, const uint4(&units)[2], const uint32_t(&)[2]) {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      sums_of[h] += sum_exponentials(tile, units[h], b, largest[h]);
      note_target(h, b, units[h]);
      if (gives[h]) write_logits(tile, h, b, units[h]);
    }
  });
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    add_loss(tile, h, targets[h], sums_of[h], largest[h], [&] { return static_cast<int32_t>(logits[h]); });
  }
}

}  // namespace eggroll::cuda

#endif
