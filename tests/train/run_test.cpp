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

// The same settings give other numbers now, so what is there is not their result.
TEST_F(RunTest, OneThatOtherArithmeticMadeIsRefused) {
  const RunRecord whole = run(small_config()).record;
  const auto refusal_of = [&](const std::function<void(RunRecord&)>& change) {
    RunRecord record = whole;
    change(record);
    write_record(RunFolder{path_}.record(), record);
    const std::string text = message_of([&] { run(small_config()); });
    EXPECT_EQ(record_to_json(read_record(RunFolder{path_}.record())), record_to_json(record));
    return text;
  };
  const std::string begin = "the run in " + path_.string() + " has ended, and was made with another ";
  const std::string end =
      "), so that it is not taken as done; remove that folder to run it again, or give another "
      "name or another folder of results";
  EXPECT_EQ(refusal_of([](RunRecord& record) { record.environment.spec_hash = "0123456789abcdef"; }),
            begin + "op set or noise (its hash is 0123456789abcdef, today's " + whole.environment.spec_hash + end);
  EXPECT_EQ(refusal_of([](RunRecord& record) { record.program_hash = "one"; }),
            begin + "model program (its hash is one, today's " + *whole.program_hash + end);
  EXPECT_EQ(refusal_of([](RunRecord& record) { record.rule_hash = "two"; }),
            begin + "update rule (its hash is two, today's " + *whole.rule_hash + end);
}

// A backend gives the same bits whatever it was built from.
TEST_F(RunTest, OneThatOtherBuildsMadeIsSpokenOf) {
  RunRecord record = run(small_config()).record;
  EXPECT_EQ(run(small_config()).other_builds, "");
  std::string names;
  for (PluginRecord& plugin : record.plugins) {
    plugin.sha256 = "another";
    if (plugin.kind != "backend") names += (names.empty() ? "" : ", ") + plugin.name;
  }
  write_record(RunFolder{path_}.record(), record);
  const RunResult again = run(small_config());
  EXPECT_TRUE(again.ended_before);
  EXPECT_EQ(again.other_builds, names);
  EXPECT_THAT(names, HasSubstr(", "));
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
