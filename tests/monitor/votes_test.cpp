// The votes' signal is exact for one step; under the null its mean is 0 and its variance 1, for every kind of
// parameter; and it is far larger if votes follow the loss.
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
    return VoteMeter(eggroll::MonitoredRun{*learner_.backend, *learner_.program, learner_.noise, 2 * kPairs, 1,
                                           learner_.voters, learner_.train.members_per_stream});
  }

  void add(VoteMeter& meter, uint64_t step, const std::vector<int8_t>& fitness) const {
    BatchBuffer batch;
    const auto indices = learner_.program->indices();
    batch.clear(2 * kPairs / learner_.train.members_per_stream, 2, static_cast<uint32_t>(indices.size()));
    Draws draws(1000 + step);
    const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(draws.weight() + 128) % below; };
    for (uint32_t& token : batch.inputs) token = draw(vocab());
    for (size_t i = 0; i < batch.rows.size(); ++i)
      batch.rows[i] = draw(static_cast<uint32_t>(indices[i % indices.size()].rows));
    meter.add({step, fitness, learner_.vote_stds(fitness), batch});
  }
  uint32_t vocab() const { return static_cast<uint32_t>(learner_.program->view().vocab); }
  void expect_chance() const;

  std::vector<int8_t> noise(uint64_t step, uint32_t pair, uint32_t param, uint32_t side, int32_t size) const {
    std::vector<int8_t> values(static_cast<size_t>(size));
    source_.fill(step, pair, param, side, 0, values.data(), static_cast<uint32_t>(size));
    return values;
  }

  Learner learner_;
  NoiseSource source_{learner_.noise};
};

TEST_F(VotesTest, OfOneStepAreThoseOfTheNoise) {
  std::vector<int8_t> fitness(kPairs);
  Draws draws(2);
  for (int8_t& f : fitness) f = draws.weight();
  VoteMeter meter = this->meter();
  add(meter, 7, fitness);
  const auto seen = meter.measure().tensors;
  const std::vector<float> stds = learner_.vote_stds(fitness);
  for (uint32_t i = 0; i < learner_.program->params().size(); ++i) {
    const egg_param& param = learner_.program->params()[i];
    const bool vector = param.kind == EGG_PARAM_VECTOR;
    const auto rows = static_cast<size_t>(param.rows);
    const auto cols = static_cast<size_t>(param.cols);
    std::vector<std::vector<double>> votes(3, std::vector<double>(rows * cols));  // own, and by chance
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      const std::vector<int8_t> a = noise(7, pair, i, EGG_SIDE_A, param.rows);
      const std::vector<int8_t> b = noise(7, pair, i, EGG_SIDE_B, vector ? param.rows : param.cols);
      for (size_t kind = 0; kind < votes.size(); ++kind) {
        const bool turned = kind > 0 && (egg_absorb(egg_absorb(kind, 7), pair) & 1) != 0;
        const double f = turned ? -fitness[pair] : fitness[pair];
        for (size_t w = 0; w < rows * cols; ++w) votes[kind][w] += f * a[w / cols] * b[vector ? w : w % cols];
      }
    }
    double squares[3] = {};
    double far[3] = {};
    for (size_t kind = 0; kind < votes.size(); ++kind) {
      for (const double vote : votes[kind]) {
        squares[kind] += vote * vote;
        far[kind] += std::fabs(vote) > 2.5 * stds[i] ? 1.0 : 0.0;
      }
    }
    ASSERT_TRUE(seen[i].has_value());
    const double over = std::sqrt(squares[0] / (0.5 * (squares[1] + squares[2])));
    EXPECT_NEAR(seen[i]->over_null, over, 1e-5 * over) << param.name;  // float32 sums
    const double more = far[0] - 0.5 * (far[1] + far[2]);
    EXPECT_NEAR(seen[i]->deviations, more / std::sqrt(0.75 * std::pow(far[1] - far[2], 2.0) + 1.0), 1e-9) << param.name;
  }
}

// Fitness that does not depend on the noise, over windows that share no step.
void VotesTest::expect_chance() const {
  constexpr size_t kLooks = 60;
  const size_t params = learner_.program->params().size();
  std::vector<double> sums(params + 1);  // the last is of all together
  std::vector<double> squares(params + 1);
  Draws draws(3);
  VoteMeter meter = this->meter();
  const auto add_up = [&](size_t i, double deviations) {
    sums[i] += deviations;
    squares[i] += deviations * deviations;
    EXPECT_LT(std::fabs(deviations), 6.0);
  };
  for (uint64_t look = 0; look < kLooks; ++look) {
    for (uint64_t step = 0; step < kVoteSteps; ++step) {
      std::vector<int8_t> fitness(kPairs);
      for (int8_t& f : fitness) f = draws.weight();
      // Few members of a stream differ, as in a model that knows what follows.
      for (size_t pair = 0; pair < kPairs / 4; ++pair) fitness[pair] /= 16;
      add(meter, look * kVoteSteps + step, fitness);
    }
    ASSERT_EQ(meter.steps(), kVoteSteps);
    const VoteSignals seen = meter.measure();
    for (size_t i = 0; i < params; ++i) add_up(i, seen.tensors[i]->deviations);
    add_up(params, seen.deviations.value());
  }
  for (size_t i = 0; i <= params; ++i) {
    const std::string name = i < params ? learner_.program->params()[i].name : "all";
    EXPECT_LT(std::fabs(sums[i] / kLooks), 4.0 / std::sqrt(kLooks)) << name;
    EXPECT_GT(squares[i] / kLooks, 0.4) << name;
    EXPECT_LT(squares[i] / kLooks, 1.8) << name;
  }
}

TEST_F(VotesTest, OfChanceHaveMeanZeroAndVarianceOne) { expect_chance(); }

// Tables whose rows share noise and readers, with each distribution, of both models.
struct Recipe {
  std::string name;
  std::vector<std::string> overrides;
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

class VotesOfTables : public VotesTest, public testing::WithParamInterface<Recipe> {
 protected:
  VotesOfTables()
      : VotesTest(joined(GetParam().overrides, {"train.population=128", "backend=auto", "train.tokens=1"})) {}
};

TEST_P(VotesOfTables, OfChanceHaveMeanZeroAndVarianceOne) {
  ASSERT_TRUE(learner_.has_masks());
  expect_chance();
}

const std::string kLogitTables = "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 16}, {tokens: 3, rows: 32}]";

INSTANTIATE_TEST_SUITE_P(
    Every, VotesOfTables,
    testing::Values(Recipe{"gru", {kLogitTables}},
                    Recipe{"gru_gaussian", {kLogitTables, "noise.distribution=gaussian"}},
                    Recipe{"gru_groups",
                           {kLogitTables, "noise.distribution=uniform", "noise.rank=2",
                            "perturb.groups=[{params: [embedding, context*], share: 0.3}, {params: [logit_context*], "
                            "share: 0.6}, {params: [layer*, norm_out*, head*], share: 0.1}]"}},
                    Recipe{"former", {"model=int8nativeformer", "model.head_width=4", kLogitTables, "noise.rank=3"}}),
    [](const auto& test) { return test.param.name; });

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
  const auto seen = meter.measure().tensors;
  for (uint32_t i = 0; i <= head; ++i) {
    if (i == head) {
      EXPECT_GT(seen[i]->deviations, 4.0);
      EXPECT_GT(seen[i]->over_null, 1.1);
    } else {
      EXPECT_LT(seen[i]->deviations, 4.0) << learner_.program->params()[i].name;
    }
  }
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
  const auto all = meter.measure().tensors;
  const auto last = late.measure().tensors;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]->over_null, last[i]->over_null);
    EXPECT_EQ(all[i]->deviations, last[i]->deviations);
  }
}

TEST_F(VotesTest, StepsWithoutFitnessDoNotCount) {
  VoteMeter meter = this->meter();
  add(meter, 0, std::vector<int8_t>(kPairs));
  EXPECT_EQ(meter.measure().pairs_without_fitness, 1.0);
  EXPECT_FALSE(meter.measure().deviations.has_value());
  for (const auto& signal : meter.measure().tensors) EXPECT_FALSE(signal.has_value());
  add(meter, 1, std::vector<int8_t>(kPairs, int8_t{1}));
  VoteMeter alone = this->meter();
  add(alone, 1, std::vector<int8_t>(kPairs, int8_t{1}));
  EXPECT_EQ(meter.measure().tensors[0]->over_null, alone.measure().tensors[0]->over_null);
  EXPECT_EQ(meter.measure().pairs_without_fitness, 0.5);
}

// Rows that are read and have no votes are no votes, whatever was read.
TEST_P(VotesOfTables, StepsWithoutFitnessDoNotCount) {
  VoteMeter meter = this->meter();
  add(meter, 0, std::vector<int8_t>(kPairs));
  EXPECT_FALSE(meter.measure().deviations.has_value());
}

}  // namespace
}  // namespace eggroll::test
