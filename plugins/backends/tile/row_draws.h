// The draws of the voters of a masked table's rows in a step, made once for all rows.
//
// The voters of a row are ranges of pairs (RowVoters::Pairs). A range is cut into draws. A block takes draws and adds
// up their votes; int32 must hold the sums of a block.
#ifndef EGGROLL_TILE_ROW_DRAWS_H
#define EGGROLL_TILE_ROW_DRAWS_H

#include <algorithm>

#include "eggroll/threads.h"
#include "memory.h"
#include "noise_draw.h"
#include "plan.h"

namespace eggroll::tile {

// The pair's fitness if the pair votes on the parameter, else 0.
inline int16_t voting_fitness(const PlanParam& p, const egg_update& u, uint32_t pair) {
  return pair - p.voters.first_pair < p.voters.pairs ? u.fitness[pair] : int16_t{0};
}

// A draw is for pairs 2k and 2k + 1 with one rank: side B of both pairs alternately, the keys of their side A, which is
// hashed for each row, and their fitness.
template <class S>
class RowDraws {
 public:
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  using Draw = NoiseDraw<S>;

  static constexpr size_t kPiece = 2 * S::kLanes;  // columns in a register: one byte for each of two pairs
  static constexpr size_t kBlock = 512;            // draws: 127 * 46 * 46 * 1024 < 2^31

  static uint64_t bytes(const PlanParam& p, uint32_t pairs) { return count(p, pairs) * (sizeof(Two) + row_bytes(p)); }

  size_t draws(const PlanParam& p, const RowVoters::Pairs& pairs) const {
    return ((pairs.end + 1) / 2 - pairs.begin / 2) * p.ranks;
  }

  void draw(const Draw& noise, const PlanParam& p, uint32_t param, const egg_update& u, Threads& threads) {
    const size_t all = count(p, p.voters.pairs);
    const size_t bytes = row_bytes(p);
    if (twos_.size() < all) twos_ = Buffer<Two>(all);
    if (b_.size() < all * bytes) b_ = Buffer<int8_t>(all * bytes);
    const uint64_t step_key = noise.step_key(u.step);
    const uint32_t base = p.voters.first_pair / 2 * 2;
    threads.split(all / p.ranks / (S::kLanes / 2), [&](size_t begin, size_t end) {
      const typename Draw::Side side(noise, EGG_SIDE_B);
      for (size_t i = begin; i < end; ++i) {
        const auto pair = static_cast<uint32_t>(base + i * S::kLanes);
        const typename Draw::PairKeys keys = noise.pair_keys(step_key, pair, param);
        for (uint32_t r = 0; r < p.ranks; ++r) {
          const StoredKeys<S> a(Draw::keys(keys, EGG_SIDE_A, r));
          const StoredKeys<S> b(Draw::keys(keys, EGG_SIDE_B, r));
          for (uint32_t l = 0; l < S::kLanes; l += 2) {
            const size_t at = (i * (S::kLanes / 2) + l / 2) * p.ranks + r;
            twos_[at] = {{a.low[l], a.low[l + 1]},
                         {a.high[l], a.high[l + 1]},
                         {voting_fitness(p, u, pair + l), voting_fitness(p, u, pair + l + 1)}};
            const typename Draw::Keys both = Draw::two_pairs(b, l, b, l + 1);
            for (size_t piece = 0; piece * S::kBytes < bytes; ++piece) {
              S::store(b_.data() + at * bytes + piece * S::kBytes, side.two(both, piece));
            }
          }
        }
      }
    });
  }

  class Block {
   public:
    Block(const RowDraws& draws, const Draw& noise, const PlanParam& p)
        : draws_(draws), p_(p), side_(noise, EGG_SIDE_A), row_bytes_(row_bytes(p)) {}

    size_t size() const { return count_; }
    void clear() { count_ = 0; }

    // Takes draws [first, last) of the pairs, which vote on the row.
    EGG_INLINE void take(const RowVoters::Pairs& pairs, size_t first, size_t last, uint32_t row) {
      const size_t all = draws_.draws(p_, pairs);
      const size_t base = (pairs.begin / 2 - p_.voters.first_pair / 2) * p_.ranks;
      for (size_t i = first; i < last; ++i, ++count_) {
        const Two& two = draws_.twos_[base + i];
        std::memcpy(low_ + 2 * count_, two.low, sizeof(two.low));
        std::memcpy(high_ + 2 * count_, two.high, sizeof(two.high));
        std::memcpy(fitness_ + 2 * count_, two.fitness, sizeof(two.fitness));
        rows_[2 * count_] = row;
        rows_[2 * count_ + 1] = row;
        // The first or the last draw may include one pair that is not in the range.
        if (i < p_.ranks && pairs.begin % 2 != 0) fitness_[2 * count_] = 0;
        if (i + p_.ranks >= all && pairs.end % 2 != 0) fitness_[2 * count_ + 1] = 0;
        b_[count_] = draws_.b_.data() + (base + i) * row_bytes_;
        for (size_t at = 0; at < row_bytes_; at += 64) __builtin_prefetch(b_[count_] + at);
      }
    }

    // Must be called after all draws are taken.
    void prepare() {
      for (size_t i = 0; i < 2 * count_; i += S::kLanes) {
        const typename Draw::Keys keys{S::template load<U32>(low_ + i), S::template load<U32>(high_ + i)};
        const V32 a = side_.one(keys, S::template load<U32>(rows_ + i));
        S::store16(products_ + i, a * S::template load<V32>(fitness_ + i));
      }
    }

    // Writes the votes of draws [begin, end) of the block to `to`, whose columns are rounded up to kPiece.
    void add_up(size_t begin, size_t end, int32_t* to) const {
      const size_t pieces = row_bytes_ / S::kBytes;
      size_t piece = 0;
      for (; piece + 2 <= pieces; piece += 2) add_pieces<2>(begin, end, piece, to);
      if (piece < pieces) add_pieces<1>(begin, end, piece, to);
    }

   private:
    // Products go to two sums alternately, because a sum is ready for its next product only some cycles later.
    template <size_t P>
    EGG_INLINE void add_pieces(size_t begin, size_t end, size_t piece, int32_t* to) const {
      V32 sums[2][2 * P] = {};
      const auto add = [&](V32(&sum)[2 * P], size_t draw) EGG_INLINE_LAMBDA {
        const V16 a = (V16)S::broadcast(products_ + 2 * draw);
        const int8_t* b = b_[draw] + piece * S::kBytes;
        unrolled<2 * P>([&](auto c)
                            EGG_INLINE_LAMBDA { sum[c] = S::madd16(sum[c], a, S::widen16(b + c * (S::kBytes / 2))); });
      };
      size_t draw = begin;
      for (; draw + 2 <= end; draw += 2) {
        add(sums[0], draw);
        add(sums[1], draw + 1);
      }
      if (draw < end) add(sums[0], draw);
      unrolled<2 * P>(
          [&](auto c) EGG_INLINE_LAMBDA { S::store(to + piece * kPiece + c * S::kLanes, sums[0][c] + sums[1][c]); });
    }

    const RowDraws& draws_;
    const PlanParam& p_;
    typename Draw::Side side_;
    size_t row_bytes_;
    size_t count_ = 0;
    uint32_t low_[2 * kBlock + S::kLanes] = {};
    uint32_t high_[2 * kBlock + S::kLanes] = {};
    uint32_t rows_[2 * kBlock + S::kLanes] = {};
    int32_t fitness_[2 * kBlock + S::kLanes] = {};
    int16_t products_[2 * kBlock + S::kLanes] = {};  // f * A
    const int8_t* b_[kBlock] = {};
  };

 private:
  struct Two {
    uint32_t low[2];
    uint32_t high[2];
    int32_t fitness[2];
  };

  static size_t row_bytes(const PlanParam& p) { return (p.cols + kPiece - 1) / kPiece * S::kBytes; }
  // Counts up to kLanes pairs more than are needed, because pairs are drawn in whole registers.
  static size_t count(const PlanParam& p, uint32_t pairs) {
    return (size_t{pairs} + 1 + S::kLanes) / S::kLanes * (S::kLanes / 2) * p.ranks;
  }

  Buffer<Two> twos_;  // draw (pair / 2 - first_pair / 2) * ranks + r
  Buffer<int8_t> b_;  // (draws, row_bytes)
};

}  // namespace eggroll::tile

#endif
