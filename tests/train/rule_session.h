// A session with an optimizer's rule on the tiny program, and a second session whose rule keeps the votes.
#ifndef EGGROLL_TESTS_TRAIN_RULE_SESSION_H
#define EGGROLL_TESTS_TRAIN_RULE_SESSION_H

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "eggroll/rule_builder.h"
#include "program/raw_program.h"
#include "train/small_run.h"

namespace eggroll::test {

inline int8_t sign_of(float x) { return static_cast<int8_t>(x > 0.0F ? 1 : x < 0.0F ? -1 : 0); }

// Moves a weight and the fraction that is carried with it, in plain C++: the integer part moves the weight, the rest
// stays, and both stop at +-127. Returns whether they were stopped.
inline bool move_by_hand(int8_t& weight, float& carried, float update) {
  const float total = carried + update;
  const auto units = static_cast<int32_t>(total);
  const float rest = total - static_cast<float>(units);
  const int32_t target = weight + units;
  weight = static_cast<int8_t>(std::clamp(target, -127, 127));
  const bool is_beyond = (target >= 127 && rest > 0.0F) || (target <= -127 && rest < 0.0F);
  carried = is_beyond ? 0.0F : rest;
  return is_beyond || target != weight;
}

class RuleSession : public testing::Test {
 protected:
  static constexpr uint32_t kPairs = 6;
  static constexpr uint32_t kWeight = 2;  // the parameter that tests read: w, 3 x 3
  static constexpr size_t kCount = 9;

  RuleSession() : learner_(small_config(), built_plugins()), program_(raw_.view()) {
    RuleBuilder builder;
    builder.set_slot(builder.slot("vote", 'f'), builder.vote_f32());
    builder.delta(builder.constant(0));
    vote_rule_.emplace(*builder.view());
  }

  static Learner learner_with(const std::vector<std::string>& overrides) {
    return Learner(small_config(overrides), built_plugins());
  }

  BackendSession session_of(const Rule& rule) {
    return learner_.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program_.view(), &rule.view(),
                                                           learner_.noise, 2 * kPairs, 0, 2 * kPairs, 0, nullptr});
  }

  // The weights that moved, by parameter.
  std::vector<int64_t> update(BackendSession& session, uint64_t step, const std::vector<int8_t>& fitness,
                              const std::vector<float>& scalars, float std) {
    const std::vector<float> stds(program_.params().size(), std);
    std::vector<int64_t> changed(stds.size());
    session.update(egg_update{sizeof(egg_update),
                              kPairs,
                              step,
                              fitness.data(),
                              scalars.data(),
                              stds.data(),
                              changed.data(),
                              nullptr,
                              {},
                              2,
                              0});
    return changed;
  }

  std::vector<float> votes(uint64_t step, const std::vector<int8_t>& fitness) {
    BackendSession session = session_of(*vote_rule_);
    update(session, step, fitness, {}, 1.0F);
    return slot(session);
  }

  // Some weights are at the bound that their first votes push them to, some next to a bound, some between the bounds.
  std::vector<int8_t> weights_near_bounds() {
    std::vector<int8_t> near = {0, 0, 0, 120, -120, 5, -60, 126, -126};
    const std::vector<float> vote = votes(0, fitness_);
    for (size_t i = 0; i < 3; ++i) near[i] = static_cast<int8_t>(127 * sign_of(vote[i]));
    return near;
  }

  static std::vector<float> slot(BackendSession& session, uint32_t index = 0) {
    std::vector<float> values(kCount);
    session.get_slot(kWeight, index, values.data());
    return values;
  }

  static std::vector<int8_t> weights(BackendSession& session) {
    std::vector<int8_t> values(kCount);
    session.get_weights(kWeight, values.data());
    return values;
  }

  struct Moves {
    size_t moved = 0;
    size_t several = 0;  // moved by more than one
    size_t stayed = 0;   // stayed, with a fraction to carry
    size_t stopped = 0;  // stopped at a bound
  };

  // Takes 60 steps with the rule, whose last slot carries fractions, and the same steps in plain float32: all slots
  // and weights have the same bits. In a step whose last digit is `empty` no pair has a fitness. direction(slots,
  // i, g, weight, scalars): updates the slots of the i-th weight with its vote g, in deviations, and returns what the
  // weight is to move by.
  template <class Scalars, class Direction>
  Moves follow(const Learner& learner, uint64_t empty, const Scalars& scalars_of, const Direction& direction) {
    constexpr float kStd = 30000.5F;  // about the size of a vote
    BackendSession session = session_of(*learner.rule);
    std::vector<std::vector<float>> slots(learner.rule->slots().size(), std::vector<float>(kCount));
    std::vector<int8_t> weight = weights_near_bounds();
    session.set_weights(kWeight, weight.data());
    Moves moves;
    for (uint64_t step = 0; step < 60 && !HasFailure(); ++step) {
      const bool is_empty = step % 10 == empty;
      const std::vector<int8_t> fitness = is_empty ? std::vector<int8_t>(kPairs) : fitness_;
      const float std = is_empty ? 0.0F : kStd;
      const std::vector<float> vote = votes(step / 20, fitness);  // the same for 20 steps, so that weights go far
      const std::vector<float> scalars = learner.optimizer->scalars(step, {});
      EXPECT_EQ(scalars, scalars_of(step)) << "step " << step;
      update(session, step / 20, fitness, scalars, std);
      for (size_t i = 0; i < kCount; ++i) {
        const int before = weight[i];
        const float g = is_empty ? 0.0F : vote[i] / std;
        float& carried = slots.back()[i];
        moves.stopped += move_by_hand(weight[i], carried, direction(slots, i, g, before, scalars)) ? 1U : 0U;
        moves.moved += weight[i] != before ? 1U : 0U;
        moves.several += std::abs(weight[i] - before) > 1 ? 1U : 0U;
        moves.stayed += weight[i] == before && carried != 0.0F ? 1U : 0U;
      }
      for (uint32_t s = 0; s < slots.size(); ++s) EXPECT_EQ(slot(session, s), slots[s]) << s << ", step " << step;
      EXPECT_EQ(weights(session), weight) << "step " << step;
    }
    return moves;
  }

  const std::vector<int8_t> fitness_ = {5, -3, 7, 1, 0, -127};
  Learner learner_;
  RawProgram raw_;
  Program program_;
  std::optional<Rule> vote_rule_;
};

}  // namespace eggroll::test

#endif
