// The head and the loss as a fused segment.
#ifndef EGGROLL_CUDA_FUSED_HEAD_CUH
#define EGGROLL_CUDA_FUSED_HEAD_CUH

#include "fused_tables.cuh"

namespace eggroll::cuda {

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

// Keeps the thread's 16 raised logits of both rows, in block b, and the largest of those that the vocabulary has.
// most: in two halves, the largest of all 16.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void keep_logits(FusedTile<kBlocks, kGroups>& tile, uint32_t b, const uint4 (&units)[2],
                                            const uint32_t (&most)[2], int32_t (&largest)[2]) {
  const FusedArgs& args = tile.args;
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

// The logits, raised, take the places of x and the scratch value. largest: of each row's.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void make_logits(FusedTile<kBlocks, kGroups>& tile, const FusedSegment& segment,
                                            uint32_t token, int32_t (&largest)[2]) {
  const Rescale& head = segment.linears[0];
  const Sharing<kGroups>& sharing = tile.sharing;
  Fragment<kBlocks> y;
  int32_t q[2];
  tile.norm(y, head.of_q, q);
  sharing.meet();  // the logits' places are those of y
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
      for (uint32_t h = 0; h < 2; ++h) most[h] = most_of(units[h]);
    }
    keep_logits(tile, b, units, most, largest);
  }
}

// The sum of the exponentials of the thread's logits of row h, below the row's largest.
template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ unsigned long long sum_exponentials(FusedTile<kBlocks, kGroups>& tile,
                                                               const FusedSegment& segment, uint32_t h, int32_t most) {
  const FusedArgs& args = tile.args;
  unsigned long long sum = 0;
#pragma unroll 1
  for (uint32_t b = tile.sharing.first(); b < segment.blocks; b += kGroups) {
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
  return sum;
}

template <uint32_t kBlocks, uint32_t kGroups>
__device__ __forceinline__ void run_head(FusedTile<kBlocks, kGroups>& tile, const FusedSegment& segment,
                                         uint32_t token) {
  const FusedArgs& args = tile.args;
  const Sharing<kGroups>& sharing = tile.sharing;
  int32_t largest[2] = {0, 0};  // raised
  make_logits(tile, segment, token, largest);
  sharing.find_largest(kOfOutputs, largest);
#pragma unroll 1
  for (uint32_t h = 0; h < 2; ++h) {
    const uint32_t target = args.targets[tile.entry(h, token)];
    const int32_t most = h == 0 ? largest[0] : largest[1];
    unsigned long long sum = sum_exponentials(tile, segment, h, most);
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
