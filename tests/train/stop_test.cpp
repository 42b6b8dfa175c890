// Runs that end before their last step, by a rule or a signal, and go on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "train/small_run.h"

namespace eggroll::test {
namespace {

struct StopRule {
  const char* name;
  const char* rule;
  uint64_t step;        // the step after which the rule ends the run
  const char* because;  // the beginning of the record's reason
};

void PrintTo(const StopRule& rule, std::ostream* out) { *out << rule.name; }

class StopRules : public TrainerTest, public testing::WithParamInterface<StopRule> {};

// A run that a rule ended has final figures. Without the rule it goes on to the weights of a run without rules.
TEST_P(StopRules, EndTheRunWhichCanGoOn) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord stopped = run_in(folder, small_config({GetParam().rule}));
  EXPECT_EQ(stopped.status, RunStatus::kStopped);
  EXPECT_EQ(stopped.steps, GetParam().step);
  EXPECT_THAT(stopped.stopped_because.value_or(""), testing::StartsWith(GetParam().because));
  ASSERT_TRUE(stopped.final.has_value());
  EXPECT_EQ(stopped.final->step, GetParam().step);
  EXPECT_EQ(stopped.final->tokens, 98U);  // the whole held-out part
  EXPECT_EQ(stopped.newest->step, GetParam().step);
  EXPECT_EQ(stopped.newest->tokens, 31U);
  EXPECT_TRUE(stopped.weights_sha256.has_value());
  EXPECT_EQ(read_record(RunFolder{folder}.record()).stopped_because, stopped.stopped_because);

  const RunRecord again = run_in(folder, small_config({GetParam().rule}));
  EXPECT_EQ(again.status, RunStatus::kStopped);
  EXPECT_EQ(again.steps, GetParam().step);

  const RunRecord whole = run_in(folder, config_);
  EXPECT_EQ(whole.status, RunStatus::kCompleted);
  EXPECT_EQ(whole.stopped_because, std::nullopt);
  EXPECT_EQ(whole.weights_sha256, run_in(fresh("whole"), config_).weights_sha256);
  EXPECT_EQ(steps_in(folder), all_steps_);  // the stop's own line is gone
}

// Sixteen members read eight tokens a step; every second step is evaluated.
INSTANTIATE_TEST_SUITE_P(
    Rules, StopRules,
    testing::Values(StopRule{"Steps", "stop.steps=3", 3, "stop.steps is 3 and 3 steps were done"},
                    StopRule{"Tokens", "stop.tokens=129", 2, "stop.tokens is 129 and 256 member tokens were read"},
                    StopRule{"Bits", "stop.bits=1000", 0, "stop.bits is 1000 and held-out bits are "}),
    [](const auto& rule) { return rule.param.name; });

TEST_F(TrainerTest, SecondsAreThoseOfAllProcesses) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord first = run_in(folder, small_config({"train.steps=1000000", "stop.seconds=0.2"}));
  ASSERT_EQ(first.status, RunStatus::kStopped);
  EXPECT_GE(first.wall_seconds, 0.2);
  const RunRecord second = run_in(folder, small_config({"train.steps=1000000", "stop.seconds=0.4"}));
  ASSERT_EQ(second.status, RunStatus::kStopped);
  EXPECT_GT(second.steps, first.steps);
  EXPECT_THAT(second.stopped_because.value_or(""), testing::StartsWith("stop.seconds is 0.4 and the run took "));
}

TEST_F(TrainerTest, PatienceCountsEvaluationsSinceTheBest) {
  // With noise this large the run learns nothing.
  const RunRecord stopped =
      run_in(fresh("stopped"), small_config({"stop.patience=2", "noise.sigma_shift=0", "train.steps=200"}));
  ASSERT_EQ(stopped.status, RunStatus::kStopped);
  EXPECT_EQ(stopped.steps, stopped.best->step + 4);
  EXPECT_EQ(stopped.stopped_because,
            fmt::format("stop.patience is 2 and the best evaluation was at step {}", stopped.best->step));
}

// A run that is stopped after any number of steps, even none, and run again has the same weights, counts and metrics.
TEST_F(TrainerTest, StoppedAnywhereItGoesOnToTheSameWeights) {
  const RunRecord whole = run_in(fresh("whole"), config_);
  for (uint64_t step = 0; step < 6; ++step) {
    const std::filesystem::path folder = fresh("stopped" + std::to_string(step));
    const RunRecord stopped = run_until(folder, config_, step);
    EXPECT_EQ(stopped.status, RunStatus::kInterrupted);
    EXPECT_EQ(stopped.steps, step);
    ASSERT_TRUE(stopped.weights_sha256.has_value());
    EXPECT_TRUE(stopped.ended_utc.has_value());
    EXPECT_EQ(load_checkpoint(*latest_checkpoint(folder)).step, step);

    const RunRecord resumed = run_in(folder, config_);
    EXPECT_EQ(resumed.status, RunStatus::kCompleted);
    EXPECT_EQ(resumed.resumes, 1U);
    EXPECT_EQ(resumed.started_utc, stopped.started_utc);
    EXPECT_EQ(resumed.weights_sha256, whole.weights_sha256) << "stopped after " << step;
    EXPECT_EQ(resumed.member_tokens, whole.member_tokens);
    EXPECT_EQ(resumed.unique_tokens, whole.unique_tokens);
    EXPECT_EQ(resumed.best->bits_per_unit, whole.best->bits_per_unit);
    EXPECT_EQ(resumed.final->bits_per_unit, whole.final->bits_per_unit);
    EXPECT_EQ(steps_in(folder), all_steps_) << "stopped after " << step;
  }
}

TEST_F(TrainerTest, StoppedAtEveryStepItGoesOnToTheSameWeights) {
  const RunRecord whole = run_in(fresh("whole"), config_);
  const std::filesystem::path folder = fresh("stopped");
  for (uint64_t step = 1; step < 6; ++step) run_until(folder, config_, step);
  const RunRecord resumed = run_in(folder, config_);
  EXPECT_EQ(resumed.resumes, 5U);
  EXPECT_EQ(resumed.weights_sha256, whole.weights_sha256);
  EXPECT_EQ(steps_in(folder), all_steps_);
}

}  // namespace
}  // namespace eggroll::test
