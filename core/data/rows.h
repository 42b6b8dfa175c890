// The rows of tables that tokens read by the hash of the last ones (egg_index).
#ifndef EGGROLL_DATA_ROWS_H
#define EGGROLL_DATA_ROWS_H

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
  for (size_t i = 0; i < indices.size(); ++i) {
    rows[i] = EGG_NO_ROW;
    longest = indices[i].tokens > longest ? indices[i].tokens : longest;
  }
  uint64_t hash = 0;
  for (int32_t j = 0; j < longest && static_cast<uint64_t>(j) < available; ++j) {
    const uint32_t token = back(static_cast<uint32_t>(j));
    hash = egg_absorb(hash, token);
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i].tokens == j + 1)
        rows[i] = static_cast<uint32_t>(hash) & static_cast<uint32_t>(indices[i].rows - 1);
    }
    if (token == separator) break;
  }
}

}  // namespace eggroll

#endif
