// loss: finds every lane's largest logit and its sum of powers, then calls eggroll/arithmetic.h.
#ifndef EGGROLL_TILE_LOSS_H
#define EGGROLL_TILE_LOSS_H

#include "tile.h"

namespace eggroll::tile {

template <class S>
struct Loss {
  using V8 = typename S::V8;
  using U8 = typename S::U8;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kLanes = S::kLanes;
  static constexpr size_t kQuadBytes = Tile<S>::kQuadBytes;

  static void run(Tile<S>& tile, const egg_op& op) {
    const int8_t* logits = tile.at[static_cast<size_t>(op.in[0])];
    const auto vocab = static_cast<uint32_t>(tile.model.plan.program->vocab);
    for (size_t m = 0; m < kRegs; ++m) {
      const uint32_t* targets = tile.now->targets.data() + m * kLanes;
      bool scored = false;
      for (size_t l = 0; l < kLanes; ++l) scored |= targets[l] != EGG_NO_TARGET;
      if (!scored) continue;
      const int8_t* mine = logits + m * S::kBytes;
      int32_t largest[kLanes];
      const V8 tops = largest_logits(mine, vocab, largest);
      uint64_t sums[kLanes] = {};
      if constexpr (S::kBytePlanes) {
        sum_planes(tile, mine, vocab, tops, sums);
      } else {
        sum_entries(tile, mine, vocab, largest, sums);
      }
      for (size_t l = 0; l < kLanes; ++l) {
        if (targets[l] == EGG_NO_TARGET) continue;
        const int8_t target = mine[targets[l] / 4 * kQuadBytes + 4 * l + targets[l] % 4];
        tile.losses[m * kLanes + l] +=
            egg_loss_q16(sums[l], largest[l], target, op.attr, tile.model.loss_tables.tables.log2_q24);
      }
    }
  }

 private:
  // For a last quad that is not full: a mask of the bytes of each lane that are logits.
  static U32 last(uint32_t vocab) { return S::all32u(UINT32_MAX >> (32 - 8 * (vocab % 4))); }

  // The largest logit of each lane: as int32 in `largest`, and returned in all four bytes of the lane.
  static V8 largest_logits(const int8_t* logits, uint32_t vocab, int32_t* largest) {
    V8 top = S::all8(-127);
    for (uint32_t quad = 0; quad < vocab / 4; ++quad)
      top = S::max8(top, S::template load<V8>(logits + quad * kQuadBytes));
    if (vocab % 4 != 0) {
      const U32 keep = last(vocab);
      const U32 values = S::template load<U32>(logits + vocab / 4 * kQuadBytes);
      top = S::max8(top, (V8)((values & keep) | ((U32)S::all8(-127) & ~keep)));
    }
    top = S::max8(top, (V8)(((U32)top >> 16) | ((U32)top << 16)));
    top = S::max8(top, (V8)(((U32)top >> 8) | ((U32)top << 24)));
    S::store(largest, S::byte32(top, 0));
    return top;
  }

  static void sum_entries(const Tile<S>& tile, const int8_t* logits, uint32_t vocab, const int32_t* largest,
                          uint64_t* sums) {
    const uint32_t* powers = tile.model.loss_tables.tables.exp2_q30;
    for (uint32_t v = 0; v < vocab; v += 4) {
      const uint32_t count = vocab - v < 4 ? vocab - v : 4;
      const int8_t* quad = logits + v / 4 * kQuadBytes;
      for (size_t l = 0; l < kLanes; ++l) {
        for (uint32_t i = 0; i < count; ++i) sums[l] += powers[largest[l] - quad[4 * l + i]];
      }
    }
  }

  // Makes the same sums, but looks up and sums each byte of the powers separately: at most 2^18 bytes, whose sum is
  // below 2^26. Few logits are so far below the largest that they need the upper half of a table.
  static void sum_planes(const Tile<S>& tile, const int8_t* logits, uint32_t vocab, V8 tops, uint64_t* sums) {
    using Table = typename S::Table128;
    const auto& planes = tile.model.loss_tables.planes;
    const Table low[4] = {Table(planes[0].data()), Table(planes[1].data()), Table(planes[2].data()),
                          Table(planes[3].data())};
    V32 sum[4] = {};
    const auto add = [&](uint32_t quad, U32 keep) EGG_INLINE_LAMBDA {
      const U8 below = (U8)((U32)((U8)tops - S::template load<U8>(logits + quad * kQuadBytes)) & keep);
      U8 power[4];
      unrolled<4>([&](auto b) EGG_INLINE_LAMBDA { power[b] = low[b].at(below); });
      if (S::any_upper(below)) {
        unrolled<4>([&](auto b) EGG_INLINE_LAMBDA {
          power[b] = below > 127 ? Table(planes[b].data() + 128).at(below) : power[b];
        });
      }
      unrolled<4>([&](auto b) EGG_INLINE_LAMBDA { sum[b] = S::sum_unsigned(sum[b], (U8)((U32)power[b] & keep)); });
    };
    for (uint32_t quad = 0; quad < vocab / 4; ++quad) add(quad, S::all32u(UINT32_MAX));
    if (vocab % 4 != 0) add(vocab / 4, last(vocab));
    unrolled<4>([&](auto b) EGG_INLINE_LAMBDA {
      uint32_t lanes[kLanes];
      S::store(lanes, sum[b]);
      for (size_t l = 0; l < kLanes; ++l) sums[l] += static_cast<uint64_t>(lanes[l]) << (8 * b);
    });
  }
};

}  // namespace eggroll::tile

#endif
