// A run's journal gives its weights again, after any step.
#include "train/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class ReplayTest : public TrainerTest {
 protected:
  ReplayTest() : learner_(config_, built_plugins()) { run_in(fresh("run"), config_); }

  Replayed replay_with(uint64_t steps) const { return replay(learner_, config_, run_, steps); }
  std::string refusal(const ConfigNode& config, uint64_t steps = 0) const {
    const Learner learner(config, built_plugins());
    return message_of([&] { replay(learner, config, run_, steps); });
  }

  const RunFolder run_{folder_ / "run"};
  Learner learner_;
};

// tests/train/goes_on_test.cpp compares the weights at every checkpoint.
TEST_F(ReplayTest, DoesAsManyStepsAsAreAskedFor) {
  EXPECT_EQ(replay_with(0).steps, 6U);
  EXPECT_EQ(replay_with(5).steps, 5U);
  EXPECT_NE(weights_sha256(replay_with(5).weights), weights_sha256(replay_with(6).weights));
}

TEST_F(ReplayTest, RefusesMoreStepsThanThereAre) {
  EXPECT_EQ(refusal(config_, 7), fmt::format("the journal {} holds 6 steps, expected at least 7; ask for fewer steps, "
                                             "or let the run go on first",
                                             run_.journal().string()));
}

TEST_F(ReplayTest, RefusesAnotherConfiguration) {
  const std::string sentence =
      fmt::format("the journal {} belongs to another configuration; replay the run folder that it was written in",
                  run_.journal().string());
  EXPECT_EQ(refusal(small_config({"seed=1"})), sentence);
  EXPECT_EQ(refusal(small_config({"train.population=32"})), sentence);
  EXPECT_EQ(refusal(small_config({"backend.threads=2"})), "");
}

TEST_F(ReplayTest, RefusesADamagedOrMissingJournal) {
  const std::string whole = read_file(run_.journal());
  std::string damaged = whole;
  damaged[100] = static_cast<char>(damaged[100] ^ 1);
  write_plainly(run_.journal(), damaged);
  EXPECT_THAT(refusal(config_), HasSubstr("journal.bin is damaged at step 0"));
  // A torn last entry is no damage: the steps before it are replayed.
  write_plainly(run_.journal(), whole.substr(0, whole.size() - 3));
  EXPECT_EQ(replay_with(0).steps, 5U);
  std::filesystem::remove(run_.journal());
  EXPECT_THAT(refusal(config_), HasSubstr("cannot read " + run_.journal().string()));
}

}  // namespace
}  // namespace eggroll::test
