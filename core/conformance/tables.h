// Tables of random constants, for the ops that read one.
#ifndef EGGROLL_CONFORMANCE_TABLES_H
#define EGGROLL_CONFORMANCE_TABLES_H

#include <cstdint>
#include <vector>

#include "conformance/draws.h"
#include "eggroll/arithmetic.h"

namespace eggroll {

inline std::vector<int32_t> random_lut(Draws& draws) {
  std::vector<int32_t> entries(256);
  for (int32_t& entry : entries) entry = draws.value();
  return entries;
}

// Any pairs of constants that the host accepts, whether or not they are rotations.
inline std::vector<int32_t> random_angles(Draws& draws, int32_t context, int32_t head) {
  static constexpr int32_t kOne = 1 << EGG_ROPE_BITS;
  static constexpr int32_t kEdges[] = {kOne, -kOne, 0, 1, -1};
  std::vector<int32_t> entries(static_cast<size_t>(context) * static_cast<size_t>(head));
  for (int32_t& entry : entries) {
    entry = draws.one_in(4) ? draws.pick(kEdges) : static_cast<int32_t>(draws.below(2 * kOne + 1)) - kOne;
  }
  return entries;
}

// Weights that fall from `largest` on, with zeros and jumps.
inline std::vector<int32_t> random_weights(Draws& draws, int32_t largest) {
  std::vector<int32_t> entries(EGG_ATTENTION_TABLE);
  for (int32_t& entry : entries) {
    entry = draws.one_in(8) ? 0 : static_cast<int32_t>(draws.below(static_cast<uint32_t>(largest) + 1));
  }
  entries[0] = largest;
  return entries;
}

}  // namespace eggroll

#endif
