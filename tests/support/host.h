// The parts that tests of whole models need: the built plugins, the repository's configurations, sessions with chosen
// weights.
#ifndef EGGROLL_TESTS_SUPPORT_HOST_H
#define EGGROLL_TESTS_SUPPORT_HOST_H

#include <map>
#include <string>
#include <vector>

#include "config/compose.h"
#include "eggroll/noise.h"
#include "plugin/registry.h"
#include "support/words.h"
#include "train/setup.h"

namespace eggroll::test {

inline const Registry& built_plugins() {
  static const Registry registry({PluginFolder{EGGROLL_BIN_DIR "/plugins", "the test"}});
  return registry;
}

// A model without tables. Unless the overrides say otherwise, all members perturb all parameters.
inline ConfigNode repository_config(const std::vector<std::string>& overrides) {
  return compose(ConfigSearch{{EGGROLL_SOURCE_DIR "/configs"}},
                 joined({"model=gru", "optimizer=sign_es_plain", "train.steps=800", "train.population=1024",
                         "train.members_per_stream=16", "train.tokens=32", "noise.distribution=gaussian"},
                        overrides));
}

// Random numbers that are the same everywhere.
class Draws {
 public:
  explicit Draws(uint64_t seed) : key_(egg_noise_key(seed, EGG_STEP_DATA, 0, 0, 0, 0)) {}
  uint32_t below(uint32_t limit) { return egg_noise_word(key_, count_++) % limit; }
  int8_t weight() { return static_cast<int8_t>(static_cast<int32_t>(below(255)) - 127); }

 private:
  uint64_t key_;
  uint32_t count_ = 0;
};

// Gives every parameter random weights within +-largest(name). Returns them by name, row-major.
template <class Largest>
std::map<std::string, std::vector<int64_t>> set_random_weights(BackendSession& session,
                                                               const std::vector<egg_param>& params, Draws& draws,
                                                               const Largest& largest) {
  std::map<std::string, std::vector<int64_t>> by_name;
  for (uint32_t i = 0; i < params.size(); ++i) {
    const uint32_t most = largest(params[i].name);
    std::vector<int8_t> weights(weight_count(params[i]));
    for (int8_t& w : weights) w = static_cast<int8_t>(static_cast<int32_t>(draws.below(2 * most + 1) - most));
    session.set_weights(i, weights.data());
    by_name[params[i].name].assign(weights.begin(), weights.end());
  }
  return by_name;
}

// The tokens of one stream, with targets and resets.
struct TestStream {
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  std::vector<uint8_t> resets;

  TestStream(Draws& draws, uint32_t tokens, uint32_t vocab) {
    for (uint32_t i = 0; i <= tokens; ++i) {
      const uint32_t token = draws.below(vocab);
      if (i < tokens) inputs.push_back(token);
      if (i > 0) targets.push_back(token);
    }
    resets.assign(tokens, 0);
  }
  egg_batch batch() const {
    return egg_batch{1, static_cast<uint32_t>(inputs.size()), inputs.data(), targets.data(), resets.data(), nullptr};
  }
};

}  // namespace eggroll::test

#endif
