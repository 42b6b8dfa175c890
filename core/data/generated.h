// Datasets made from the seed: count and markov. All tokens come from integer arithmetic on the counter noise, so they
// are the same on every machine.
#ifndef EGGROLL_DATA_GENERATED_H
#define EGGROLL_DATA_GENERATED_H

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace eggroll {

inline constexpr uint32_t kMaxGeneratedTokens = UINT32_C(1) << 30;  // of either part

// Rows of next = (current + 1) mod vocab from a random phase. A quarter of the phases (none where vocab < 4) occurs in
// held-out rows alone, and those have no other; they are twice as long.
struct CountOptions {
  uint32_t vocab = 0;       // 2 to 65536
  uint32_t length = 0;      // tokens read of a training row: rows have length + 1, held-out ones 2 * length + 1
  uint32_t rows = 0;        // at least 1
  uint32_t valid_rows = 0;  // at least 1
  uint64_t seed = 0;
};

// Error: a part would exceed kMaxGeneratedTokens.
Dataset count_dataset(const CountOptions& options);

// A random Markov chain. Facts: entropy_rate_bits, and valid_cross_entropy_bits of the held-out part under the chain.
struct MarkovOptions {
  uint32_t vocab = 0;      // 2 to 1024
  uint32_t sharpness = 0;  // 1 to 64: weights go as u^sharpness, u uniform; the larger, the fewer likely successors
  uint32_t tokens = 0;     // 2 to kMaxGeneratedTokens
  uint32_t valid_tokens = 0;
  uint64_t seed = 0;
};

Dataset markov_dataset(const MarkovOptions& options);

// weights: (vocab, vocab), row current, column next, each at least 1 and below 65536; every row sums to 65536.
struct MarkovChain {
  uint32_t vocab = 0;
  std::vector<uint32_t> weights;
};

MarkovChain random_chain(uint32_t vocab, uint32_t sharpness, uint64_t seed);

// Bits per token of the stationary chain.
double entropy_rate_bits(const MarkovChain& chain);

}  // namespace eggroll

#endif
