// The rows of tables that tokens read by the hash of the last ones (egg_index).
#ifndef EGGROLL_DATA_ROWS_H
#define EGGROLL_DATA_ROWS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "eggroll/noise.h"
#include "eggroll/plugin.h"

namespace eggroll {

// Writes one row for each index. back(j): the token j places before this one; available: how many tokens may be read,
// this one included, at least 1. What came before a separator is forgotten, the separator is not.
//
// The hash takes tokens from the newest to the oldest: h = absorb(h, token) from 0, and the row is h modulo the rows.
template <class Back>
void put_rows(std::span<const egg_index> indices, uint64_t available, std::optional<uint32_t> separator,
              const Back& back, uint32_t* rows) {
  int32_t longest = 0;
  for (const egg_index& index : indices) longest = std::max(longest, index.tokens);
  std::array<uint32_t, EGG_INDEX_TOKENS_MAX + 1> hashes;  // of the last 1, 2, ... tokens
  int32_t known = 0;
  uint64_t hash = 0;
  while (known < longest && static_cast<uint64_t>(known) < available) {
    const uint32_t token = back(static_cast<uint32_t>(known));
    hash = egg_absorb(hash, token);
    hashes[static_cast<size_t>(++known)] = static_cast<uint32_t>(hash);
    if (token == separator) break;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto [tokens, count] = indices[i];
    rows[i] = tokens <= known ? hashes[static_cast<size_t>(tokens)] & static_cast<uint32_t>(count - 1) : EGG_NO_ROW;
  }
}

}  // namespace eggroll

#endif
