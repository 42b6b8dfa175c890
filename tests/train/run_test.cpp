#include "train/run.h"

#include <gmock/gmock.h>

#include <vector>

#include "record/run_lock.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunTest : public SmallRunTest {
 protected:
  RunResult run(const ConfigNode& config, const RunHooks& hooks = {}) {
    return run_in_folder(
        config, [&](const ConfigNode&) { return path_; }, built_plugins(), Invocation{}, hooks);
  }

  const std::filesystem::path path_ = folder_ / "new" / "run";
};

TEST_F(RunTest, GoesFromItsConfigurationToItsRecord) {
  std::vector<std::string> told;
  RunHooks hooks;
  hooks.joined = [&](const Processes&) { told.emplace_back("joined"); };
  hooks.opened = [&](const eggroll::Setup&) { told.emplace_back(is_there(path_) ? "late" : "opened"); };
  hooks.begins = [&](const RunFolder& folder, const Processes&) {
    told.emplace_back("begins");
    EXPECT_EQ(folder.path, path_);
    EXPECT_TRUE(is_there(folder.config()));
    EXPECT_THAT(message_of([&] { const RunLock lock(folder.path); }), HasSubstr(path_.string()));
  };
  hooks.train.progress = [&](const Progress& progress) { told.push_back(std::to_string(progress.done.step)); };
  const RunResult result = run(small_config(), hooks);
  EXPECT_THAT(told, ElementsAre("opened", "begins", "1", "2", "3", "4", "5", "6"));
  EXPECT_EQ(result.record.status, RunStatus::kCompleted);
  EXPECT_EQ(result.folder.path, path_);
  EXPECT_EQ(result.steps, 6U);
  EXPECT_TRUE(result.leads);
  EXPECT_FALSE(result.ended_before);
  const RunLock free(path_);
}

TEST_F(RunTest, OneThatHasEndedIsNotRunAgain) {
  const RunResult first = run(small_config());
  RunHooks hooks;
  hooks.opened = [](const eggroll::Setup&) { ADD_FAILURE() << "it was opened to be run"; };
  const RunResult second = run(small_config(), hooks);
  EXPECT_TRUE(second.ended_before);
  EXPECT_EQ(record_to_json(second.record), record_to_json(first.record));
}

TEST_F(RunTest, OneThatWasStoppedGoesOnUnderOtherRules) {
  const ConfigNode stopped = small_config({"stop.tokens=129"});
  EXPECT_EQ(run(stopped).record.status, RunStatus::kStopped);
  EXPECT_TRUE(run(stopped).ended_before);
  const RunResult whole = run(small_config());
  EXPECT_FALSE(whole.ended_before);
  EXPECT_EQ(whole.record.status, RunStatus::kCompleted);
  EXPECT_EQ(whole.record.resumes, 1U);
}

TEST_F(RunTest, AFolderThatAnotherProcessHasIsRefused) {
  std::filesystem::create_directories(path_);
  const RunLock lock(path_);
  EXPECT_THAT(message_of([&] { run(small_config()); }), HasSubstr(path_.string()));
  EXPECT_FALSE(is_there(RunFolder{path_}.config()));
}

}  // namespace
}  // namespace eggroll::test
