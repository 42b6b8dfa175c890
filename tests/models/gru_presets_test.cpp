// The presets' unperturbed forward pass against the oracle: the same weights, the same logits and states, token by
// token.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "models/gru_oracle.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

struct Preset {
  const char* name;
  Peer peer;
  std::vector<std::string> overrides;
  int width;
  int layers;
  bool small_inputs;  // with weights near zero, so that norms see mean magnitudes below one
};

// Otherwise a test's listed name would hold addresses.
void PrintTo(const Preset& preset, std::ostream* out) { *out << preset.name; }

void expect_same_logits(const Preset& preset) {
  const Learner learner(repository_config(preset.overrides), built_plugins());
  BackendSession session = learner.open_session();
  GruOracle oracle(preset.peer, preset.width, preset.layers, 256);
  Draws draws(17);
  for (uint32_t i = 0; i < learner.program->params().size(); ++i) {
    const egg_param& param = learner.program->params()[i];
    std::vector<int8_t> weights(weight_count(param));
    const bool embedding = std::string(param.name) == "embedding";
    for (int8_t& weight : weights) {
      weight = preset.small_inputs && embedding ? static_cast<int8_t>(static_cast<int32_t>(draws.below(3)) - 1)
                                                : draws.weight();
    }
    session.set_weights(i, weights.data());
    oracle.weights[param.name] = Row(weights.begin(), weights.end());
  }
  std::vector<int8_t> states(learner.program->state_bytes());
  std::vector<int8_t> logits(256);
  for (int t = 0; t < 40; ++t) {
    const uint32_t token = draws.below(256);
    const uint32_t target = EGG_NO_TARGET;
    const uint8_t reset = 0;
    int64_t loss = 0;
    session.infer(egg_infer{sizeof(egg_infer), 0, egg_batch{1, 1, &token, &target, &reset, nullptr}, states.data(),
                            &loss, logits.data()});
    const Row expected = oracle.step(static_cast<int>(token));
    ASSERT_EQ(Row(logits.begin(), logits.end()), expected) << "logits of token " << t;
    ASSERT_EQ(Row(states.begin(), states.end()), oracle.state()) << "state after token " << t;
    EXPECT_EQ(loss, 0);
  }
}

class GruPreset : public testing::TestWithParam<Preset> {};

TEST_P(GruPreset, GivesTheSameLogits) { expect_same_logits(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Presets, GruPreset,
    testing::Values(
        Preset{"nano_egg_16", Peer::kNanoEgg, {"model=nano_egg", "model.width=16", "model.layers=3"}, 16, 3, false},
        Preset{"nano_egg_64", Peer::kNanoEgg, {"model=nano_egg", "model.width=64", "model.layers=2"}, 64, 2, false},
        Preset{"nano_egg_small", Peer::kNanoEgg, {"model=nano_egg", "model.width=64", "model.layers=2"}, 64, 2, true},
        Preset{"nano_egg_default", Peer::kNanoEgg, {"model=nano_egg"}, 256, 6, false},
        Preset{"egg_c_96", Peer::kEggC, {"model=egg_c", "model.width=96", "model.layers=2"}, 96, 2, false},
        Preset{"egg_c_small", Peer::kEggC, {"model=egg_c", "model.width=40", "model.layers=2"}, 40, 2, true},
        Preset{"egg_c_default", Peer::kEggC, {"model=egg_c"}, 512, 4, false},
        Preset{"project_64", Peer::kProject, {"model=gru"}, 64, 1, false},
        Preset{"project_40", Peer::kProject, {"model=gru", "model.width=40", "model.layers=3"}, 40, 3, true}),
    [](const auto& preset) { return std::string(preset.param.name); });

TEST(GruPresets, NanoEggRefusesAWidthThatItDividesByNoPowerOfTwo) {
  try {
    const Learner learner(repository_config({"model=nano_egg", "model.width=128"}), built_plugins());
    FAIL() << "width 128 was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected a power of 4"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace eggroll::test
