// The common part of datasets made from the seed. All tokens come from integer arithmetic on the counter noise, so they
// are the same on every machine.
#ifndef EGGROLL_DATA_GENERATED_H
#define EGGROLL_DATA_GENERATED_H

#include <cstdint>
#include <string>
#include <vector>

#include "data/tokens.h"
#include "eggroll/settings.h"

namespace eggroll {

inline constexpr uint32_t kMaxGeneratedTokens = UINT32_C(1) << 30;  // of either part

// The purpose of a draw is the `pair` of its noise key.
enum class DrawPurpose : uint32_t { kTask = 0, kTrain = 1, kValid = 2 };

uint64_t draw_key(uint64_t seed, DrawPurpose purpose);

// Uniform in [0, n) to within 2^-32.
uint32_t draw_below(uint32_t n, uint64_t key, uint32_t index);

// The tokens take the least width that vocab (at most 65536) needs.
Tokens generated_tokens(const std::vector<uint32_t>& values, uint32_t vocab, const std::string& source);

// Reads the key `seed`.
uint64_t read_seed(Settings& settings);

}  // namespace eggroll

#endif
