// The voting pairs of a parameter, sorted by the magnitude of their fitness. Votes of equal magnitude are added up as
// products of bytes, and the sum is multiplied once. Pairs whose fitness is 0 are left out.
#ifndef EGGROLL_TILE_SORTED_PAIRS_H
#define EGGROLL_TILE_SORTED_PAIRS_H

#include <algorithm>
#include <array>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll::tile {

class SortedPairs {
 public:
  static constexpr size_t kBlock = 4;  // pairs of one magnitude that are multiplied together

  // Blocks [first, last) of one magnitude.
  struct Run {
    size_t first;
    size_t last;
    int32_t fitness;
  };

  // lanes: the number of pairs that are drawn together; the number of places is rounded up to a multiple of it.
  SortedPairs(const egg_voters& voters, const int8_t* fitness, size_t lanes) {
    std::array<size_t, 129> counts{};
    const auto magnitude = [&](uint32_t pair) {
      return static_cast<size_t>(fitness[pair] < 0 ? -fitness[pair] : fitness[pair]);
    };
    const uint32_t end = voters.first_pair + voters.pairs;
    for (uint32_t pair = voters.first_pair; pair < end; ++pair) ++counts[magnitude(pair)];
    std::array<size_t, 129> next{};
    size_t blocks = 0;
    for (size_t f = 1; f < counts.size(); ++f) {
      next[f] = blocks * kBlock;
      if (counts[f] == 0) continue;
      const size_t first = blocks;
      blocks += (counts[f] + kBlock - 1) / kBlock;
      runs_.push_back({first, blocks, static_cast<int32_t>(f)});
    }
    const size_t places = (blocks * kBlock + lanes - 1) / lanes * lanes;
    pairs_.resize(places);
    flips_.resize(places);
    real_.resize(places);
    for (uint32_t pair = voters.first_pair; pair < end; ++pair) {
      const size_t f = magnitude(pair);
      if (f == 0) continue;
      const size_t place = next[f]++;
      pairs_[place] = pair;
      flips_[place] = fitness[pair] < 0 ? UINT32_MAX : 0;
      real_[place] = UINT32_MAX;
    }
  }

  // The most places that a number of pairs uses.
  static size_t most_places(size_t pairs, size_t lanes) { return pairs + 127 * (kBlock - 1) + lanes; }

  size_t size() const { return pairs_.size(); }
  const std::vector<Run>& runs() const { return runs_; }
  // For each place: the pair; all bits set if its fitness is negative; all bits set if the place has a pair.
  const uint32_t* pairs() const { return pairs_.data(); }
  const uint32_t* flips() const { return flips_.data(); }
  const uint32_t* real() const { return real_.data(); }

 private:
  std::vector<Run> runs_;
  std::vector<uint32_t> pairs_;
  std::vector<uint32_t> flips_;
  std::vector<uint32_t> real_;
};

}  // namespace eggroll::tile

#endif
