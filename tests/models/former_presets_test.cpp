// Int8NativeFormer's unperturbed forward pass against the oracle: the same weights, the same logits after each token of
// a context.
#include <gtest/gtest.h>

#include "models/former_oracle.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

struct FormerPreset {
  const char* name;
  Peer peer;
  std::vector<std::string> overrides;
  int width;
  int layers;
  int head;
  uint32_t largest_weight;
  uint32_t tokens;  // read in the longest call
  bool sigmoid = false;
};

// Otherwise a test's listed name would hold addresses.
void PrintTo(const FormerPreset& preset, std::ostream* out) { *out << preset.name; }

class Former : public testing::TestWithParam<FormerPreset> {};

TEST_P(Former, GivesTheSameLogits) {
  const FormerPreset& preset = GetParam();
  const Learner learner(repository_config(preset.overrides), built_plugins());
  BackendSession session = learner.open_session();
  FormerOracle oracle(preset.peer, preset.width, preset.layers, preset.head, 256);
  oracle.sigmoid = preset.sigmoid;
  Draws draws(17);
  for (uint32_t i = 0; i < learner.program->params().size(); ++i) {
    std::vector<int8_t> weights(weight_count(learner.program->params()[i]));
    for (int8_t& weight : weights) {
      weight = static_cast<int8_t>(static_cast<int32_t>(draws.below(2 * preset.largest_weight + 1)) -
                                   static_cast<int32_t>(preset.largest_weight));
    }
    session.set_weights(i, weights.data());
    oracle.weights[learner.program->params()[i].name] = Row(weights.begin(), weights.end());
  }
  const TestStream stream(draws, preset.tokens, 256);
  const std::vector<uint32_t> targets(preset.tokens, EGG_NO_TARGET);
  std::vector<int8_t> logits(256);
  size_t saturated = 0;
  for (uint32_t t = 0; t < preset.tokens; ++t) {
    Row expected = oracle.step(static_cast<int>(stream.inputs[t]));
    for (int64_t& logit : expected) {
      saturated += std::abs(logit) > 127 ? size_t{1} : size_t{0};
      logit = std::clamp<int64_t>(logit, -127, 127);  // egg.c does not clip its logits
    }
    int64_t loss = 0;
    session.infer(egg_infer{sizeof(egg_infer), 0,
                            egg_batch{1, t + 1, stream.inputs.data(), targets.data(), stream.resets.data(), nullptr},
                            nullptr, &loss, logits.data()});
    ASSERT_EQ(Row(logits.begin(), logits.end()), expected) << "logits of token " << t;
    EXPECT_EQ(loss, 0);
  }
  EXPECT_LT(saturated, size_t{preset.tokens} * 256 / 2) << "most logits saturate, and show little";
}

INSTANTIATE_TEST_SUITE_P(
    Presets, Former,
    testing::Values(FormerPreset{"egg_c_default", Peer::kEggC, {"model=egg_c_former"}, 256, 4, 64, 15, 8},
                    FormerPreset{"egg_c_large_weights", Peer::kEggC, {"model=egg_c_former"}, 256, 4, 64, 60, 4},
                    FormerPreset{"egg_c_32",
                                 Peer::kEggC,
                                 {"model=egg_c_former", "model.width=32", "model.head_width=16", "model.layers=2"},
                                 32,
                                 2,
                                 16,
                                 40,
                                 32},
                    FormerPreset{"egg_c_small_weights",
                                 Peer::kEggC,
                                 {"model=egg_c_former", "model.width=40", "model.head_width=8", "model.layers=3"},
                                 40,
                                 3,
                                 8,
                                 3,
                                 32},
                    FormerPreset{"project_default", Peer::kProject, {"model=int8nativeformer"}, 64, 1, 32, 60, 32},
                    FormerPreset{"project_48",
                                 Peer::kProject,
                                 {"model=int8nativeformer", "model.width=48", "model.head_width=12", "model.layers=3"},
                                 48,
                                 3,
                                 12,
                                 25,
                                 32},
                    FormerPreset{"project_sigmoid",
                                 Peer::kProject,
                                 {"model=int8nativeformer", "model.attention.kind=sigmoid", "model.layers=2"},
                                 64,
                                 2,
                                 32,
                                 60,
                                 32,
                                 true}),
    [](const auto& preset) { return std::string(preset.param.name); });

}  // namespace
}  // namespace eggroll::test
