// The sign_es plugin: its threshold step by step, to the bit, and its rule as the reference backend applies it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "train/rule_session.h"

namespace eggroll::test {
namespace {

using ::testing::Each;

Learner sign_es_with(double anneal, double decay, double residual) {
  return Learner(small_config({fmt::format("optimizer.schedule.inverse_time.anneal={}", anneal),
                               fmt::format("optimizer.schedule.inverse_time.decay={}", decay),
                               fmt::format("optimizer.residual={}", residual)}),
                 built_plugins());
}

struct Threshold {
  uint64_t step;
  uint32_t bits;  // the bits of the float32
};

struct Schedule {
  const char* name;
  double anneal;
  double decay;
  double residual;
  std::vector<Threshold> thresholds;
};

void PrintTo(const Schedule& schedule, std::ostream* out) { *out << schedule.name; }

class SignEsThreshold : public testing::TestWithParam<Schedule> {};

TEST_P(SignEsThreshold, HasTheseBits) {
  const Learner learner = sign_es_with(GetParam().anneal, GetParam().decay, GetParam().residual);
  ASSERT_EQ(learner.rule->scalar_names().size(), 1U);
  EXPECT_STREQ(learner.rule->scalar_names()[0], "threshold");
  for (const Threshold& expected : GetParam().thresholds) {
    EXPECT_EQ(std::bit_cast<uint32_t>(learner.optimizer->scalars(expected.step, {}).at(0)), expected.bits)
        << "step " << expected.step;
  }
}

// sqrt(2) * erfinv(1 - alpha) / sqrt(1 - residual^2), alpha = 1 / (anneal * step / decay + 1), from a library of forty
// digits: 0.00933, 0.0876, 0.674, 1.25, 1.86, 3.21 and 5.27 deviations in the first.
INSTANTIATE_TEST_SUITE_P(
    Schedules, SignEsThreshold,
    testing::Values(Schedule{"Plain",
                             15,
                             2000,
                             0,
                             {{0, 0},
                              {1, 0x3c18dcee},
                              {10, 0x3db34e98},
                              {133, 0x3f2c6ada},
                              {500, 0x3fa04574},
                              {2000, 0x3fee6dff},
                              {100000, 0x404d61bb},
                              {1000000000, 0x40a8c648}}},
                    Schedule{"Residual",
                             15,
                             2000,
                             0.5,
                             {{0, 0},
                              {1, 0x3c3082d0},
                              {10, 0x3dcf0bbf},
                              {133, 0x3f471728},
                              {500, 0x3fb910bb},
                              {2000, 0x4009a84e},
                              {100000, 0x406d2789},
                              {1000000000, 0x40c2e251}}},
                    Schedule{"LongMemory",
                             15,
                             300,
                             0.9,
                             {{0, 0}, {1, 0x3e0c49d7}, {10, 0x3f7cf7ce}, {133, 0x405de4ee}, {2000, 0x40bd5a16}}},
                    Schedule{"NoAnnealing", 0, 2000, 0.5, {{0, 0}, {1, 0}, {1000000, 0}}}),
    [](const testing::TestParamInfo<Schedule>& parameter) { return std::string(parameter.param.name); });

// The level of the test falls from step to step, so the threshold rises, for all settings that are allowed.
TEST(SignEsThreshold, NeverFalls) {
  for (const double anneal : {0.001, 15.0, 1e9}) {
    for (const double decay : {1.0, 2000.0, 1e12}) {
      const Learner learner = sign_es_with(anneal, decay, 0.5);
      float before = -1.0F;
      for (uint64_t step = 0; step < (uint64_t{1} << 31); step = 2 * step + 1) {
        const float threshold = learner.optimizer->scalars(step, {}).at(0);
        ASSERT_TRUE(std::isfinite(threshold));
        EXPECT_GE(threshold, before) << "anneal " << anneal << ", decay " << decay << ", step " << step;
        before = threshold;
      }
    }
  }
}

float threshold_with(const std::vector<std::string>& overrides, uint64_t step) {
  return Learner(small_config(overrides), built_plugins()).optimizer->scalars(step, {}).at(0);
}

// The level is alpha times the schedule's share; one at or below 0 moves nothing and is no error.
TEST(SignEsThreshold, IsOfAlphaTimesTheShare) {
  const std::string constant = "optimizer.schedule.kind=constant";
  const std::string plain = "optimizer.residual=0";
  for (const uint64_t step : {0U, 7U, 1000000U}) {
    EXPECT_EQ(threshold_with({plain, constant, "optimizer.alpha=0.05"}, step), 1.959964F);
  }
  EXPECT_EQ(threshold_with({plain, "optimizer.alpha=0.1", "optimizer.schedule.kind=steps",
                            "optimizer.schedule.steps.milestones=[{step: 5, factor: 0.5}]"},
                           5),
            1.959964F);
  const float never = threshold_with({plain, "optimizer.schedule.kind=cosine", "optimizer.schedule.cosine.steps=10",
                                      "optimizer.schedule.cosine.final=0"},
                                     10);
  EXPECT_GT(never, 37.0F);
  EXPECT_TRUE(std::isfinite(never));
}

class SignEsRule : public RuleSession {
 protected:
  std::vector<int64_t> update(BackendSession& session, uint64_t step, const std::vector<int8_t>& fitness,
                              float threshold, float std) {
    return RuleSession::update(session, step, fitness, {threshold}, std);
  }
};

TEST_F(SignEsRule, MovesByOneWhereTheVoteIsBeyondTheThreshold) {
  const Learner plain = sign_es_with(15, 2000, 0);
  ASSERT_TRUE(plain.rule->slots().empty());
  const std::vector<float> vote = votes(4, fitness_);
  for (const float v : vote) {
    ASSERT_NE(v, 0.0F);
    // A threshold at the vote itself, which the vote does not exceed; and one just below it.
    for (const float threshold : {std::fabs(v), std::nextafter(std::fabs(v), 0.0F)}) {
      BackendSession session = session_of(*plain.rule);
      const std::vector<int64_t> changed = update(session, 4, fitness_, threshold, 1.0F);
      std::vector<int8_t> expected;
      int64_t moved = 0;
      for (const float other : vote) {
        expected.push_back(std::fabs(other) > threshold ? sign_of(other) : int8_t{0});
        moved += expected.back() != 0 ? 1 : 0;
      }
      EXPECT_EQ(weights(session), expected);
      EXPECT_EQ(changed[kWeight], moved);
    }
  }
}

TEST_F(SignEsRule, CountsTheThresholdInDeviations) {
  const Learner plain = sign_es_with(15, 2000, 0);
  const std::vector<float> vote = votes(4, fitness_);
  BackendSession session = session_of(*plain.rule);
  update(session, 4, fitness_, std::fabs(vote[0]) / 1024.0F, 1024.0F);  // exact: a power of two
  EXPECT_EQ(weights(session)[0], 0);
  update(session, 4, fitness_, std::fabs(vote[0]) / 1024.0F, 1023.0F);
  EXPECT_EQ(weights(session)[0], sign_of(vote[0]));
}

// The first step has threshold 0: every weight with a vote moves, and a weight without one stays.
TEST_F(SignEsRule, MovesEveryVotedWeightAtThresholdZero) {
  for (const double residual : {0.0, 0.5}) {
    const Learner learner = sign_es_with(15, 2000, residual);
    BackendSession session = session_of(*learner.rule);
    update(session, 4, fitness_, 0.0F, 1.0F);
    std::vector<int8_t> expected;
    for (const float v : votes(4, fitness_)) expected.push_back(sign_of(v));
    EXPECT_EQ(weights(session), expected);
  }
}

TEST_F(SignEsRule, StopsAtTheLargestWeight) {
  const Learner plain = sign_es_with(15, 2000, 0);
  BackendSession session = session_of(*plain.rule);
  const std::vector<float> vote = votes(4, fitness_);
  std::vector<int8_t> edge;
  for (const float v : vote) edge.push_back(static_cast<int8_t>(127 * sign_of(v)));
  session.set_weights(kWeight, edge.data());
  EXPECT_EQ(update(session, 4, fitness_, 0.0F, 1.0F)[kWeight], 0);
  EXPECT_EQ(weights(session), edge);
}

// A vote that did not move its weight is carried, halved, to the next step; a move spends it. A deviation of 64 keeps
// all values exact.
TEST_F(SignEsRule, CarriesDiscardedVotesUntilTheyMove) {
  const Learner learner = sign_es_with(15, 2000, 0.5);
  BackendSession session = session_of(*learner.rule);
  constexpr float kStd = 64.0F;
  std::vector<float> evidence(9);
  std::vector<int8_t> weight(9);
  size_t moves = 0;
  size_t moved_by_the_residual = 0;
  for (uint64_t step = 0; step < 40; ++step) {
    const std::vector<float> vote = votes(step, fitness_);
    const float threshold = 1100.0F;
    update(session, step, fitness_, threshold, kStd);
    for (size_t i = 0; i < 9; ++i) {
      evidence[i] = vote[i] / kStd + 0.5F * evidence[i];
      if (std::fabs(evidence[i]) > threshold) {
        ++moves;
        moved_by_the_residual += std::fabs(vote[i] / kStd) <= threshold ? 1U : 0U;
        weight[i] = static_cast<int8_t>(weight[i] + sign_of(evidence[i]));
        evidence[i] = 0.0F;
      }
    }
    ASSERT_EQ(slot(session), evidence) << "step " << step;
    ASSERT_EQ(weights(session), weight) << "step " << step;
  }
  EXPECT_GT(moves, 20U);
  EXPECT_LT(moves, 9U * 40U - 20U);
  EXPECT_GT(moved_by_the_residual, 3U);
}

// A step in which no pair has a fitness: votes and deviations are 0, and 0 / 0 must not be carried.
TEST_F(SignEsRule, ZeroFitnessMovesNothingAndLeavesNoNaN) {
  const std::vector<int8_t> none(kPairs, 0);
  for (const double residual : {0.0, 0.5}) {
    const Learner learner = sign_es_with(15, 2000, residual);
    BackendSession session = session_of(*learner.rule);
    EXPECT_THAT(update(session, 0, none, 0.0F, 0.0F), Each(0));
    EXPECT_THAT(weights(session), Each(0));
    if (residual == 0.0) continue;
    EXPECT_THAT(slot(session), Each(0.0F));
    // Carried votes decay.
    const std::vector<float> carried = {1.0F, -2.0F, 0.0F, 4.0F, 8.0F, -16.0F, 0.5F, 3.0F, 1024.0F};
    session.set_slot(kWeight, 0, carried.data());
    EXPECT_EQ(update(session, 1, none, 10.0F, 0.0F)[kWeight], 1);  // only 512 is beyond the threshold
    const std::vector<float> expected = {0.5F, -1.0F, 0.0F, 2.0F, 4.0F, -8.0F, 0.25F, 1.5F, 0.0F};
    EXPECT_EQ(slot(session), expected);
  }
}

TEST(LearnerUpdate, HandsTheRuleItsDeviationsAndThreshold) {
  const Learner learner = sign_es_with(15, 2000, 0.5);
  BackendSession session = learner.open_session();
  const std::vector<int8_t> none(learner.train.population / 2, 0);
  BatchBuffer batch;  // each token occurs
  batch.clear(learner.train.population / learner.train.members_per_stream,
              static_cast<uint32_t>(learner.program->view().vocab));
  for (size_t i = 0; i < batch.inputs.size(); ++i) batch.inputs[i] = static_cast<uint32_t>(i % batch.tokens);
  EXPECT_THAT(learner.update(session, 0, {}, none, batch).changed, Each(0));
  // At step 0 the threshold is 0: all but the few weights whose votes cancel move.
  std::vector<int8_t> some = none;
  for (size_t k = 0; k < some.size(); ++k) some[k] = static_cast<int8_t>(k % 2 == 0 ? 64 : -31);
  const Update first = learner.update(session, 0, {}, some, batch);
  EXPECT_EQ(first.scalars, learner.scalars(0, {}));
  EXPECT_EQ(first.vote_stds, learner.vote_stds(some));
  for (size_t p = 0; p < first.changed.size(); ++p) {
    const auto count = static_cast<double>(weight_count(learner.program->params()[p]));
    EXPECT_GT(static_cast<double>(first.changed[p]), 0.7 * count) << learner.program->params()[p].name;
  }
}

}  // namespace
}  // namespace eggroll::test
