// Generation of the count and markov datasets.
#include "data/generated.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eggroll/noise.h"

namespace eggroll {
namespace {

// What a draw is for: the `pair` of its noise key.
enum Purpose : uint32_t { kTask = 0, kTrain = 1, kValid = 2 };

uint64_t key_of(uint64_t seed, Purpose purpose) { return egg_noise_key(seed, EGG_STEP_DATA, purpose, 0, 0, 0); }

// Uniform in [0, n) but for 2^-32.
uint32_t below(uint32_t n, uint64_t key, uint32_t index) {
  return static_cast<uint32_t>((uint64_t{egg_noise_word(key, index)} * n) >> 32);
}

template <class T>
Tokens narrowed(const std::vector<uint32_t>& values, const std::string& source) {
  std::vector<T> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](uint32_t value) { return static_cast<T>(value); });
  return Tokens::own(std::move(narrow), source);
}

// In the least width that vocab (at most 65536) needs.
Tokens tokens_of(const std::vector<uint32_t>& values, uint32_t vocab, const std::string& source) {
  return vocab <= 256 ? narrowed<uint8_t>(values, source) : narrowed<uint16_t>(values, source);
}

void check_size(const char* key, uint64_t rows, uint64_t row) {
  if (rows * row <= kMaxGeneratedTokens) return;
  throw setting_error(key, fmt::format("{} is {} rows of {} tokens, expected at most {} tokens in all; set "
                                       "dataset.{} to {} or less",
                                       key, rows, row, kMaxGeneratedTokens, key, kMaxGeneratedTokens / row));
}

Tokens count_rows(const CountOptions& options, const std::vector<uint32_t>& phases, uint32_t rows, uint32_t row,
                  Purpose purpose) {
  const uint64_t key = key_of(options.seed, purpose);
  std::vector<uint32_t> values;
  values.reserve(size_t{rows} * row);
  for (uint32_t r = 0; r < rows; ++r) {
    uint32_t token = phases[below(static_cast<uint32_t>(phases.size()), key, r)];
    for (uint32_t t = 0; t < row; ++t) {
      values.push_back(token);
      token = token + 1 == options.vocab ? 0 : token + 1;
    }
  }
  return tokens_of(values, options.vocab, "count");
}

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
  values[0] = below(vocab, key, 0);
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

}  // namespace

Dataset count_dataset(const CountOptions& options) {
  Dataset dataset;
  dataset.name = "count";
  dataset.unit = "token";
  dataset.vocab_needed = options.vocab;
  dataset.train_row = uint64_t{options.length} + 1;
  dataset.valid_row = 2 * uint64_t{options.length} + 1;
  check_size("rows", options.rows, dataset.train_row);
  check_size("valid_rows", options.valid_rows, dataset.valid_row);

  const uint64_t key = key_of(options.seed, kTask);
  const uint32_t held_out = options.vocab / 4;
  std::vector<uint32_t> shuffled(options.vocab);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  for (uint32_t i = 0; i < held_out; ++i) std::swap(shuffled[i], shuffled[i + below(options.vocab - i, key, i)]);
  const auto middle = shuffled.begin() + held_out;
  const std::vector<uint32_t> train_phases(middle, shuffled.end());
  const std::vector<uint32_t> valid_phases(shuffled.begin(), held_out > 0 ? middle : shuffled.end());

  dataset.train = count_rows(options, train_phases, options.rows, static_cast<uint32_t>(dataset.train_row), kTrain);
  dataset.valid =
      count_rows(options, valid_phases, options.valid_rows, static_cast<uint32_t>(dataset.valid_row), kValid);
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  dataset.facts["held_out_phases"] = held_out;
  dataset.facts["entropy_rate_bits"] = 0.0;
  return dataset;
}

MarkovChain random_chain(uint32_t vocab, uint32_t sharpness, uint64_t seed) {
  const uint64_t key = key_of(seed, kTask);
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

Dataset markov_dataset(const MarkovOptions& options) {
  const MarkovChain chain = random_chain(options.vocab, options.sharpness, options.seed);
  const std::vector<uint32_t> sums = cumulated(chain);
  const std::vector<uint32_t> valid = walk(sums, options.vocab, options.valid_tokens, key_of(options.seed, kValid));
  Dataset dataset;
  dataset.name = "markov";
  dataset.unit = "token";
  dataset.vocab_needed = options.vocab;
  dataset.train =
      tokens_of(walk(sums, options.vocab, options.tokens, key_of(options.seed, kTrain)), options.vocab, "markov");
  dataset.valid = tokens_of(valid, options.vocab, "markov");
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  dataset.facts["entropy_rate_bits"] = entropy_rate_bits(chain);
  dataset.facts["valid_cross_entropy_bits"] = cross_entropy_bits(chain, valid);
  return dataset;
}

}  // namespace eggroll
