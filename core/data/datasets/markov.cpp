// A random Markov chain.
#include "data/datasets/markov.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/datasets.h"
#include "data/generated.h"
#include "eggroll/noise.h"

namespace eggroll {
namespace {

struct MarkovOptions {
  uint32_t vocab = 0;      // 2 to 1024
  uint32_t sharpness = 0;  // 1 to 64: weights go as u^sharpness, u uniform; the larger, the fewer likely successors
  uint32_t tokens = 0;     // 2 to kMaxGeneratedTokens
  uint32_t valid_tokens = 0;
  uint64_t seed = 0;
};

// Inclusive sums along each row: the next token is the first whose sum exceeds a draw in [0, 65536).
std::vector<uint32_t> cumulated(const MarkovChain& chain) {
  std::vector<uint32_t> sums(chain.weights.size());
  for (size_t row = 0; row < sums.size(); row += chain.vocab) {
    const auto first = chain.weights.begin() + static_cast<std::ptrdiff_t>(row);
    std::partial_sum(first, first + chain.vocab, sums.begin() + static_cast<std::ptrdiff_t>(row));
  }
  return sums;
}

std::vector<uint32_t> walk(const std::vector<uint32_t>& sums, uint32_t vocab, uint32_t count, uint64_t key) {
  std::vector<uint32_t> values(count);
  values[0] = draw_below(vocab, key, 0);
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t* row = sums.data() + size_t{values[i - 1]} * vocab;
    values[i] = static_cast<uint32_t>(std::upper_bound(row, row + vocab, egg_noise_word(key, i) >> 16) - row);
  }
  return values;
}

double bits_of(uint32_t weight) { return 16.0 - std::log2(static_cast<double>(weight)); }

double cross_entropy_bits(const MarkovChain& chain, const std::vector<uint32_t>& values) {
  double bits = 0.0;
  for (size_t i = 1; i < values.size(); ++i) {
    bits += bits_of(chain.weights[size_t{values[i - 1]} * chain.vocab + values[i]]);
  }
  return bits / static_cast<double>(values.size() - 1);
}

// By the elimination of Grassmann, Taksar and Heyman (Operations Research 33, 1985): no subtraction, no iteration.
std::vector<double> stationary_distribution(const MarkovChain& chain) {
  const size_t n = chain.vocab;
  std::vector<double> p(chain.weights.begin(), chain.weights.end());
  for (size_t k = n - 1; k > 0; --k) {
    double leaving = 0.0;
    for (size_t j = 0; j < k; ++j) leaving += p[k * n + j];
    for (size_t i = 0; i < k; ++i) {
      p[i * n + k] /= leaving;
      for (size_t j = 0; j < k; ++j) p[i * n + j] += p[i * n + k] * p[k * n + j];
    }
  }
  std::vector<double> share(n, 1.0);
  double total = 1.0;
  for (size_t k = 1; k < n; ++k) {
    share[k] = 0.0;
    for (size_t i = 0; i < k; ++i) share[k] += share[i] * p[i * n + k];
    total += share[k];
  }
  for (double& value : share) value /= total;
  return share;
}

Dataset markov_dataset(const MarkovOptions& options) {
  const MarkovChain chain = random_chain(options.vocab, options.sharpness, options.seed);
  const std::vector<uint32_t> sums = cumulated(chain);
  const std::vector<uint32_t> valid =
      walk(sums, options.vocab, options.valid_tokens, draw_key(options.seed, DrawPurpose::kValid));
  Dataset dataset;
  dataset.unit = "token";
  dataset.vocab_needed = options.vocab;
  dataset.train = generated_tokens(
      walk(sums, options.vocab, options.tokens, draw_key(options.seed, DrawPurpose::kTrain)), options.vocab, "markov");
  dataset.valid = generated_tokens(valid, options.vocab, "markov");
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  dataset.facts["entropy_rate_bits"] = entropy_rate_bits(chain);
  dataset.facts["valid_cross_entropy_bits"] = cross_entropy_bits(chain, valid);
  return dataset;
}

}  // namespace

MarkovChain random_chain(uint32_t vocab, uint32_t sharpness, uint64_t seed) {
  const uint64_t key = draw_key(seed, DrawPurpose::kTask);
  MarkovChain chain{vocab, std::vector<uint32_t>(size_t{vocab} * vocab)};
  std::vector<uint64_t> sums(vocab);
  for (uint32_t row = 0; row < vocab; ++row) {
    uint64_t total = 0;
    for (uint32_t column = 0; column < vocab; ++column) {
      const uint64_t u = egg_noise_word(key, row * vocab + column);
      uint64_t power = u;
      for (uint32_t k = 1; k < sharpness; ++k) power = (power * u) >> 32;
      total += power + 1;
      sums[column] = total;  // at most 2^42
    }
    // One for every successor, so that the chain is irreducible; the rest in proportion, by rounded-down sums.
    uint64_t given = 0;
    for (uint32_t column = 0; column < vocab; ++column) {
      const uint64_t due = sums[column] * (65536 - vocab) / total;
      chain.weights[size_t{row} * vocab + column] = static_cast<uint32_t>(1 + due - given);
      given = due;
    }
  }
  return chain;
}

double entropy_rate_bits(const MarkovChain& chain) {
  const std::vector<double> share = stationary_distribution(chain);
  double bits = 0.0;
  for (size_t i = 0; i < chain.weights.size(); ++i) {
    bits += share[i / chain.vocab] * chain.weights[i] / 65536.0 * bits_of(chain.weights[i]);
  }
  return bits;
}

DatasetOpener datasets::markov(Settings& settings) {
  MarkovOptions options;
  options.vocab = static_cast<uint32_t>(settings.integer("vocab", 2, 1024));
  options.sharpness = static_cast<uint32_t>(settings.integer("sharpness", 1, 64));
  options.tokens = static_cast<uint32_t>(settings.integer("tokens", 2, kMaxGeneratedTokens));
  options.valid_tokens = static_cast<uint32_t>(settings.integer("valid_tokens", 2, kMaxGeneratedTokens));
  options.seed = read_seed(settings);
  return [options] { return markov_dataset(options); };
}

}  // namespace eggroll
