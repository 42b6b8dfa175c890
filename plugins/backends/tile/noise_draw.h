// Draws noise (noise.h) in registers: each lane has its own pair's key, or each half of the lanes has one pair's key.
#ifndef EGGROLL_TILE_NOISE_DRAW_H
#define EGGROLL_TILE_NOISE_DRAW_H

#include <algorithm>

#include "eggroll/noise_source.h"
#include "simd.h"

namespace eggroll::tile {

// Looks up the distribution's values for bytes of a hash.
template <class S>
class DrawnValues {
 public:
  using V8 = typename S::V8;
  using U8 = typename S::U8;
  using Table = typename S::Table128;

  explicit EGG_INLINE DrawnValues(const NoiseTable& values)
      : low_(reinterpret_cast<const uint8_t*>(values.data())),
        high_(reinterpret_cast<const uint8_t*>(values.data() + 128)) {}

  EGG_INLINE V8 of(typename S::U32 hashes) const {
    const V8 bytes = (V8)hashes;
    if constexpr (S::kBytePlanes) return bytes < 0 ? (V8)high_.at((U8)bytes) : (V8)low_.at((U8)bytes);
    // The table is odd about its middle: the distance from the middle gives the magnitude, the upper bit the sign.
    const V8 negative = bytes > -1;
    const V8 magnitude = (V8)high_.at((U8)((bytes ^ negative) & 0x7f));
    return (magnitude ^ negative) - negative;
  }

 private:
  Table low_;
  Table high_;
};

// Keys that are taken lane by lane.
template <class S>
struct StoredKeys {
  template <class Keys>
  explicit StoredKeys(const Keys& keys) {
    S::store(low, keys.low);
    S::store(high, keys.high);
  }
  uint32_t low[S::kLanes];
  uint32_t high[S::kLanes];
};

// It never changes, so threads may share it.
template <class S>
class NoiseDraw {
 public:
  using V8 = typename S::V8;
  using V32 = typename S::V32;
  using U32 = typename S::U32;
  using U64 = typename S::U64;

  // The keys of kLanes draws.
  struct Keys {
    U32 low;
    U32 high;
  };

  // The part of the keys of kLanes pairs that is the same for all sides and ranks of one tensor: first for the even
  // lanes, then for the odd lanes.
  struct PairKeys {
    U64 even;
    U64 odd;
  };

  // Throws as NoiseSource does.
  explicit NoiseDraw(const egg_noise& noise)
      : noise_(noise), values_(noise_table(noise.distribution)), source_(noise), table_(source_.table().data()) {}

  NoiseDraw(const NoiseDraw&) = delete;  // table_ points into source_
  NoiseDraw& operator=(const NoiseDraw&) = delete;

  // The part that all keys of a step share.
  uint64_t step_key(uint64_t step) const { return egg_absorb(egg_absorb(0, noise_.seed), step); }

  static PairKeys pair_keys(uint64_t step_key, U32 pairs, uint32_t tensor) {
    const U64 key = U64{} + step_key;
    const U64 even = ((U64)pairs << 32) | tensor;
    const U64 odd = ((U64)pairs & ~static_cast<uint64_t>(UINT32_MAX)) | tensor;
    return {egg_absorb_words(key, even), egg_absorb_words(key, odd)};
  }
  static PairKeys pair_keys(uint64_t step_key, uint32_t first_pair, uint32_t tensor) {
    uint32_t lanes[S::kLanes];
    for (uint32_t i = 0; i < S::kLanes; ++i) lanes[i] = i;
    return pair_keys(step_key, S::template load<U32>(lanes) + first_pair, tensor);
  }

  static Keys keys(const PairKeys& pairs, uint32_t side, uint32_t rank) {
    const U64 part = U64{} + ((static_cast<uint64_t>(side) << 32) | rank);
    const U64 even = egg_absorb_words(pairs.even, part);
    const U64 odd = egg_absorb_words(pairs.odd, part);
    return {(U32)((even & UINT32_MAX) | (odd << 32)), (U32)((even >> 32) | (odd & ~static_cast<uint64_t>(UINT32_MAX)))};
  }

  // Keys with which the first half of the lanes draws for pair i of x, the other half for pair j of y.
  static EGG_INLINE Keys two_pairs(const StoredKeys<S>& x, size_t i, const StoredKeys<S>& y, size_t j) {
    return {S::halves(x.low[i], y.low[j]), S::halves(x.high[i], y.high[j])};
  }

  // Makes one side's values. It copies what a hash needs to registers, so create it before a loop.
  class Side {
   public:
    EGG_INLINE Side(const NoiseDraw& noise, uint32_t side)
        : noise_(noise), side_(side), by_table_(noise.noise_.source == EGG_NOISE_TABLE), values_(noise.values_) {
      constexpr uint32_t kFactors[] = EGG_HASH_FACTORS;
      unrolled<3>([&](auto i) EGG_INLINE_LAMBDA { factors_[i] = S::kept(kFactors[i]); });
    }

    // Values 4 * word to 4 * word + 3 of every lane.
    EGG_INLINE V8 four(const Keys& keys, U32 words) const {
      if (by_table_) return noise_.gather(keys, words, side_);
      return values_.of(egg_noise_hash_by(words, keys.low, keys.high, factors_[0], factors_[1], factors_[2]));
    }

    // One value for each lane, each at that lane's own index.
    EGG_INLINE V32 one(const Keys& keys, U32 indices) const {
      return (V32)((U32)four(keys, indices >> 2) << (24 - 8 * (indices & 3))) >> 24;
    }

    // Takes keys from two_pairs. Returns values of both pairs alternately, at the 2 * kLanes indices that begin at
    // `piece` * 2 * kLanes.
    EGG_INLINE V8 two(const Keys& keys, size_t piece) const {
      uint32_t lanes[S::kLanes];
      for (uint32_t i = 0; i < S::kLanes; ++i) lanes[i] = i % (S::kLanes / 2);
      return S::zip_halves(four(keys, S::template load<U32>(lanes) + static_cast<uint32_t>(piece * (S::kLanes / 2))));
    }

    // Writes values 0 to count - 1 of kLanes pairs, four indices per register; register i goes to out + i * stride. The
    // rest of the last register is 0, and so are the bits that `real` has not. Then xors each byte with `flip`.
    void fill(const Keys& keys, uint32_t count, U32 real, int8_t flip, int8_t* out, size_t stride) const {
      const V8 flips = S::all8(flip);
      uint32_t w = 0;
      for (; w < count / 4; ++w) {
        S::store(out + w * stride * S::kBytes, (V8)((U32)four(keys, S::all32u(w)) & real) ^ flips);
      }
      if (count % 4 == 0) return;
      const U32 last = (U32)four(keys, S::all32u(w)) & real & (UINT32_MAX >> (32 - 8 * (count & 3)));
      S::store(out + w * stride * S::kBytes, (V8)last ^ flips);
    }

   private:
    const NoiseDraw& noise_;
    uint32_t side_;
    bool by_table_;
    U32 factors_[3];
    DrawnValues<S> values_;
  };

 private:
  V8 gather(const Keys& keys, U32 words, uint32_t side) const {
    int8_t bytes[S::kBytes];
    for (size_t i = 0; i < S::kLanes; ++i) {
      // Four neighbours never wrap: offsets and sizes are multiples of four.
      const uint32_t from = egg_noise_table_index(keys.low[i], side, 4 * words[i], noise_.table_log2);
      std::copy_n(table_ + from, 4, bytes + 4 * i);
    }
    return S::template load<V8>(bytes);
  }

  egg_noise noise_;
  NoiseTable values_;
  NoiseSource source_;
  const int8_t* table_;
};

}  // namespace eggroll::tile

#endif
