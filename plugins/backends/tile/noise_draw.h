// noise.h in registers: sixteen (or eight, or four) pairs at once, or one pair and consecutive indices.
#ifndef EGGROLL_TILE_NOISE_DRAW_H
#define EGGROLL_TILE_NOISE_DRAW_H

#include <algorithm>

#include "eggroll/noise_source.h"
#include "simd.h"

namespace eggroll::tile {

// Immutable once made, so threads may share one.
template <class S>
class NoiseDraw {
 public:
  using V8 = typename S::V8;
  using U8 = typename S::U8;
  using U32 = typename S::U32;

  // The keys of kLanes pairs.
  struct Keys {
    U32 low;
    U32 high;
  };

  // Throws as NoiseSource does.
  explicit NoiseDraw(const egg_noise& noise) : noise_(noise), source_(noise), table_(source_.table().data()) {
    const NoiseTable values = noise_table(noise.distribution);
    for (size_t k = 0; k < 128; ++k) magnitudes_[k] = static_cast<uint8_t>(values[128 + k]);
  }

  NoiseDraw(const NoiseDraw&) = delete;  // table_ points into source_
  NoiseDraw& operator=(const NoiseDraw&) = delete;

  Keys keys(uint64_t step, uint32_t first_pair, uint32_t tensor, uint32_t side, uint32_t rank) const {
    uint32_t low[S::kLanes];
    uint32_t high[S::kLanes];
    for (size_t i = 0; i < S::kLanes; ++i) {
      const uint64_t key = egg_noise_key(noise_.seed, step, first_pair + static_cast<uint32_t>(i), tensor, side, rank);
      low[i] = static_cast<uint32_t>(key);
      high[i] = static_cast<uint32_t>(key >> 32);
    }
    return {S::template load<U32>(low), S::template load<U32>(high)};
  }

  // Values 0 to count - 1 of kLanes pairs, four indices a register; out[i] is register i * stride. The rest of the last
  // register is 0.
  void fill_pairs(const Keys& keys, uint32_t side, uint32_t count, int8_t* out, size_t stride) const {
    const uint32_t words = (count + 3) / 4;
    for (uint32_t w = 0; w < words; ++w) {
      V8 values = noise_.source == EGG_NOISE_TABLE ? gather(keys, side, 4 * w) : to_values(hash(keys, S::all32u(w)));
      if (w == count / 4) values = (V8)((U32)values & (UINT32_MAX >> (32 - 8 * (count & 3))));
      S::store(out + w * stride * S::kBytes, values);
    }
  }

  // Values 0 to count - 1 of one pair, and up to kBytes - 1 bytes more that mean nothing.
  void fill_row(uint64_t step, uint32_t pair, uint32_t tensor, uint32_t side, uint32_t rank, int8_t* out,
                uint32_t count) const {
    if (noise_.source == EGG_NOISE_TABLE) {
      source_.fill(step, pair, tensor, side, rank, out, count);
    } else {
      expand(egg_noise_key(noise_.seed, step, pair, tensor, side, rank), out, count);
    }
  }

  // The value at one index for the pair of a lane.
  int8_t value(const Keys& keys, size_t lane, uint32_t side, uint32_t index) const {
    const uint64_t key = (static_cast<uint64_t>(keys.high[lane]) << 32) | keys.low[lane];
    if (noise_.source == EGG_NOISE_TABLE) return table_[egg_noise_table_index(key, side, index, noise_.table_log2)];
    const uint32_t byte = egg_noise_byte(key, index);
    return static_cast<int8_t>(byte >= 128 ? magnitudes_[byte - 128] : -magnitudes_[127 - byte]);
  }

 private:
  // egg_noise_word in every lane.
  static EGG_INLINE U32 hash(const Keys& keys, U32 word) { return egg_noise_hash(word, keys.low, keys.high); }

  // The distribution's table is odd about its middle: magnitude by distance from there, sign by the upper bit.
  EGG_INLINE V8 to_values(U32 bytes) const {
    const typename S::Table128 table(magnitudes_);
    const V8 negative = (V8)bytes >= 0;
    const V8 magnitude = (V8)table.at((U8)(((V8)bytes ^ negative) & 0x7f));
    return (magnitude ^ negative) - negative;
  }

  V8 gather(const Keys& keys, uint32_t side, uint32_t index) const {
    int8_t bytes[S::kBytes];
    for (size_t i = 0; i < S::kLanes; ++i) {
      // Four neighbours never wrap: offsets and sizes are multiples of four.
      const uint32_t from = egg_noise_table_index(keys.low[i], side, index, noise_.table_log2);
      std::copy_n(table_ + from, 4, bytes + 4 * i);
    }
    return S::template load<V8>(bytes);
  }

  void expand(uint64_t key, int8_t* out, uint32_t count) const {
    uint32_t lanes[S::kLanes];
    for (size_t i = 0; i < S::kLanes; ++i) lanes[i] = static_cast<uint32_t>(i);
    U32 word = S::template load<U32>(lanes);
    const Keys keys{S::all32u(static_cast<uint32_t>(key)), S::all32u(static_cast<uint32_t>(key >> 32))};
    for (uint32_t i = 0; i < count; i += S::kBytes) {
      S::store(out + i, to_values(hash(keys, word)));
      word += static_cast<uint32_t>(S::kLanes);
    }
  }

  egg_noise noise_;
  uint8_t magnitudes_[128];
  NoiseSource source_;
  const int8_t* table_;
};

}  // namespace eggroll::tile

#endif
