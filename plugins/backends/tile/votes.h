// Votes, Z = sum over pairs and ranks of f * A * B', as products of int16 matrices, and the rule applied to each block
// of them while it is in the cache. Sums are exact: int32 within a chunk of draws, wider over chunks where needed.
#ifndef EGGROLL_TILE_VOTES_H
#define EGGROLL_TILE_VOTES_H

#include <atomic>
#include <mutex>
#include <vector>

#include "rule_blocks.h"
#include "tile.h"

namespace eggroll::tile {

// Runs what Threads would share out on the thread that asks.
struct OneThread {
  template <class Body>
  void split(size_t count, const Body& body) {
    if (count != 0) body(size_t{0}, count);
  }
};

template <class S>
class Votes {
 public:
  using V16 = typename S::V16;
  using V32 = typename S::V32;

  struct Slots {
    Buffer<uint32_t> cells;  // (slots, weights)
  };

  Votes(const Plan& plan, const NoiseDraw<S>& noise, const egg_rule& rule, Weights<S>& weights,
        std::vector<Slots>& slots)
      : plan_(plan), noise_(noise), rule_(rule), weights_(weights), slots_(slots) {}

  // Products that a parameter's votes take.
  uint64_t work(uint32_t param, uint32_t pairs) const {
    return weights_.size(param) * uint64_t{pairs} * plan_.params[param].ranks;
  }

  // What the votes of a matrix work in: chunks of pairs; elements of a chunk's two sides, and of the sums carried from
  // one chunk to the next.
  struct Room {
    Room(const PlanParam& p, size_t pairs)
        : pairs_a_chunk(std::max(size_t{S::kLanes}, kChunk / p.ranks / S::kLanes * S::kLanes)),
          chunks((pairs + pairs_a_chunk - 1) / pairs_a_chunk),
          left(padded_rows(p) * draws(p, pairs)),
          right((p.cols + kCols - 1) / kCols * kCols * draws(p, pairs)),
          carried(chunks > 1 ? size_t{p.rows} * p.cols : 0) {}
    uint64_t bytes() const { return (left + right) * sizeof(int16_t) + carried * sizeof(int64_t); }
    size_t pairs_a_chunk;
    size_t chunks;
    size_t left;
    size_t right;
    size_t carried;

   private:
    size_t draws(const PlanParam& p, size_t pairs) const { return std::min(pairs_a_chunk, padded(pairs)) * p.ranks; }
  };

  // Weights of the parameter that changed. threads: what shares the work out (Threads, or OneThread).
  template <class Sharing>
  int64_t update(uint32_t param, const egg_update& u, Sharing& threads) {
    const PlanParam& p = plan_.params[param];
    return p.vector ? update_vector(param, u, threads) : update_matrix(param, u, threads);
  }

 private:
  static constexpr size_t kRows = S::kVoteRows;
  static constexpr size_t kColRegs = S::kVoteCols;
  static constexpr size_t kCols = kColRegs * S::kLanes;  // of a block
  // 127 * 46 * 46 * 1024 < 2^31: draws that an int32 sum holds whatever the fitness and the noise.
  static constexpr size_t kChunk = 1024;

  // One chunk of draws. left: (rows, draws) of f * A; right: (blocks of columns, pairs of draws, kCols, 2) of B.
  struct Chunk {
    Buffer<int16_t> left;
    Buffer<int16_t> right;
    size_t draws;  // a multiple of kLanes; those beyond the last are 0
  };

  template <class Sharing>
  int64_t update_matrix(uint32_t param, const egg_update& u, Sharing& threads) {
    const PlanParam& p = plan_.params[param];
    const Room room(p, u.pairs);
    Chunk chunk{Buffer<int16_t>(room.left), Buffer<int16_t>(room.right), 0};
    Buffer<int64_t> carried(room.carried);
    std::atomic<int64_t> changed = 0;
    for (size_t c = 0; c < room.chunks; ++c) {
      const size_t first = c * room.pairs_a_chunk;
      draw(chunk, param, u, first, std::min(size_t{u.pairs}, first + room.pairs_a_chunk), threads);
      threads.split((p.rows + kRows - 1) / kRows, [&](size_t begin, size_t end) {
        Block block(*this, param, u, chunk, carried);
        int64_t mine = 0;
        for (size_t b = begin; b < end; ++b) mine += block.run(b * kRows, c + 1 == room.chunks);
        changed += mine;
      });
    }
    return changed;
  }

  static size_t padded(size_t pairs) { return (pairs + S::kLanes - 1) / S::kLanes * S::kLanes; }
  static size_t padded_rows(const PlanParam& p) { return (p.rows + kRows - 1) / kRows * kRows + 4; }

  // Fills the chunk from pairs [first, last). Draws of a lane's pairs lie side by side, rank after rank.
  template <class Sharing>
  void draw(Chunk& chunk, uint32_t param, const egg_update& u, size_t first, size_t last, Sharing& threads) {
    const PlanParam& p = plan_.params[param];
    chunk.draws = padded(last - first) * p.ranks;
    threads.split(chunk.draws / p.ranks / S::kLanes, [&](size_t begin, size_t end) {
      Buffer<int8_t> words((p.rows + 3) / 4 * S::kBytes);
      Buffer<int8_t> line((p.cols + kCols) * 2 + 2 * S::kBytes);
      for (size_t i = begin; i < end; ++i) {
        const auto pair = static_cast<uint32_t>(first + i * S::kLanes);
        for (uint32_t r = 0; r < p.ranks; ++r) {
          const size_t draw = (i * p.ranks + r) * S::kLanes;
          draw_left(chunk, param, u, pair, r, draw, words);
          for (uint32_t l = 0; l < S::kLanes; l += 2) draw_right(chunk, param, u, pair + l, r, draw + l, line);
        }
      }
    });
  }

  void draw_left(Chunk& chunk, uint32_t param, const egg_update& u, uint32_t pair, uint32_t r, size_t draw,
                 Buffer<int8_t>& words) {
    const PlanParam& p = plan_.params[param];
    int32_t lanes[S::kLanes] = {};
    for (size_t l = 0; l < S::kLanes && pair + l < u.pairs; ++l) lanes[l] = u.fitness[pair + l];
    const V32 fitness = S::template load<V32>(lanes);
    noise_.fill_pairs(noise_.keys(u.step, pair, param, EGG_SIDE_A, r), EGG_SIDE_A, p.rows, words.data(), 1);
    for (size_t g = 0; g < (p.rows + 3) / 4; ++g) {
      const auto values = S::template load<typename S::V8>(words.data() + g * S::kBytes);
      for (size_t k = 0; k < 4; ++k) {
        S::store16(chunk.left.data() + (4 * g + k) * chunk.draws + draw, S::byte32(values, k) * fitness);
      }
    }
  }

  // Two draws, interleaved. Pairs beyond the last have a fitness of 0: their B may be anything.
  void draw_right(Chunk& chunk, uint32_t param, const egg_update& u, uint32_t pair, uint32_t r, size_t draw,
                  Buffer<int8_t>& line) {
    const PlanParam& p = plan_.params[param];
    int8_t* even = line.data();
    int8_t* odd = even + p.cols + kCols + S::kBytes;
    noise_.fill_row(u.step, pair, param, EGG_SIDE_B, r, even, p.cols);
    noise_.fill_row(u.step, pair + 1, param, EGG_SIDE_B, r, odd, p.cols);
    const size_t block_values = chunk.draws * kCols;
    for (size_t j = 0; j < p.cols; j += S::kLanes) {
      const V32 both = (S::widen8(even + j) & 0xffff) | (S::widen8(odd + j) << 16);
      int16_t* to = chunk.right.data() + j / kCols * block_values + draw * kCols + j % kCols * 2;
      S::store(to, both);
    }
  }

  // The votes of kRows rows, over all columns.
  class Block {
   public:
    Block(const Votes& votes, uint32_t param, const egg_update& u, const Chunk& chunk, Buffer<int64_t>& carried)
        : votes_(votes),
          param_(param),
          p_(votes.plan_.params[param]),
          chunk_(chunk),
          carried_(carried),
          sums_(kRows * padded_cols()),
          rule_(votes.rule_, RuleScalars{u.scalars, u.vote_stds[param]}) {}

    // Adds the chunk's votes; with the last chunk applies the rule. Returns how many weights changed.
    int64_t run(size_t first_row, bool last) {
      multiply(first_row);
      int64_t changed = 0;
      const size_t rows = std::min(kRows, p_.rows - first_row);
      for (size_t i = 0; i < rows; ++i) {
        const size_t row = first_row + i;
        const int32_t* sums = sums_.data() + i * padded_cols();
        if (carried_.size() == 0) {
          changed += apply(row, sums);
          continue;
        }
        int64_t* total = carried_.data() + row * p_.cols;
        for (size_t j = 0; j < p_.cols; ++j) total[j] += sums[j];
        if (last) changed += apply(row, total);
      }
      if (last) votes_.weights_.pack_rows(param_, first_row, first_row + rows);
      return changed;
    }

   private:
    size_t padded_cols() const { return (p_.cols + kCols - 1) / kCols * kCols; }

    void multiply(size_t first_row) {
      for (size_t block = 0; block * kCols < p_.cols; ++block) {
        const int16_t* right = chunk_.right.data() + block * chunk_.draws * kCols;
        const int16_t* left = chunk_.left.data() + first_row * chunk_.draws;
        V32 acc[kRows][kColRegs] = {};
        for (size_t d = 0; d < chunk_.draws; d += 2) {
          V16 columns[kColRegs];
          unrolled<kColRegs>([&](auto c)
                                 EGG_INLINE_LAMBDA { columns[c] = S::template load<V16>(right + c * S::kLanes * 2); });
          right += kCols * 2;
          unrolled<kRows>([&](auto i) EGG_INLINE_LAMBDA {
            const V16 row = (V16)S::broadcast(left + i * chunk_.draws + d);
            unrolled<kColRegs>([&](auto c) EGG_INLINE_LAMBDA { acc[i][c] = S::madd16(acc[i][c], row, columns[c]); });
          });
        }
        int32_t* sums = sums_.data() + block * kCols;
        unrolled<kRows>([&](auto i) EGG_INLINE_LAMBDA {
          unrolled<kColRegs>([&](auto c)
                                 EGG_INLINE_LAMBDA { S::store(sums + i * padded_cols() + c * S::kLanes, acc[i][c]); });
        });
      }
    }

    template <class Vote>
    int64_t apply(size_t row, const Vote* votes) {
      const size_t all = votes_.weights_.size(param_);
      int8_t* weights = votes_.weights_.plain(param_) + row * p_.cols;
      uint32_t* slots = votes_.slots_[param_].cells.data() + row * p_.cols;
      int64_t changed = 0;
      for (size_t j = 0; j < p_.cols; j += kRuleBlock) {
        changed += rule_.run(std::min(kRuleBlock, p_.cols - j), votes + j, weights + j, slots + j, all);
      }
      return changed;
    }

    const Votes& votes_;
    uint32_t param_;
    const PlanParam& p_;
    const Chunk& chunk_;
    Buffer<int64_t>& carried_;
    Buffer<int32_t> sums_;
    RuleBlocks<S> rule_;
  };

  // A vector's votes are sums of f * u * v, one an element.
  template <class Sharing>
  int64_t update_vector(uint32_t param, const egg_update& u, Sharing& threads) {
    const PlanParam& p = plan_.params[param];
    std::vector<int64_t> votes(p.rows);
    std::mutex mutex;
    threads.split(u.pairs, [&](size_t begin, size_t end) {
      std::vector<int64_t> mine(p.rows);
      Buffer<int8_t> line(2 * (p.rows + S::kBytes));
      int8_t* first = line.data();
      int8_t* second = first + p.rows + S::kBytes;
      for (size_t pair = begin; pair < end; ++pair) {
        noise_.fill_row(u.step, static_cast<uint32_t>(pair), param, EGG_SIDE_A, 0, first, p.rows);
        noise_.fill_row(u.step, static_cast<uint32_t>(pair), param, EGG_SIDE_B, 0, second, p.rows);
        const int32_t fitness = u.fitness[pair];
        for (size_t i = 0; i < p.rows; ++i) mine[i] += fitness * first[i] * second[i];
      }
      const std::lock_guard<std::mutex> lock(mutex);
      for (size_t i = 0; i < p.rows; ++i) votes[i] += mine[i];
    });
    RuleBlocks<S> rule(rule_, RuleScalars{u.scalars, u.vote_stds[param]});
    int64_t changed = 0;
    for (size_t i = 0; i < p.rows; i += kRuleBlock) {
      changed += rule.run(std::min(kRuleBlock, p.rows - i), votes.data() + i, weights_.plain(param) + i,
                          slots_[param].cells.data() + i, p.rows);
    }
    weights_.pack_rows(param, 0, p.rows);
    return changed;
  }

  const Plan& plan_;
  const NoiseDraw<S>& noise_;
  const egg_rule& rule_;
  Weights<S>& weights_;
  std::vector<Slots>& slots_;
};

}  // namespace eggroll::tile

#endif
