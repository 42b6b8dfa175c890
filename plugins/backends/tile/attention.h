// attention: keys and values of the call's positions are kept in the tile's cache. Weights lie as prepared weights do,
// values with four positions in a lane, so that both sums are products of bytes.
#ifndef EGGROLL_TILE_ATTENTION_H
#define EGGROLL_TILE_ATTENTION_H

#include "wide.h"

namespace eggroll::tile {

template <class S>
class Attention {
 public:
  using V8 = typename S::V8;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  using F32 = typename S::F32;
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kLanes = S::kLanes;
  static constexpr size_t kQuadBytes = Tile<S>::kQuadBytes;

  static void run(Tile<S>& tile, const egg_op& op) {
    Attention call(tile, op);
    call.keep();
    const size_t head_quads = static_cast<size_t>(op.head) / 4;
    const auto size = static_cast<size_t>(tile.model.plan.program->values[op.out].size);
    for (size_t g = 0; g < size / 4; g += head_quads) {
      for (size_t m = 0; m < kRegs; ++m) call.attend(g, head_quads, m);
    }
    std::memset(call.out_ + size / 4 * kQuadBytes, 0, (call.quads_ - size / 4) * kQuadBytes);
  }

 private:
  using Attended = typename Tile<S>::Attended;

  Attention(Tile<S>& tile, const egg_op& op)
      : tile_(tile),
        op_(op),
        table_(tile.model.plan.program->tables[op.table].entries),
        quads_(tile.model.plan.quads[static_cast<size_t>(op.out)]),
        keys_(tile.cache.data() + tile.model.plan.caches[static_cast<size_t>(op.out)].keys * kQuadBytes),
        values_(tile.cache.data() + tile.model.plan.caches[static_cast<size_t>(op.out)].values * kQuadBytes),
        query_(tile.at[static_cast<size_t>(op.in[0])]),
        out_(tile.at[static_cast<size_t>(op.out)]),
        begin_(tile.now->oldest_visible),
        end_(tile.now->position + 1) {}

  int8_t* key(size_t position) { return keys_ + position * quads_ * kQuadBytes; }
  // The values of four positions for a quad of channels.
  int8_t* four_values(size_t position, size_t g) { return values_ + (position / 4 * quads_ + g) * 4 * kQuadBytes; }
  int8_t* digits(size_t digit, size_t position) {
    const size_t fours = (tile_.model.plan.context + 3) / 4;
    return tile_.attended.digits.data() + (digit * fours + position / 4) * S::kBytes;
  }

  // Keeps this token's key and value.
  void keep() {
    const int8_t* k = tile_.at[static_cast<size_t>(op_.in[1])];
    const int8_t* v = tile_.at[static_cast<size_t>(op_.in[2])];
    const size_t p = tile_.now->position;
    const auto place = static_cast<uint32_t>(8 * (p % 4));
    for (size_t g = 0; g < quads_; ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        const size_t at = (g * kRegs + m) * S::kBytes;
        S::store(key(p) + at, S::template load<V8>(k + at) ^ S::all8(S::kWeightXor));
        const U32 bytes = (U32)(S::template load<V8>(v + at) ^ S::all8(S::kWeightXor));
        for (size_t i = 0; i < 4; ++i) {
          int8_t* to = four_values(p, g) + (i * kRegs + m) * S::kBytes;
          // A draw overwrites the value that its stream, or another draw, has kept here.
          const U32 before = S::template load<U32>(to) & ((1U << place) - 1);
          const U32 byte = (bytes >> static_cast<uint32_t>(8 * i)) & 0xff;
          S::store(to, before | byte << place);
        }
      }
    }
  }

  // Does one head, quads [first, first + count), for one register of members.
  void attend(size_t first, size_t count, size_t m) {
    const V32 oldest = S::template load<V32>(tile_.now->first_visible.data() + m * kLanes);
    const V32 largest = score(first, count, m, oldest);
    const V32 total = weigh(largest, oldest);
    const V32 at_least_one = total > 1 ? total : V32{} + 1;
    const U32 d2 = (U32)at_least_one * 2;
    const V32 half = tile_.model.nearest() != 0 ? at_least_one : V32{};
    const F32 inverse = 0.5F / __builtin_convertvector(at_least_one, F32);
    for (size_t g = first; g < first + count; ++g) {
      V32 y[4];
      for (size_t i = 0; i < 4; ++i) {
        const V32 sum = weighted(g, i, m, total);
        const V32 n2 = (sum < 0 ? -sum : sum) * 2 + half;
        const V32 guess = __builtin_convertvector(__builtin_convertvector(n2, F32) * inverse, V32);
        const V32 quotient = corrected_quotient<S>(guess, (U32)n2, d2);
        y[i] = sum < 0 ? -quotient : quotient;
      }
      S::store(out_ + (g * kRegs + m) * S::kBytes, pack4<S>(y));
    }
  }

  // Makes the scores of all positions, with hidden positions far below the rest; returns the largest score.
  V32 score(size_t first, size_t count, size_t m, V32 oldest) {
    V32 excess = {};
    if constexpr (S::kWeightExcess != 0) {
      for (size_t g = first; g < first + count; ++g) {
        excess = S::sum_signed(excess, S::template load<V8>(query_ + (g * kRegs + m) * S::kBytes));
      }
      excess *= S::kWeightExcess;
    }
    const int32_t round = tile_.model.nearest() != 0 && op_.attr > 0 ? 1 << (op_.attr - 1) : 0;
    V32 largest = V32{} - (1 << 30);
    for (size_t j = begin_; j < end_; ++j) {
      V32 sum = round - excess;
      for (size_t g = first; g < first + count; ++g) {
        const size_t at = (g * kRegs + m) * S::kBytes;
        sum = S::dot(sum, S::template load<V8>(query_ + at), S::template load<V8>(key(j) + at));
      }
      const V32 visible = oldest <= static_cast<int32_t>(j);
      const V32 shown = visible ? sum >> op_.attr : V32{} - (1 << 30);
      largest = shown > largest ? shown : largest;
      S::store(tile_.attended.weights.data() + j * kLanes, shown);
    }
    return largest;
  }

  // Turns scores into weights, in digits of seven bits; returns the sums of weights.
  V32 weigh(V32 largest, V32 oldest) {
    V32 total = {};
    for (size_t j = begin_; j < end_; ++j) {
      int32_t* weights = tile_.attended.weights.data() + j * kLanes;
      int32_t tops[kLanes];
      S::store(tops, largest);
      for (size_t l = 0; l < kLanes; ++l) weights[l] = table_[egg_attention_index(weights[l], tops[l], op_.mode)];
      const V32 visible = oldest <= static_cast<int32_t>(j);
      const V32 weight = S::template load<V32>(weights) & visible;
      total += weight;
      const auto place = static_cast<uint32_t>(8 * (j % 4));
      for (size_t d = 0; d < Attended::kDigits; ++d) {
        int8_t* to = digits(d, j);
        const U32 before = j == begin_ || place == 0 ? U32{} : S::template load<U32>(to);
        S::store(to, before | (((U32)weight >> static_cast<uint32_t>(7 * d)) & 0x7f) << place);
      }
    }
    return total;
  }

  // The sum of weights times values for channel i of quad g. Partial sums may wrap, but the whole sum fits.
  EGG_INLINE V32 weighted(size_t g, size_t i, size_t m, V32 total) {
    U32 sum = (U32)total * static_cast<uint32_t>(-S::kWeightExcess);
    for (size_t d = 0; d < Attended::kDigits; ++d) {
      V32 part = {};
      for (size_t j = begin_ / 4 * 4; j < end_; j += 4) {
        part = S::dot(part, S::template load<V8>(digits(d, j)),
                      S::template load<V8>(four_values(j, g) + (i * kRegs + m) * S::kBytes));
      }
      sum += (U32)part << static_cast<uint32_t>(7 * d);
    }
    return (V32)sum;
  }

  Tile<S>& tile_;
  const egg_op& op_;
  const int32_t* table_;
  size_t quads_;
  int8_t* keys_;
  int8_t* values_;
  const int8_t* query_;
  int8_t* out_;
  size_t begin_;
  size_t end_;
};

}  // namespace eggroll::tile

#endif
