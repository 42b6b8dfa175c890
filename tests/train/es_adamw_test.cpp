// The es_adamw plugin against Adam in plain float32, step by step and bit by bit: moments, fractions, weights.
#include <gmock/gmock.h>

#include <cmath>

#include "train/rule_session.h"

namespace eggroll::test {
namespace {

using ::testing::Each;

enum Slot : uint32_t { kM, kV, kCarried };

std::vector<std::string> adamw(const std::vector<std::string>& more = {}) {
  return joined({"optimizer=es_adamw", "optimizer.schedule.kind=constant"}, more);
}

class EsAdamWRule : public RuleSession {};

struct Adam {
  const char* name;
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  bool bias_correction;
};

void PrintTo(const Adam& adam, std::ostream* out) { *out << adam.name; }

class EsAdamWSettings : public EsAdamWRule, public testing::WithParamInterface<Adam> {
 protected:
  static std::vector<std::string> overrides(const Adam& adam) {
    return adamw({fmt::format("optimizer.learning_rate={}", adam.learning_rate),
                  fmt::format("optimizer.beta1={}", adam.beta1), fmt::format("optimizer.beta2={}", adam.beta2),
                  fmt::format("optimizer.epsilon={}", adam.epsilon),
                  fmt::format("optimizer.weight_decay={}", adam.weight_decay),
                  fmt::format("optimizer.bias_correction={}", adam.bias_correction)});
  }
};

TEST_P(EsAdamWSettings, IsAdamInFloat32) {
  const Adam& adam = GetParam();
  const auto rate = static_cast<float>(adam.learning_rate);
  const auto beta1 = static_cast<float>(adam.beta1);
  const auto beta2 = static_cast<float>(adam.beta2);
  const auto rest1 = static_cast<float>(1.0 - adam.beta1);
  const auto rest2 = static_cast<float>(1.0 - adam.beta2);
  const auto epsilon = static_cast<float>(adam.epsilon);
  const auto decay = static_cast<float>(adam.weight_decay);
  const auto scalars_of = [&](uint64_t step) {
    const auto correction = [&](double beta) {
      const long double power = std::pow(static_cast<long double>(beta), step + 1.0L);
      return adam.bias_correction ? static_cast<float>(1.0L / (1.0L - power)) : 1.0F;
    };
    return std::vector<float>{rate, correction(adam.beta1), correction(adam.beta2)};
  };
  const Moves moves = follow(learner_with(overrides(adam)), 9, scalars_of,
                             [&](auto& slots, size_t i, float g, int weight, const auto& scalars) {
                               float& m = slots[kM][i];
                               float& v = slots[kV][i];
                               m = beta1 * m + rest1 * g;
                               v = beta2 * v + rest2 * (g * g);
                               float direction = (m * scalars[1]) / (std::sqrt(v * scalars[2]) + epsilon);
                               if (decay > 0.0F) direction = direction - decay * static_cast<float>(weight);
                               return rate * direction;
                             });
  EXPECT_GT(moves.stopped, 0U);
  if (adam.learning_rate > 2.0) {
    EXPECT_GT(moves.several, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, EsAdamWSettings,
                         testing::Values(Adam{"Usual", 0.75, 0.9, 0.999, 1e-8, 0.0, true},
                                         Adam{"NoCorrection", 0.75, 0.9, 0.95, 1e-8, 0.0, false},
                                         Adam{"Decay", 0.6, 0.9, 0.99, 1e-8, 0.004, true},
                                         Adam{"FarSteps", 17.3, 0.8, 0.9, 1e-3, 0.0, true},
                                         Adam{"FarStepsAndDecay", 9.1, 0.5, 0.5, 0.1, 0.002, false},
                                         Adam{"NoMemory", 1.5, 0.0, 0.0, 1e-8, 0.0, true}),
                         [](const testing::TestParamInfo<Adam>& parameter) {
                           return std::string(parameter.param.name);
                         });

// The direction of the first step is the vote's sign, whatever the vote's size; without correction, and with the betas
// of the reference program, it is 0.1 / sqrt(0.05) = 0.447 of that.
TEST_F(EsAdamWRule, TheFirstStepIsTheLearningRate) {
  struct Case {
    std::vector<std::string> overrides;
    int expected;
  };
  for (const Case& c :
       {Case{{"optimizer.learning_rate=5.5"}, 5}, Case{{"optimizer.learning_rate=10.0", "optimizer.beta1=0.9",
                                                        "optimizer.beta2=0.95", "optimizer.bias_correction=false"},
                                                       4}}) {
    const Learner learner = learner_with(adamw(c.overrides));
    BackendSession session = session_of(*learner.rule);
    update(session, 4, fitness_, learner.optimizer->scalars(0, {}), 321.0F);
    std::vector<int8_t> expected;
    for (const float vote : votes(4, fitness_)) expected.push_back(static_cast<int8_t>(c.expected * sign_of(vote)));
    EXPECT_EQ(weights(session), expected);
  }
}

// Moments that vanish make a direction beyond an int32: the weights go to their bounds, and nothing is left over there.
TEST_F(EsAdamWRule, AHugeDirectionSaturates) {
  const Learner learner = learner_with(
      adamw({"optimizer.learning_rate=127", "optimizer.beta1=0.99", "optimizer.beta2=0", "optimizer.epsilon=1.0e-12"}));
  BackendSession session = session_of(*learner.rule);
  const std::vector<float> scalars = learner.optimizer->scalars(1000, {});
  const std::vector<float> vote = votes(4, fitness_);
  update(session, 4, fitness_, scalars, 1000.0F);
  update(session, 4, std::vector<int8_t>(kPairs), scalars, 0.0F);
  std::vector<int8_t> bounds;
  for (const float v : vote) bounds.push_back(static_cast<int8_t>(127 * sign_of(v)));
  EXPECT_EQ(weights(session), bounds);
  EXPECT_THAT(slot(session, kCarried), Each(0.0F));
  EXPECT_THAT(slot(session, kV), Each(0.0F));
}

// Decay draws every weight towards 0 and no further, without any vote.
TEST_F(EsAdamWRule, DecaysWithoutVotes) {
  const Learner learner = learner_with(adamw({"optimizer.learning_rate=2.0", "optimizer.weight_decay=0.01"}));
  BackendSession session = session_of(*learner.rule);
  const std::vector<int8_t> before = {0, 127, -127, 100, -100, 50, -50, 1, -1};
  session.set_weights(kWeight, before.data());
  for (uint64_t step = 0; step < 10; ++step) {
    update(session, step, std::vector<int8_t>(kPairs), learner.optimizer->scalars(step, {}), 0.0F);
  }
  // About 0.98^10 = 0.817 of what they were, in whole units that follow the real number.
  EXPECT_EQ(weights(session), (std::vector<int8_t>{0, 104, -104, 82, -82, 41, -41, 1, -1}));
  EXPECT_THAT(slot(session, kM), Each(0.0F));
}

TEST(EsAdamWScalars, FollowTheSchedule) {
  const Learner learner(
      small_config({"optimizer=es_adamw", "optimizer.learning_rate=0.8", "optimizer.schedule.kind=inverse_time",
                    "optimizer.schedule.inverse_time.anneal=3", "optimizer.schedule.inverse_time.decay=10"}),
      built_plugins());
  EXPECT_EQ(learner.optimizer->scalars(0, {}).at(0), 0.8F);
  EXPECT_EQ(learner.optimizer->scalars(10, {}).at(0), 0.2F);
}

TEST(EsAdamWScalars, RefuseWrongSettings) {
  const auto refusal = [](const std::string& setting) {
    return message_of([&] { Learner(small_config({"optimizer=es_adamw", setting}), built_plugins()); });
  };
  EXPECT_THAT(refusal("optimizer.beta1=1"),
              testing::HasSubstr("optimizer.beta1 is 1, expected a number from 0 to 0.99999"));
  EXPECT_THAT(refusal("optimizer.epsilon=0"),
              testing::HasSubstr("optimizer.epsilon is 0, expected a number from 1e-12 to 1000"));
  EXPECT_THAT(refusal("optimizer.epsilon=1e-13"),
              testing::HasSubstr("optimizer.epsilon is 1e-13, expected a number from 1e-12 to 1000"));
  EXPECT_THAT(refusal("optimizer.learning_rate=128"),
              testing::HasSubstr("optimizer.learning_rate is 128, expected a number from 0 to 127"));
  EXPECT_THAT(refusal("+optimizer.residual=0.5"), testing::HasSubstr("unknown key 'optimizer.residual'"));
}

}  // namespace
}  // namespace eggroll::test
