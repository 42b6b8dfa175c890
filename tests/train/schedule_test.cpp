// Every kind of schedule: its values, its bounds, and its refusals; and runs that follow one.
#include "eggroll/schedule.h"

#include <gmock/gmock.h>

#include "config/settings_block.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The schedule of es_sgd with these settings below optimizer.schedule.
Schedule schedule_with(const std::vector<std::string>& settings) {
  std::vector<std::string> overrides = {"optimizer=es_sgd"};
  for (const std::string& setting : settings) overrides.push_back("optimizer.schedule." + setting);
  const SettingsBlock block(small_config(overrides), "optimizer");
  Settings reader(block.view());
  return Schedule(reader, "schedule");
}

double share(const Schedule& schedule, uint64_t step, const std::vector<egg_evaluation>& evaluations = {}) {
  return schedule.share(
      egg_progress{sizeof(egg_progress), static_cast<uint32_t>(evaluations.size()), step, evaluations.data()});
}

constexpr uint64_t kFar = uint64_t{1} << 40;

TEST(Schedule, ConstantStaysAsItIs) {
  const Schedule schedule = schedule_with({"kind=constant"});
  for (const uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, kFar}) EXPECT_EQ(share(schedule, step), 1.0);
}

TEST(Schedule, StepsChangeAtTheirMilestones) {
  const Schedule schedule = schedule_with({"kind=steps",
                                           "steps.milestones=[{step: 100, factor: 0.5}, {step: 101, factor: 2}, "
                                           "{step: 500, factor: 0}]"});
  EXPECT_EQ(share(schedule, 0), 1.0);
  EXPECT_EQ(share(schedule, 99), 1.0);
  EXPECT_EQ(share(schedule, 100), 0.5);
  EXPECT_EQ(share(schedule, 101), 2.0);
  EXPECT_EQ(share(schedule, 499), 2.0);
  EXPECT_EQ(share(schedule, 500), 0.0);
  EXPECT_EQ(share(schedule, kFar), 0.0);
}

TEST(Schedule, CosineFallsToItsFinalShare) {
  const Schedule schedule = schedule_with({"kind=cosine", "cosine.steps=1200", "cosine.final=0.25"});
  EXPECT_EQ(share(schedule, 0), 1.0);
  EXPECT_EQ(share(schedule, 400), 0.8125);  // cos(pi / 3) = 1/2
  EXPECT_EQ(share(schedule, 600), 0.625);
  EXPECT_EQ(share(schedule, 1200), 0.25);
  EXPECT_EQ(share(schedule, 1201), 0.25);
  EXPECT_EQ(share(schedule, kFar), 0.25);
  for (uint64_t step = 1; step <= 1200; ++step) {
    ASSERT_LT(share(schedule, step), share(schedule, step - 1)) << "step " << step;
  }
  EXPECT_EQ(share(schedule_with({"kind=cosine", "cosine.steps=10", "cosine.final=0"}), 10), 0.0);
}

// A schedule without `steps` ends with the run.
TEST(Schedule, CosineIsAsLongAsTheRun) {
  const Schedule schedule = schedule_with({"kind=cosine", "cosine.final=0.5"});
  EXPECT_EQ(share(schedule, 3), 0.75);
  EXPECT_EQ(share(schedule, 6), 0.5);
}

TEST(Schedule, InverseTimeIsNanoEggs) {
  const Schedule schedule = schedule_with({"kind=inverse_time", "inverse_time.anneal=15", "inverse_time.decay=2000"});
  EXPECT_EQ(share(schedule, 0), 1.0);
  EXPECT_EQ(share(schedule, 400), 0.25);
  EXPECT_EQ(share(schedule, 2000), 1.0 / 16.0);
  EXPECT_EQ(share(schedule, 8400), 1.0 / 64.0);
}

class Plateau : public testing::Test {
 protected:
  // The shares after each of these losses; each evaluation scores 1,000 tokens, and every step has one.
  static std::vector<double> shares(const std::vector<std::string>& settings, const std::vector<int64_t>& losses) {
    std::vector<std::string> all = {"kind=plateau"};
    for (const std::string& setting : settings) all.push_back("plateau." + setting);
    const Schedule schedule = schedule_with(all);
    std::vector<egg_evaluation> seen;
    std::vector<double> result;
    for (const int64_t loss : losses) {
      seen.push_back({seen.size(), loss, 1000});
      result.push_back(share(schedule, seen.size(), seen));
    }
    return result;
  }
};

TEST_F(Plateau, StartsWithTheWholeShare) { EXPECT_EQ(share(schedule_with({"kind=plateau"}), 0), 1.0); }

TEST_F(Plateau, FallsBeyondItsPatience) {
  // With a patience of 2 the third evaluation without a new best lowers the share; an equal loss is no new best.
  EXPECT_THAT(shares({"factor=0.5", "patience=2", "cooldown=0", "minimum=0", "threshold=0"},
                     {100, 90, 95, 90, 91, 89, 90, 90, 89, 70}),
              ElementsAre(1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25));
  EXPECT_THAT(shares({"factor=0.5", "patience=0", "cooldown=0", "minimum=0", "threshold=0"}, {9, 9, 8, 8, 9}),
              ElementsAre(1, 0.5, 0.5, 0.25, 0.125));
}

TEST_F(Plateau, CountsNothingWhileItCools) {
  EXPECT_THAT(shares({"factor=0.5", "patience=0", "cooldown=2", "minimum=0", "threshold=0"}, {9, 9, 9, 9, 9, 9, 9, 9}),
              ElementsAre(1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125));
  // A new best during the cooldown counts.
  EXPECT_THAT(shares({"factor=0.5", "patience=0", "cooldown=2", "minimum=0", "threshold=0"}, {9, 9, 5, 9, 6}),
              ElementsAre(1, 0.5, 0.5, 0.5, 0.25));
}

TEST_F(Plateau, StopsAtItsMinimum) {
  EXPECT_THAT(shares({"factor=0.5", "patience=0", "cooldown=0", "minimum=0.2", "threshold=0"}, {9, 9, 9, 9, 9}),
              ElementsAre(1, 0.5, 0.25, 0.2, 0.2));
}

// A loss is a new best only if it is lower by the threshold: below 90 after 100 with a threshold of 0.1.
TEST_F(Plateau, CountsWhatIsLittleBetterAsNoneSuch) {
  EXPECT_THAT(shares({"factor=0.5", "patience=0", "cooldown=0", "minimum=0", "threshold=0.1"}, {1000, 901, 900, 899}),
              ElementsAre(1, 0.5, 0.25, 0.25));
}

// An evaluation over another number of tokens is ignored, whatever its loss.
TEST_F(Plateau, ComparesEvaluationsOfEquallyManyTokens) {
  const Schedule schedule = schedule_with(
      {"kind=plateau", "plateau.factor=0.5", "plateau.patience=0", "plateau.cooldown=0", "plateau.threshold=0"});
  const std::vector<egg_evaluation> evaluations = {{0, 900, 100}, {1, 90, 10}, {2, 9000, 1000}, {3, 890, 100}};
  EXPECT_EQ(share(schedule, 3, evaluations), 1.0);
}

TEST(Schedule, RefusesWrongSettings) {
  const auto refusal = [](const std::vector<std::string>& settings) {
    return message_of([&] { schedule_with(settings); });
  };
  EXPECT_EQ(refusal({"kind=cosin"}),
            "schedule.kind is 'cosin', expected one of constant, steps, cosine, inverse_time, plateau; did you mean "
            "'cosine'?");
  EXPECT_EQ(refusal({"kind=steps"}),
            "schedule.steps.milestones is empty, expected a list such as [{step: 300, factor: 0.5}]; give one");
  EXPECT_EQ(refusal({"steps.milestones=[{step: 5, factor: 1}, {step: 5, factor: 2}]"}),
            "schedule.steps.milestones.1.step is 5, expected an integer of at least 6");
  EXPECT_THAT(refusal({"steps.milestones=[{step: 5}]"}), HasSubstr("missing key 'schedule.steps.milestones.0.factor'"));
  EXPECT_THAT(refusal({"steps.milestones=[{factor: 5}]"}), HasSubstr("missing key 'schedule.steps.milestones.0.step'"));
  EXPECT_EQ(refusal({"cosine.steps=0"}), "schedule.cosine.steps is 0, expected a number from 1 to 1000000000000");
  EXPECT_EQ(refusal({"plateau.factor=1"}), "schedule.plateau.factor is 1, expected a number from 0.01 to 0.99");
  EXPECT_EQ(refusal({"plateau.patience=-1"}), "schedule.plateau.patience is -1, expected an integer from 0 to 1000000");
}

// A schedule that follows the evaluations: each but the first, over two steps, halves the learning rate.
class PlateauRunTest : public SmallRunTest {
 protected:
  static ConfigNode halving(const std::string& kind = "plateau") {
    return small_config({"optimizer=es_adamw", "optimizer.learning_rate=4.0", "optimizer.schedule.kind=" + kind,
                         "optimizer.schedule.plateau.factor=0.5", "optimizer.schedule.plateau.patience=0",
                         "optimizer.schedule.plateau.cooldown=0", "optimizer.schedule.plateau.threshold=0.9"});
  }

  static std::vector<double> learning_rates(const std::filesystem::path& folder) {
    std::vector<double> rates;
    for (const auto& line : read_metrics(RunFolder{folder}.metrics())) {
      if (line.contains("scalars")) rates.push_back(line.at("scalars").at("learning_rate"));
    }
    return rates;
  }
};

TEST_F(PlateauRunTest, TheScheduleSeesTheEvaluationsBeforeEachStep) {
  const RunRecord whole = run_in(fresh("whole"), halving());
  EXPECT_EQ(learning_rates(folder_ / "whole"), (std::vector<double>{4, 4, 2, 2, 1, 1}));
  const RunRecord constant = run_in(fresh("constant"), halving("constant"));
  EXPECT_EQ(learning_rates(folder_ / "constant"), (std::vector<double>(6, 4.0)));
  EXPECT_NE(whole.weights_sha256, constant.weights_sha256);
}

}  // namespace
}  // namespace eggroll::test
