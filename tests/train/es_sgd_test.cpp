// The es_sgd plugin against momentum with error feedback in plain float32, step by step and bit by bit.
#include <gmock/gmock.h>

#include <cmath>

#include "train/rule_session.h"

namespace eggroll::test {
namespace {

enum SgdSlot : uint32_t { kVelocity, kSgdCarried };

class EsSgdRule : public RuleSession {
 protected:
  static Learner sgd(double learning_rate, double momentum) {
    return learner_with({"optimizer=es_sgd", "optimizer.schedule.kind=constant",
                         fmt::format("optimizer.learning_rate={}", learning_rate),
                         fmt::format("optimizer.momentum={}", momentum)});
  }
  static std::vector<int8_t> negated(std::vector<int8_t> fitness) {
    for (int8_t& f : fitness) f = static_cast<int8_t>(-f);
    return fitness;
  }
};

TEST_F(EsSgdRule, IsMomentumWithErrorFeedbackInFloat32) {
  for (const auto& [learning_rate, momentum] : {std::pair(0.3, 0.9), {0.05, 0.0}, {21.7, 0.5}}) {
    const auto rate = static_cast<float>(learning_rate);
    const auto kept = static_cast<float>(momentum);
    const Moves moves = follow(
        sgd(learning_rate, momentum), 9, [&](uint64_t) { return std::vector<float>{rate}; },
        [&](auto& slots, size_t i, float g, int, const auto&) {
          slots[kVelocity][i] = kept * slots[kVelocity][i] + g;
          return rate * slots[kVelocity][i];
        });
    EXPECT_GT(moves.stopped, 0U) << learning_rate;
    EXPECT_GT(learning_rate > 1.0 ? moves.several : moves.stayed, 0U) << learning_rate;
  }
}

// With a deviation of one vote's size that vote counts as 1. A quarter of it moves the weight at every fourth step.
TEST_F(EsSgdRule, NothingOfAVoteIsLost) {
  const Learner learner = sgd(0.25, 0.0);
  const std::vector<float> vote = votes(4, fitness_);
  for (size_t i = 0; i < kCount; ++i) {
    BackendSession session = session_of(*learner.rule);
    for (int step = 1; step <= 40; ++step) {
      update(session, 4, fitness_, {0.25F}, std::fabs(vote[i]));
      ASSERT_EQ(weights(session)[i], static_cast<int>(std::copysign(1.0F, vote[i])) * (step / 4)) << "step " << step;
    }
  }
}

// However long a weight has been pushed against its bound, the first push inwards counts in full.
TEST_F(EsSgdRule, NothingPilesUpAtTheBounds) {
  const Learner learner = sgd(1.0, 0.0);
  const std::vector<float> vote = votes(4, fitness_);
  for (size_t i = 0; i < kCount; ++i) {
    BackendSession session = session_of(*learner.rule);
    const float std = std::fabs(vote[i]);
    const int bound = vote[i] > 0.0F ? 127 : -127;
    const int inwards = vote[i] > 0.0F ? -1 : 1;
    for (int step = 0; step < 50; ++step) update(session, 4, fitness_, {5.75F}, std);
    ASSERT_EQ(weights(session)[i], bound);
    ASSERT_EQ(slot(session, kSgdCarried)[i], 0.0F);
    for (int step = 0; step < 50; ++step) update(session, 4, fitness_, {0.75F}, std);
    ASSERT_EQ(weights(session)[i], bound);
    ASSERT_EQ(slot(session, kSgdCarried)[i], 0.0F);
    update(session, 4, negated(fitness_), {1.0F}, std);
    EXPECT_EQ(weights(session)[i], bound + inwards);
    update(session, 4, negated(fitness_), {100.0F}, std);
    EXPECT_EQ(weights(session)[i], bound + 101 * inwards);
  }
}

}  // namespace
}  // namespace eggroll::test
