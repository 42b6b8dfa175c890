// Runs that a rule ends before their last step, and that go on.
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

// Sixteen members read eight tokens per step; every second step is evaluated.
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
  const std::string more = fmt::format("{}", first.wall_seconds + 0.2);
  const RunRecord second = run_in(folder, small_config({"train.steps=1000000", "stop.seconds=" + more}));
  ASSERT_EQ(second.status, RunStatus::kStopped);
  EXPECT_GT(second.steps, first.steps);
  EXPECT_THAT(second.stopped_because.value_or(""),
              testing::StartsWith("stop.seconds is " + more + " and the run took "));
}

// With noise this large the run learns nothing.
class PatienceTest : public TrainerTest {
 protected:
  static ConfigNode impatient(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"stop.patience=2", "noise.sigma_shift=0", "train.steps=200"});
    return small_config(more);
  }
  static void expect_end(const RunRecord& record, const RunRecord& expected) {
    EXPECT_EQ(record.status, RunStatus::kStopped);
    EXPECT_EQ(record.steps, expected.steps);
    EXPECT_EQ(record.final->step, expected.final->step);
    EXPECT_EQ(record.final->bits_per_unit, expected.final->bits_per_unit);
    EXPECT_EQ(record.weights_sha256, expected.weights_sha256);
    EXPECT_EQ(record.stopped_because, expected.stopped_because);
    EXPECT_EQ(record.newest->step, expected.newest->step);
  }
  // The step of the checkpoint that this name chooses.
  static uint64_t step_of(const std::filesystem::path& folder, const std::string& chosen) {
    return read_facts(choose_checkpoint(RunFolder{folder}, chosen, "")).step;
  }
};

// The figures and weights are those of a run that ends at the best evaluation's step.
TEST_F(PatienceTest, EndsOnTheBestEvaluation) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord stopped = run_in(folder, impatient({"optimizer.average=0.9"}));
  ASSERT_EQ(stopped.status, RunStatus::kStopped);
  const uint64_t best = stopped.best->step;
  EXPECT_EQ(stopped.steps, best + 4);
  EXPECT_EQ(stopped.newest->step, best + 4);
  EXPECT_EQ(stopped.stopped_because,
            fmt::format("stop.patience is 2 and the best evaluation was at step {}; after {} steps the run ended with "
                        "the weights of step {}",
                        best, best + 4, best));
  const RunRecord there =
      run_in(fresh("there"), impatient({"optimizer.average=0.9", fmt::format("stop.steps={}", best)}));
  ASSERT_EQ(there.steps, best);
  EXPECT_EQ(stopped.weights_sha256, there.weights_sha256);
  EXPECT_EQ(stopped.final->step, best);
  EXPECT_EQ(stopped.final->bits_per_unit, there.final->bits_per_unit);
  EXPECT_EQ(stopped.final->tokens, 98U);
  EXPECT_EQ(stopped.average->final->step, best);
  EXPECT_EQ(stopped.average->final->bits_per_unit, there.average->final->bits_per_unit);
  EXPECT_EQ(step_of(folder, "end"), best);
  EXPECT_EQ(step_of(folder, "last"), best + 4);
  EXPECT_EQ(step_of(fresh("there"), "end"), best);
}

TEST_F(PatienceTest, GoesOnFromTheLastStep) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord stopped = run_in(folder, impatient());
  ASSERT_EQ(stopped.status, RunStatus::kStopped);
  const std::vector<std::string> onwards = {"noise.sigma_shift=0", "train.steps=200",
                                            fmt::format("stop.steps={}", stopped.steps + 3)};
  const RunRecord further = run_in(folder, small_config(onwards));
  const RunRecord whole = run_in(fresh("whole"), small_config(onwards));
  EXPECT_EQ(further.weights_sha256, whole.weights_sha256);
  expect_end(further, whole);
  EXPECT_EQ(steps_in(folder), steps_in(fresh("whole")));
  EXPECT_EQ(step_of(folder, "end"), stopped.steps + 3);
}

// A run that is killed while it writes its last files comes to the same end.
TEST_F(PatienceTest, EndsTheSameWhereItWasKilledAtItsEnd) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord stopped = run_in(folder, impatient());
  ASSERT_EQ(stopped.status, RunStatus::kStopped);
  RunRecord running = stopped;
  running.status = RunStatus::kRunning;
  running.ended_utc.reset();
  running.final.reset();
  running.weights_sha256 = weights_sha256(load_checkpoint(*latest_checkpoint(folder)).weights);
  write_record(RunFolder{folder}.record(), running);
  EXPECT_EQ(step_of(folder, "end"), stopped.steps) << "the run has not ended";
  expect_end(run_in(folder, impatient()), stopped);
  // The run goes on from an earlier checkpoint if the last ones were not saved.
  for (const uint64_t kept : {stopped.steps - 1, stopped.steps - 2, stopped.best->step}) {
    for (uint64_t step = kept + 1; step <= stopped.steps; ++step) {
      std::filesystem::remove_all(folder / "checkpoints" / fmt::format("step-{:08}", step));
    }
    write_record(RunFolder{folder}.record(), running);
    expect_end(run_in(folder, impatient()), stopped);
  }
}

TEST_F(PatienceTest, EndsOnTheLastStepWhereTheBestIsNotKept) {
  const RunRecord without = run_in(fresh("without"), impatient({"checkpoint.best=false"}));
  ASSERT_EQ(without.status, RunStatus::kStopped);
  EXPECT_EQ(without.steps, without.best->step + 4);
  EXPECT_EQ(without.final->step, without.steps);
  EXPECT_EQ(without.stopped_because,
            fmt::format("stop.patience is 2 and the best evaluation was at step {}", without.best->step));
  EXPECT_EQ(step_of(fresh("without"), "end"), without.steps);
  // A run that gets its patience later may have no checkpoint of the best evaluation.
  const std::filesystem::path folder = fresh("late");
  const RunRecord stopped = run_in(folder, impatient());
  std::filesystem::remove_all(checkpoint_after(folder, stopped.best->step));
  write_record(RunFolder{folder}.record(), stopped);
  const RunRecord late = run_in(folder, impatient());
  EXPECT_EQ(late.final->step, late.steps);
  EXPECT_EQ(late.weights_sha256, without.weights_sha256);
}

}  // namespace
}  // namespace eggroll::test
