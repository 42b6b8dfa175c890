// The chain from which the dataset markov is drawn.
#ifndef EGGROLL_DATA_DATASETS_MARKOV_H
#define EGGROLL_DATA_DATASETS_MARKOV_H

#include <cstdint>
#include <vector>

namespace eggroll {

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
