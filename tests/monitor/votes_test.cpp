// The votes' signal is exact for one step, standard normal under the null, and far beyond that where votes follow the
// loss.
#include "monitor/votes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eggroll/noise_source.h"
#include "monitor/monitor.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

class VotesTest : public testing::Test {
 protected:
  static constexpr uint32_t kPairs = 64;

  explicit VotesTest(const std::vector<std::string>& more = {"train.population=128", "votes.masked=false"})
      : learner_(small_config(more), built_plugins()) {}

  VoteMeter meter() const {
    return VoteMeter(
        eggroll::MonitoredRun{*learner_.backend, *learner_.program, learner_.noise, 2 * kPairs, 1, learner_.voters, 2});
  }

  void add(VoteMeter& meter, uint64_t step, const std::vector<int8_t>& fitness) const {
    BatchBuffer batch;
    batch.clear(kPairs, 2);
    Draws draws(1000 + step);
    for (uint32_t& token : batch.inputs) token = static_cast<uint32_t>(draws.weight() + 128) % vocab();
    meter.add({step, fitness, learner_.vote_stds(fitness), batch});
  }
  uint32_t vocab() const { return static_cast<uint32_t>(learner_.program->view().vocab); }
  void expect_standard_normal() const;

  std::vector<int8_t> noise(uint64_t step, uint32_t pair, uint32_t param, uint32_t side, int32_t size) const {
    std::vector<int8_t> values(static_cast<size_t>(size));
    source_.fill(step, pair, param, side, 0, values.data(), static_cast<uint32_t>(size));
    return values;
  }

  Learner learner_;
  NoiseSource source_{learner_.noise};
};

TEST_F(VotesTest, OfOneStepAreTheVotesOverTheNull) {
  std::vector<int8_t> fitness(kPairs);
  Draws draws(2);
  for (int8_t& f : fitness) f = draws.weight();
  VoteMeter meter = this->meter();
  add(meter, 7, fitness);
  const auto seen = meter.measure();
  for (uint32_t i = 0; i < learner_.program->params().size(); ++i) {
    const egg_param& param = learner_.program->params()[i];
    const bool vector = param.kind == EGG_PARAM_VECTOR;
    const auto rows = static_cast<size_t>(param.rows);
    const auto cols = static_cast<size_t>(param.cols);
    std::vector<double> votes(rows * cols);
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      const std::vector<int8_t> a = noise(7, pair, i, EGG_SIDE_A, param.rows);
      const std::vector<int8_t> b = noise(7, pair, i, EGG_SIDE_B, vector ? param.rows : param.cols);
      for (size_t w = 0; w < votes.size(); ++w) votes[w] += fitness[pair] * a[w / cols] * b[vector ? w : w % cols];
    }
    double squares = 0.0;
    for (const double vote : votes) squares += vote * vote;
    const double expected = std::sqrt(squares / static_cast<double>(votes.size())) / learner_.vote_stds(fitness)[i];
    ASSERT_TRUE(seen[i].has_value());
    EXPECT_NEAR(seen[i]->over_null, expected, 1e-5 * expected) << param.name;  // float32 sums
  }
}

// Fitness that does not depend on the noise, over windows that share no step.
void VotesTest::expect_standard_normal() const {
  constexpr size_t kLooks = 50;
  const size_t params = learner_.program->params().size();
  std::vector<double> sums(params);
  std::vector<double> squares(params);
  double joint_sum = 0.0;
  double joint_square = 0.0;
  Draws draws(3);
  VoteMeter meter = this->meter();
  for (uint64_t look = 0; look < kLooks; ++look) {
    for (uint64_t step = 0; step < kVoteSteps; ++step) {
      std::vector<int8_t> fitness(kPairs);
      for (int8_t& f : fitness) f = draws.weight();
      add(meter, look * kVoteSteps + step, fitness);
    }
    ASSERT_EQ(meter.steps(), kVoteSteps);
    const auto seen = meter.measure();
    joint_sum += joint_deviations(seen).value();
    joint_square += std::pow(joint_deviations(seen).value(), 2.0);
    for (size_t i = 0; i < params; ++i) {
      sums[i] += seen[i]->deviations;
      squares[i] += seen[i]->deviations * seen[i]->deviations;
      EXPECT_LT(std::fabs(seen[i]->deviations), 6.0) << learner_.program->params()[i].name;
    }
  }
  for (size_t i = 0; i < params; ++i) {
    const char* name = learner_.program->params()[i].name;
    EXPECT_LT(std::fabs(sums[i] / kLooks), 4.0 / std::sqrt(kLooks)) << name;
    EXPECT_GT(squares[i] / kLooks, 0.4) << name;
    EXPECT_LT(squares[i] / kLooks, 2.5) << name;
  }
  EXPECT_LT(std::fabs(joint_sum / kLooks), 4.0 / std::sqrt(kLooks));
  EXPECT_GT(joint_square / kLooks, 0.4);
  EXPECT_LT(joint_square / kLooks, 2.5);
}

TEST_F(VotesTest, OfChanceAreStandardNormal) { expect_standard_normal(); }

class MaskedVotesTest : public VotesTest {
 protected:
  MaskedVotesTest() : VotesTest({"train.population=128"}) {}
};

TEST_F(MaskedVotesTest, OfChanceAreStandardNormal) {
  ASSERT_TRUE(learner_.has_masks());
  expect_standard_normal();
}

// Fitness that follows the perturbation of one weight of the head: the head stands out, the others do not.
TEST_F(VotesTest, OfSomethingStandOut) {
  const auto head = static_cast<uint32_t>(learner_.program->params().size()) - 1;
  ASSERT_STREQ(learner_.program->params()[head].name, "head");
  VoteMeter meter = this->meter();
  for (uint64_t step = 0; step < kVoteSteps; ++step) {
    std::vector<int8_t> fitness;
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      const int32_t up = noise(step, pair, head, EGG_SIDE_A, 16)[0] * noise(step, pair, head, EGG_SIDE_B, 8)[0];
      fitness.push_back(static_cast<int8_t>(up > 0 ? 1 : -1));
    }
    add(meter, step, fitness);
  }
  const auto seen = meter.measure();
  for (uint32_t i = 0; i <= head; ++i) {
    if (i == head) {
      EXPECT_GT(seen[i]->deviations, 10.0);
      EXPECT_GT(seen[i]->over_null, 1.1);
    } else {
      EXPECT_LT(seen[i]->deviations, 4.0) << learner_.program->params()[i].name;
    }
  }
  EXPECT_GT(joint_deviations(seen).value(), 2.0);
}

TEST_F(VotesTest, TheOldestStepsAreForgotten) {
  VoteMeter meter = this->meter();
  VoteMeter late = this->meter();
  Draws draws(4);
  for (uint64_t step = 0; step < kVoteSteps + 5; ++step) {
    std::vector<int8_t> fitness(kPairs);
    for (int8_t& f : fitness) f = draws.weight();
    add(meter, step, fitness);
    if (step % 3 == 0) meter.measure();  // measuring changes nothing
    if (step >= 5) add(late, step, fitness);
  }
  const auto all = meter.measure();
  const auto last = late.measure();
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]->over_null, last[i]->over_null);
    EXPECT_EQ(all[i]->deviations, last[i]->deviations);
  }
}

TEST_F(VotesTest, StepsWithoutFitnessDoNotCount) {
  VoteMeter meter = this->meter();
  add(meter, 0, std::vector<int8_t>(kPairs));
  for (const auto& signal : meter.measure()) EXPECT_FALSE(signal.has_value());
  EXPECT_FALSE(joint_deviations(meter.measure()).has_value());
  add(meter, 1, std::vector<int8_t>(kPairs, int8_t{1}));
  VoteMeter alone = this->meter();
  add(alone, 1, std::vector<int8_t>(kPairs, int8_t{1}));
  EXPECT_EQ(meter.measure()[0]->over_null, alone.measure()[0]->over_null);
}

}  // namespace
}  // namespace eggroll::test
