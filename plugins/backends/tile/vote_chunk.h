// The votes of a chunk of pairs: both sides' draws, and their product.
//
// A block is four pairs whose fitness has one magnitude. A block with one rank is a step of the product: a lane has
// four bytes of a row and four of a column. Side A takes the sign of the fitness and is stored plus 46, because
// products multiply unsigned by signed bytes. The 46 adds the same excess to a column in every row; it is subtracted.
#ifndef EGGROLL_TILE_VOTE_CHUNK_H
#define EGGROLL_TILE_VOTE_CHUNK_H

#include <algorithm>

#include "memory.h"
#include "noise_draw.h"
#include "plan.h"
#include "sorted_pairs.h"

namespace eggroll::tile {

template <class S>
class VoteChunk {
 public:
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  using Draw = NoiseDraw<S>;

  static constexpr size_t kRows = S::kVoteRows;  // rows that a call of `multiply` takes
  static constexpr size_t kDraws = 1024;         // at most in a chunk
  static constexpr size_t kMostDraws = 7936;     // 127 * 46 * 46 * 7936 < 2^31: what a sum holds of any

  // The shape of the votes of a matrix, or of a vector, which has one row.
  struct Shape {
    explicit Shape(const PlanParam& p)
        : rows(p.vector ? 1 : p.rows),
          cols(p.vector ? p.rows : p.cols),
          pieces((cols + S::kLanes - 1) / S::kLanes),
          padded_rows((rows + 3) / 4 * 4),
          sum_cols((pieces + 1) / 2 * 2 * S::kLanes) {}
    size_t rows;
    size_t cols;
    size_t pieces;  // of columns, a register of bytes of a block
    size_t padded_rows;
    size_t sum_cols;  // of a row of sums
  };

  // The number of bundles, each of kLanes places, in a chunk of about this many draws.
  static size_t bundles_of(size_t draws, const PlanParam& p) {
    return std::max(size_t{1}, std::min(draws, kDraws) / (p.ranks * S::kLanes));
  }
  static uint64_t bytes(const PlanParam& p, size_t rows, size_t bundles) {
    return left_bytes(rows) + right_bytes(p, bundles) + Shape(p).sum_cols * sizeof(int32_t);
  }

  // Draws a matrix's next chunk: bundles [first_bundle, last_bundle) of the pairs and rows [first_row, last_row).
  // first_row must be a multiple of 4.
  void draw(const Draw& noise, const PlanParam& p, uint32_t param, uint64_t step_key, const SortedPairs& pairs,
            size_t first_bundle, size_t last_bundle, size_t first_row, size_t last_row) {
    first_bundle_ = first_bundle;
    steps_ = (last_bundle - first_bundle) * kBlocks * p.ranks;
    first_row_ = first_row;
    last_row_ = last_row;
    grow(left_, left_bytes(last_row - first_row));
    grow(right_, right_bytes(p, last_bundle - first_bundle));
    const Shape shape(p);
    if (excess_.size() < shape.sum_cols) excess_ = Buffer<int32_t>(shape.sum_cols);
    runs_.clear();
    const size_t first = first_bundle * kBlocks;
    const size_t last = last_bundle * kBlocks;
    for (const SortedPairs::Run& run : pairs.runs()) {
      if (run.last <= first || run.first >= last) continue;
      runs_.push_back(
          {(std::max(run.first, first) - first) * p.ranks, (std::min(run.last, last) - first) * p.ranks, run.fitness});
    }
    for (size_t bundle = 0; bundle < last_bundle - first_bundle; ++bundle) {
      draw_bundle(noise, p, param, step_key, pairs, bundle);
    }
    find_excess(shape);
  }

  // Adds votes of the rows from `row` on to sums (rows, sum_cols). It does kRows rows, or those up to the next multiple
  // of 4 after the last row. What it adds to rows after the last one has no meaning.
  void multiply(const Shape& shape, size_t row, int32_t* sums) const {
    multiply_rows<kRows>(shape, row, (last_row_ - row + 3) / 4 * 4, sums);
  }

  // Adds a vector's votes of pairs [first, last), which are sums of f * u * v, to `sums`.
  static void add_vector(const Draw& noise, const Shape& shape, uint32_t param, uint64_t step_key,
                         const int8_t* fitness, uint32_t first, uint32_t last, int32_t* sums) {
    const typename Draw::Side side_u(noise, EGG_SIDE_A);
    const typename Draw::Side side_v(noise, EGG_SIDE_B);
    VectorBundle bundles[32];
    size_t count = 0;
    for (uint32_t pair = first; pair < last; pair += static_cast<uint32_t>(S::kLanes)) {
      bundles[count++] = VectorBundle(step_key, param, fitness, pair, last);
      if (count < std::size(bundles) && pair + S::kLanes < last) continue;
      for (uint32_t w = 0; 4 * w < shape.cols; ++w) {
        V32 votes[4] = {};
        for (size_t g = 0; g < count; ++g) {
          const V8 u = side_u.four(bundles[g].u, S::all32u(w));
          const V8 v = side_v.four(bundles[g].v, S::all32u(w));
          const V16 even = S::even16(u) * S::even16(v);
          const V16 odd = S::odd16(u) * S::odd16(v);
          votes[0] = S::madd16(votes[0], even, bundles[g].lower);
          votes[1] = S::madd16(votes[1], odd, bundles[g].lower);
          votes[2] = S::madd16(votes[2], even, bundles[g].upper);
          votes[3] = S::madd16(votes[3], odd, bundles[g].upper);
        }
        for (size_t i = 0; i < 4; ++i) {
          for (size_t l = 0; l < S::kLanes; ++l) sums[4 * w + i] += votes[i][l];
        }
      }
      count = 0;
    }
  }

 private:
  // kLanes pairs of a vector: the keys of both draws, and the fitness in one half of each lane, 0 in the other.
  struct VectorBundle {
    VectorBundle() = default;
    VectorBundle(uint64_t step_key, uint32_t param, const int8_t* fitness, uint32_t pair, uint32_t last) {
      const typename Draw::PairKeys keys = Draw::pair_keys(step_key, pair, param);
      u = Draw::keys(keys, EGG_SIDE_A, 0);
      v = Draw::keys(keys, EGG_SIDE_B, 0);
      int32_t lanes[S::kLanes] = {};
      const size_t count = std::min<size_t>(S::kLanes, last - pair);
      for (size_t l = 0; l < count; ++l) lanes[l] = fitness[pair + l];
      const V32 f = S::template load<V32>(lanes);
      lower = (V16)(f & 0xffff);
      upper = (V16)(f << 16);
    }
    typename Draw::Keys u;
    typename Draw::Keys v;
    V16 lower;
    V16 upper;
  };

  static constexpr size_t kBlocks = S::kLanes / SortedPairs::kBlock;  // of a bundle
  static constexpr size_t kStepBytes = 16;                            // four rows of a block
  // The distance in bytes from four rows of `left` to the next four rows. It is a constant. With it, groups of four
  // rows begin in different sets of the cache.
  static constexpr size_t kStride = kDraws / SortedPairs::kBlock * kStepBytes + 64;

  static size_t left_bytes(size_t rows) { return (rows + 3) / 4 * kStride; }
  static size_t right_bytes(const PlanParam& p, size_t bundles) {
    return Shape(p).pieces * bundles * kBlocks * p.ranks * S::kBytes;
  }
  static void grow(Buffer<int8_t>& buffer, size_t size) {
    if (buffer.size() < size) buffer = Buffer<int8_t>(size);
  }

  // Stores a register: 16 bytes for each of kBlocks steps, which are `ranks` steps apart.
  static EGG_INLINE void store_steps(int8_t* to, V8 v, size_t ranks) {
    if (ranks == 1) {
      S::store(to, v);
      return;
    }
    int8_t bytes[S::kBytes];
    S::store(bytes, v);
    for (size_t b = 0; b < kBlocks; ++b) std::memcpy(to + b * ranks * kStepBytes, bytes + b * kStepBytes, kStepBytes);
  }

  void draw_bundle(const Draw& noise, const PlanParam& p, uint32_t param, uint64_t step_key, const SortedPairs& pairs,
                   size_t bundle) {
    const size_t place = (first_bundle_ + bundle) * S::kLanes;
    const typename Draw::PairKeys keys = noise.pair_keys(step_key, S::template load<U32>(pairs.pairs() + place), param);
    for (uint32_t r = 0; r < p.ranks; ++r) {
      const size_t step = bundle * kBlocks * p.ranks + r;
      draw_left(noise, Draw::keys(keys, EGG_SIDE_A, r), S::template load<V8>(pairs.flips() + place), step, p.ranks);
      draw_right(noise, Draw::keys(keys, EGG_SIDE_B, r), pairs.real() + place, p.cols, step, p.ranks);
    }
  }

  // Finds what the 46 adds to the votes of each column.
  void find_excess(const Shape& shape) {
    for (size_t piece = 0; piece < shape.pieces; ++piece) {
      U32 sum = {};
      for (const SortedPairs::Run& run : runs_) {
        V32 part = {};
        const int8_t* right = right_.data() + piece * steps_ * S::kBytes;
        for (size_t step = run.first; step < run.last; ++step) {
          part = S::dot_positive(part, S::template load<V8>(right + step * S::kBytes), S::all8(1));
        }
        sum += (U32)part * static_cast<uint32_t>(run.fitness * EGG_NOISE_MAX);
      }
      S::store(excess_.data() + piece * S::kLanes, sum);
    }
  }

  void draw_left(const Draw& noise, const typename Draw::Keys& keys, V8 flips, size_t step, size_t ranks) {
    const typename Draw::Side side(noise, EGG_SIDE_A);
    const V8 plus = EGG_NOISE_MAX - flips;  // a negative is its bits' complement plus 1
    int8_t* to = left_.data() + step * kStepBytes;
    U32 word = S::all32u(static_cast<uint32_t>(first_row_ / 4));
    for (size_t left = (last_row_ - first_row_ + 3) / 4; left != 0; --left, to += kStride, word += 1) {
      store_steps(to, S::transpose4((side.four(keys, word) ^ flips) + plus), ranks);
    }
  }

  void draw_right(const Draw& noise, const typename Draw::Keys& all, const uint32_t* real, size_t cols, size_t step,
                  size_t ranks) {
    const typename Draw::Side side(noise, EGG_SIDE_B);
    const StoredKeys<S> stored(all);
    uint32_t lanes[S::kLanes];
    for (uint32_t i = 0; i < S::kLanes; ++i) lanes[i] = i / static_cast<uint32_t>(SortedPairs::kBlock);
    const U32 first_words = S::template load<U32>(lanes);
    const size_t stride = steps_ * S::kBytes;
    for (size_t b = 0; b < kBlocks; ++b) {
      const size_t l = b * SortedPairs::kBlock;
      const typename Draw::Keys keys{(U32)S::broadcast16(stored.low + l), (U32)S::broadcast16(stored.high + l)};
      const V8 there = (V8)S::broadcast16(real + l);
      int8_t* to = right_.data() + (step + b * ranks) * S::kBytes;
      U32 words = first_words;
      for (size_t done = 0; done < cols;
           done += S::kLanes, to += stride, words += static_cast<uint32_t>(S::kLanes / 4)) {
        S::store(to, S::transpose4(side.four(keys, words) & there));
      }
    }
  }

  // Multiplies R rows, or fewer if `rows` is smaller.
  template <size_t R>
  EGG_INLINE void multiply_rows(const Shape& shape, size_t row, size_t rows, int32_t* sums) const {
    if constexpr (R > 4) {
      if (rows < R) {
        multiply_rows<R - 4>(shape, row, rows, sums);
        return;
      }
    }
    const int8_t* left = left_.data() + (row - first_row_) / 4 * kStride;
    size_t piece = 0;
    for (; piece + 2 <= shape.pieces; piece += 2) add_block<R, 2>(left, piece, sums, shape.sum_cols);
    if (piece < shape.pieces) add_block<R, 1>(left, piece, sums, shape.sum_cols);
  }

  // Goes from the largest fitness down. Products add up from run to run. After each run their sum so far, times the
  // step to the next smaller fitness (nearly always 1), is added to sums. Sums may leave int32 on the way, and return.
  template <size_t R, size_t P>
  EGG_INLINE void add_block(const int8_t* left, size_t piece, int32_t* sums, size_t sum_cols) const {
    sums += piece * S::kLanes;
    const int32_t* excess = excess_.data() + piece * S::kLanes;
    const int8_t* right = right_.data() + piece * steps_ * S::kBytes;
    const auto each = [&](const auto& body) EGG_INLINE_LAMBDA {
      unrolled<R>([&](auto i) EGG_INLINE_LAMBDA {
        unrolled<P>([&](auto c) EGG_INLINE_LAMBDA { body(i, c, sums + i * sum_cols + c * S::kLanes); });
      });
    };
    each([&](auto, auto c, int32_t* sum) EGG_INLINE_LAMBDA {
      S::store(sum, S::template load<U32>(sum) - S::template load<U32>(excess + c * S::kLanes));
    });
    V32 acc[R][P] = {};
    for (size_t r = runs_.size(); r-- > 0;) {
      const SortedPairs::Run& run = runs_[r];
      for (size_t step = run.first; step < run.last; ++step) {
        V8 columns[P];
        unrolled<P>([&](auto c) EGG_INLINE_LAMBDA {
          columns[c] = S::template load<V8>(right + (c * steps_ + step) * S::kBytes);
        });
        unrolled<R>([&](auto i) EGG_INLINE_LAMBDA {
          const V8 row = (V8)S::broadcast(left + i / 4 * kStride + step * kStepBytes + i % 4 * 4);
          unrolled<P>([&](auto c) EGG_INLINE_LAMBDA { acc[i][c] = S::dot_positive(acc[i][c], columns[c], row); });
        });
      }
      const auto fall = static_cast<uint32_t>(run.fitness - (r > 0 ? runs_[r - 1].fitness : 0));
      const auto add = [&](auto once) EGG_INLINE_LAMBDA {
        each([&](auto i, auto c, int32_t* sum) EGG_INLINE_LAMBDA {
          S::store(sum, S::template load<U32>(sum) + (once ? (U32)acc[i][c] : (U32)acc[i][c] * fall));
        });
      };
      fall == 1 ? add(std::true_type{}) : add(std::false_type{});
    }
  }

  size_t first_bundle_ = 0;
  size_t steps_ = 0;
  size_t first_row_ = 0;
  size_t last_row_ = 0;
  std::vector<SortedPairs::Run> runs_;  // in steps of the chunk
  Buffer<int8_t> left_;                 // (rows / 4, steps, four rows, four pairs)
  Buffer<int8_t> right_;                // (pieces, steps, kLanes columns, four pairs)
  Buffer<int32_t> excess_;              // what the 46 adds to the votes of a column
};

}  // namespace eggroll::tile

#endif
