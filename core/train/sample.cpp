#include "train/sample.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "data/rows.h"
#include "eggroll/arithmetic.h"
#include "eggroll/error.h"
#include "eggroll/noise.h"

namespace eggroll {
namespace {

// Tokens from the likeliest on, of equally likely ones the lower first.
std::vector<uint32_t> by_likelihood(const std::vector<int8_t>& logits) {
  std::vector<uint32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0U);
  std::stable_sort(tokens.begin(), tokens.end(), [&](uint32_t a, uint32_t b) { return logits[a] > logits[b]; });
  return tokens;
}

// unit: 1/65536 bits of one logit step. Probabilities go as 2^(logit * unit / temperature), in Q30 of the likeliest's.
// word: the draw, 32 random bits.
uint32_t draw(const std::vector<int8_t>& logits, int32_t unit, const SampleOptions& options, uint32_t word) {
  if (options.temperature == 0.0) {
    return static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  std::vector<uint32_t> tokens = by_likelihood(logits);
  if (options.top_k > 0 && options.top_k < tokens.size()) tokens.resize(options.top_k);
  const int32_t largest = logits[tokens.front()];
  std::vector<uint64_t> sums;  // of the probabilities so far
  for (const uint32_t token : tokens) {
    const double bits = static_cast<double>((largest - logits[token]) * int64_t{unit}) / options.temperature;
    const uint32_t weight = egg_exp2_neg_q30(static_cast<uint32_t>(std::min(bits, 4294967295.0)));
    sums.push_back((sums.empty() ? 0 : sums.back()) + weight);
  }
  const double least = options.top_p * static_cast<double>(sums.back());
  const auto enough =
      std::find_if(sums.begin(), sums.end(), [&](uint64_t sum) { return static_cast<double>(sum) >= least; });
  sums.erase(std::next(enough), sums.end());
  // The upper half of a product: below the sum of all.
  const uint64_t all = sums.back();
  const uint64_t point = (all >> 32) * word + ((all & 0xffffffffU) * word >> 32);
  return tokens[static_cast<size_t>(std::upper_bound(sums.begin(), sums.end(), point) - sums.begin())];
}

}  // namespace

std::vector<uint32_t> sample(BackendSession& session, const Program& program, const std::vector<uint32_t>& prompt,
                             const SampleOptions& options) {
  const auto vocab = static_cast<uint32_t>(program.view().vocab);
  if (prompt.empty()) throw Error("the prompt is empty, expected at least one token; give a longer prompt");
  for (const uint32_t token : prompt) {
    if (token >= vocab) {
      throw Error("the prompt holds the token " + std::to_string(token) +
                  ", expected a token below the vocabulary's size " + std::to_string(vocab) + "; give another prompt");
    }
  }
  const int32_t unit = program.ops().back().attr;
  const uint64_t key = egg_noise_key(options.seed, EGG_STEP_DATA, options.number, 0, 0, 0);
  std::vector<int8_t> states(program.state_bytes());
  std::vector<int8_t> logits(vocab);
  const auto context = static_cast<size_t>(program.view().context);  // 0: any number of tokens
  std::vector<uint32_t> text = prompt;
  size_t next = 0;  // first token of the text that the next call reads
  while (text.size() < prompt.size() + options.count) {
    if (context > 0) {
      next = text.size() - std::min(text.size(), context);
      std::fill(states.begin(), states.end(), int8_t{0});
    }
    const size_t size = text.size() - next;
    const std::vector<uint32_t> targets(size, EGG_NO_TARGET);
    const std::vector<uint8_t> resets(size);
    int64_t loss = 0;
    std::vector<uint32_t> rows(size * program.indices().size());
    for (size_t i = next; i < text.size(); ++i) {
      put_rows(
          program.indices(), i + 1, std::nullopt, [&](uint32_t j) { return text[i - j]; },
          rows.data() + (i - next) * program.indices().size());
    }
    const egg_batch batch{1,          static_cast<uint32_t>(size), text.data() + next, targets.data(), resets.data(),
                          rows.data()};
    session.infer(egg_infer{sizeof(egg_infer), 0, batch, states.data(), &loss, logits.data()});
    next = text.size();
    text.push_back(draw(logits, unit, options, egg_noise_word(key, static_cast<uint32_t>(next - prompt.size()))));
  }
  return {text.begin() + static_cast<ptrdiff_t>(prompt.size()), text.end()};
}

std::vector<uint32_t> held_out_prompt(const Dataset& dataset) {
  constexpr uint64_t kPromptTokens = 64;
  std::vector<uint32_t> prompt;
  for (uint64_t i = 0; i < std::min<uint64_t>(kPromptTokens, dataset.valid.size()); ++i) {
    prompt.push_back(dataset.valid[i]);
  }
  return prompt;
}

}  // namespace eggroll
