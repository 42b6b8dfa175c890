// The rows of tables that a token reads by the hash of the last tokens or words (egg_index).
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

// In UTF-8 every letter beyond ASCII is made of bytes above 127.
constexpr bool is_letter(uint32_t byte) { return byte > 127 || (byte | 32U) - 'a' < 26U; }

// The hashes of the last 1, 2, ... words, at [1], [2], ...; words: how many are asked for, at least 1. The last word is
// the letters back from the newest byte, none if that is no letter. A word takes at most 24 letters, and what lies
// between two words at most 8 bytes. back, available and separator: as below.
template <class Back>
std::array<uint32_t, EGG_INDEX_WORDS_MAX + 1> word_hashes(int32_t words, uint64_t available,
                                                          std::optional<uint32_t> separator, const Back& back) {
  constexpr uint64_t kNoByte = 256;  // begins the hash, and ends a word in it
  uint64_t hash = egg_absorb(0, kNoByte);
  uint32_t read = 0;
  const auto take = [&](bool letters, uint32_t most) {
    for (uint32_t i = 0; i < most && read < available; ++i) {
      const uint32_t byte = back(read);
      if (is_letter(byte) != letters) break;
      hash = egg_absorb(hash, byte);
      ++read;
      if (byte == separator) available = read;
    }
  };
  std::array<uint32_t, EGG_INDEX_WORDS_MAX + 1> hashes{};
  for (int32_t word = 1;; ++word) {
    take(true, 24);
    hashes[static_cast<size_t>(word)] = static_cast<uint32_t>(hash);
    if (word == words) return hashes;
    hash = egg_absorb(hash, kNoByte);
    take(false, 8);
  }
}

// Writes one row for each index. back(j): the token j places before this one; available: how many tokens may be read,
// this one included, at least 1. What came before a separator is forgotten, the separator is not.
//
// The hash takes tokens from the newest to the oldest: h = absorb(h, token) from 0, and the row is h modulo the rows.
template <class Back>
void put_rows(std::span<const egg_index> indices, uint64_t available, std::optional<uint32_t> separator,
              const Back& back, uint32_t* rows) {
  int32_t longest = 0;
  int32_t words = 0;
  for (const egg_index& index : indices) {
    longest = std::max(longest, index.tokens);
    words = std::max(words, index.words);
  }
  std::array<uint32_t, EGG_INDEX_TOKENS_MAX + 1> hashes;  // of the last 1, 2, ... tokens
  int32_t known = 0;
  uint64_t hash = 0;
  while (known < longest && static_cast<uint64_t>(known) < available) {
    const uint32_t token = back(static_cast<uint32_t>(known));
    hash = egg_absorb(hash, token);
    hashes[static_cast<size_t>(++known)] = static_cast<uint32_t>(hash);
    if (token == separator) break;
  }
  std::array<uint32_t, EGG_INDEX_WORDS_MAX + 1> of_words{};
  if (words > 0) of_words = word_hashes(words, available, separator, back);
  for (size_t i = 0; i < indices.size(); ++i) {
    const egg_index& index = indices[i];
    const auto mask = static_cast<uint32_t>(index.rows - 1);
    if (index.words > 0) {
      rows[i] = of_words[static_cast<size_t>(index.words)] & mask;
    } else {
      rows[i] = index.tokens <= known ? hashes[static_cast<size_t>(index.tokens)] & mask : EGG_NO_ROW;
    }
  }
}

}  // namespace eggroll

#endif
