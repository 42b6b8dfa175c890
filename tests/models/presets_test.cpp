// The presets' unperturbed forward pass against the oracles: the same weights, the same logits and states, token by
// token.
#include <gtest/gtest.h>

#include <memory>

#include "models/former_oracle.h"
#include "models/gru_oracle.h"
#include "record/scratch.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

struct Preset {
  const char* name;
  std::shared_ptr<Oracle> oracle;
  std::vector<std::string> overrides;
  uint32_t largest_weight = 127;
  uint32_t tokens = 40;
  uint32_t largest_embedding = largest_weight;  // where it is near zero, norms see mean magnitudes below one
};

// Otherwise a test's listed name would hold addresses.
void PrintTo(const Preset& preset, std::ostream* out) { *out << preset.name; }

class ModelPreset : public testing::TestWithParam<Preset> {};

TEST_P(ModelPreset, GivesTheSameLogits) {
  const Preset& preset = GetParam();
  const Learner learner(repository_config(preset.overrides), built_plugins());
  BackendSession session = learner.open_session();
  Oracle& oracle = *preset.oracle;
  oracle.reset();
  Draws draws(17);
  oracle.weights = set_random_weights(session, learner.program->params(), draws, [&](const std::string& name) {
    return name == "embedding" ? preset.largest_embedding : preset.largest_weight;
  });
  const TestStream stream(draws, preset.tokens, 256);
  const std::vector<uint32_t> targets(preset.tokens, EGG_NO_TARGET);
  std::vector<int8_t> states(learner.program->state_bytes());
  std::vector<int8_t> logits(256);
  size_t saturated = 0;
  for (uint32_t t = 0; t < preset.tokens; ++t) {
    Row expected = oracle.step(static_cast<int>(stream.inputs[t]));
    for (int64_t& logit : expected) {
      saturated += std::abs(logit) > 127 ? size_t{1} : size_t{0};
      logit = std::clamp<int64_t>(logit, -127, 127);  // egg.c's transformer does not clip its logits
    }
    // A model with a context reads all of it in a call.
    const uint32_t first = learner.program->view().context > 0 ? 0 : t;
    int64_t loss = 0;
    session.infer(egg_infer{
        sizeof(egg_infer), 0,
        egg_batch{1, t + 1 - first, stream.inputs.data() + first, targets.data(), stream.resets.data(), nullptr},
        states.data(), &loss, logits.data()});
    ASSERT_EQ(Row(logits.begin(), logits.end()), expected) << "logits of token " << t;
    ASSERT_EQ(Row(states.begin(), states.end()), oracle.state()) << "state after token " << t;
    EXPECT_EQ(loss, 0);
  }
  EXPECT_LT(saturated, size_t{preset.tokens} * 256 / 2) << "most logits saturate, and show little";
}

std::shared_ptr<Oracle> gru(Peer peer, int width, int layers) {
  return std::make_shared<GruOracle>(peer, width, layers, 256);
}

std::shared_ptr<Oracle> former(Peer peer, int width, int layers, int head, bool sigmoid = false) {
  const auto oracle = std::make_shared<FormerOracle>(peer, width, layers, head, 256);
  oracle->sigmoid = sigmoid;
  return oracle;
}

const std::vector<Preset> kPresets = {
    {"nano_egg_16", gru(Peer::kNanoEgg, 16, 3), {"model=nano_egg", "model.width=16", "model.layers=3"}},
    {"nano_egg_64", gru(Peer::kNanoEgg, 64, 2), {"model=nano_egg", "model.width=64", "model.layers=2"}},
    {"nano_egg_small", gru(Peer::kNanoEgg, 64, 2), {"model=nano_egg", "model.width=64", "model.layers=2"}, 127, 40, 1},
    {"nano_egg_default", gru(Peer::kNanoEgg, 256, 6), {"model=nano_egg"}},
    {"egg_c_96", gru(Peer::kEggC, 96, 2), {"model=egg_c", "model.width=96", "model.layers=2"}},
    {"egg_c_small", gru(Peer::kEggC, 40, 2), {"model=egg_c", "model.width=40", "model.layers=2"}, 127, 40, 1},
    {"egg_c_default", gru(Peer::kEggC, 512, 4), {"model=egg_c"}},
    {"project_64", gru(Peer::kProject, 64, 1), {"model=gru"}},
    {"project_40", gru(Peer::kProject, 40, 3), {"model=gru", "model.width=40", "model.layers=3"}, 127, 40, 1},
    {"egg_c_former_default", former(Peer::kEggC, 256, 4, 64), {"model=egg_c_former"}, 15, 8},
    {"egg_c_former_large_weights", former(Peer::kEggC, 256, 4, 64), {"model=egg_c_former"}, 60, 4},
    {"egg_c_former_32",
     former(Peer::kEggC, 32, 2, 16),
     {"model=egg_c_former", "model.width=32", "model.head_width=16", "model.layers=2"},
     40,
     32},
    {"egg_c_former_small_weights",
     former(Peer::kEggC, 40, 3, 8),
     {"model=egg_c_former", "model.width=40", "model.head_width=8", "model.layers=3"},
     3,
     32},
    {"former_default", former(Peer::kProject, 64, 1, 32), {"model=int8nativeformer"}, 60, 32},
    {"former_48",
     former(Peer::kProject, 48, 3, 12),
     {"model=int8nativeformer", "model.width=48", "model.head_width=12", "model.layers=3"},
     25,
     32},
    {"former_sigmoid",
     former(Peer::kProject, 64, 2, 32, true),
     {"model=int8nativeformer", "model.attention.kind=sigmoid", "model.layers=2"},
     60,
     32},
};

INSTANTIATE_TEST_SUITE_P(Presets, ModelPreset, testing::ValuesIn(kPresets),
                         [](const auto& preset) { return std::string(preset.param.name); });

TEST(GruPresets, NanoEggRefusesAWidthThatItDividesByNoPowerOfTwo) {
  const std::string refusal = message_of([] {
    Learner(repository_config({"model=nano_egg", "model.width=128"}), built_plugins());
  });
  EXPECT_NE(refusal.find("expected a power of 4"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace eggroll::test
