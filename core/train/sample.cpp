#include "train/sample.h"

#include <algorithm>
#include <cmath>

#include "data/rows.h"
#include "eggroll/error.h"
#include "eggroll/noise.h"

namespace eggroll {
namespace {

// unit: bits of one logit step. Probabilities go as 2^(logit * unit / temperature).
uint32_t draw(const std::vector<int8_t>& logits, double unit, double temperature, double uniform) {
  const auto best = std::max_element(logits.begin(), logits.end());
  if (temperature == 0.0) return static_cast<uint32_t>(best - logits.begin());
  std::vector<double> cumulative;
  double total = 0.0;
  for (const int8_t logit : logits) {
    total += std::exp2((logit - *best) * unit / temperature);
    cumulative.push_back(total);
  }
  const auto it = std::upper_bound(cumulative.begin(), cumulative.end(), uniform * total);
  return static_cast<uint32_t>(std::min<ptrdiff_t>(it - cumulative.begin(), static_cast<ptrdiff_t>(logits.size()) - 1));
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
  const double unit = program.ops().back().attr / 65536.0;
  const uint64_t key = egg_noise_key(options.seed, EGG_STEP_DATA, 0, 0, 0, 0);
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
    const double uniform = egg_noise_word(key, static_cast<uint32_t>(next - prompt.size())) / 4294967296.0;
    text.push_back(draw(logits, unit, options.temperature, uniform));
  }
  return {text.begin() + static_cast<ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace eggroll
