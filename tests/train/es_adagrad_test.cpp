// The es_adagrad plugin against Adagrad with error feedback in plain float32, step by step and bit by bit.
#include <gmock/gmock.h>

#include <cmath>

#include "train/rule_session.h"

namespace eggroll::test {
namespace {

enum AdagradSlot : uint32_t { kSquares, kAdagradCarried };

class EsAdagradRule : public RuleSession {
 protected:
  static Learner adagrad(double learning_rate, double initial) {
    return learner_with({"optimizer=es_adagrad", fmt::format("optimizer.learning_rate={}", learning_rate),
                         fmt::format("optimizer.initial={}", initial)});
  }
};

TEST_F(EsAdagradRule, IsAdagradWithErrorFeedbackInFloat32) {
  for (const auto& [learning_rate, initial] : {std::pair(3.0, 3.0), {0.3, 0.0}, {40.0, 0.5}}) {
    const auto rate = static_cast<float>(learning_rate);
    const auto first = static_cast<float>(initial);
    // The first step is empty too, where all squares are 0.
    const Moves moves = follow(
        adagrad(learning_rate, initial), 0, [&](uint64_t) { return std::vector<float>{rate}; },
        [&](auto& slots, size_t i, float z, int, const auto&) {
          slots[kSquares][i] = slots[kSquares][i] + z * z;
          const float all = slots[kSquares][i] + first * first;
          return rate * (all > 0.0F ? z / std::sqrt(all) : 0.0F);
        });
    EXPECT_GT(moves.moved, 0U) << learning_rate;
  }
}

// A steady vote's steps fall as the root of their number.
TEST_F(EsAdagradRule, StepsFallAsVotesAddUp) {
  const Learner learner = adagrad(1.0, 0.0);
  const std::vector<float> vote = votes(4, fitness_);
  BackendSession session = session_of(*learner.rule);
  float sum = 0.0F;
  for (int step = 1; step <= 100; ++step) {
    update(session, 4, fitness_, {1.0F}, std::fabs(vote[0]));
    sum += 1.0F / std::sqrt(static_cast<float>(step));
    ASSERT_NEAR(std::fabs(static_cast<float>(weights(session)[0])) + std::fabs(slot(session, kAdagradCarried)[0]), sum,
                1e-3)
        << step;
  }
}

}  // namespace
}  // namespace eggroll::test
