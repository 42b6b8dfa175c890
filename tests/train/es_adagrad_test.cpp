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
    const Learner learner = adagrad(learning_rate, initial);
    BackendSession session = session_of(*learner.rule);
    const auto rate = static_cast<float>(learning_rate);
    const auto first = static_cast<float>(initial);
    constexpr float kStd = 30000.5F;  // about the size of a vote
    std::vector<float> squares(kCount);
    std::vector<float> carried(kCount);
    std::vector<int8_t> weight = weights_near_bounds();
    session.set_weights(kWeight, weight.data());
    size_t moved = 0;
    for (uint64_t step = 0; step < 60; ++step) {
      const bool is_empty = step % 10 == 0;  // the first too, where all squares are 0
      const std::vector<int8_t> fitness = is_empty ? std::vector<int8_t>(kPairs) : fitness_;
      const float std = is_empty ? 0.0F : kStd;
      const std::vector<float> vote = votes(step / 20, fitness);
      const std::vector<float> scalars = learner.optimizer->scalars(step, {});
      ASSERT_EQ(scalars, std::vector<float>{rate});
      update(session, step / 20, fitness, scalars, std);
      for (size_t i = 0; i < kCount; ++i) {
        const float z = is_empty ? 0.0F : vote[i] / std;
        squares[i] = squares[i] + z * z;
        const float all = squares[i] + first * first;
        const int before = weight[i];
        move_by_hand(weight[i], carried[i], rate * (all > 0.0F ? z / std::sqrt(all) : 0.0F));
        moved += weight[i] != before ? 1U : 0U;
      }
      ASSERT_EQ(slot(session, kSquares), squares) << "step " << step;
      ASSERT_EQ(slot(session, kAdagradCarried), carried) << "step " << step;
      ASSERT_EQ(weights(session), weight) << "step " << step;
    }
    EXPECT_GT(moved, 0U) << learning_rate;
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
