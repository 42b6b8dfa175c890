// Numbers, maps and deletions of a configuration as commands read them, and `eggroll config`.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

// One number has one form, and so one run.
TEST_F(CliTest, ARealWithoutAFractionNamesTheSameRun) {
  EXPECT_EQ(eggroll(tiny_run({"train.steps=3", "noise.rank=4", "stop.tokens=1000000"})).exit_code, 0);
  const Result again = eggroll(tiny_run({"train.steps=3e0", "noise.rank=4.0", "stop.tokens=1e6"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("this run is finished already"), std::string::npos) << again.out;
}

TEST_F(CliTest, AMapNeedsNoBlanks) {
  const std::string list = "optimizer.schedule.steps.milestones=";
  const Arguments base = {"run", "experiment=count", "optimizer=es_sgd", "optimizer.schedule.kind=steps"};
  const auto with = [&](const std::string& value) {
    Arguments arguments = base;
    arguments.insert(arguments.end(), {"model.width=16", "train.population=32", "train.steps=3", list + value});
    return eggroll(arguments);
  };
  expect_one_sentence(with("[{step:300}]"), {list + "[{step:300}]", "missing key", "milestones.0.factor"});
  const Result good = with("[{step:2,factor:0.5}]");
  EXPECT_EQ(good.exit_code, 0) << good.err;
}

TEST_F(CliTest, OnlyRunSpeaksOfMultirun) {
  for (const char* command : {"run", "config", "plan", "sweep", "show"}) {
    const Result refused = eggroll({command, "experiment=count", "seed=1,2"});
    expect_one_sentence(refused, {"command line 'seed=1,2': several values, expected one"});
    EXPECT_EQ(refused.err.find("--multirun") != std::string::npos, std::string(command) == "run") << refused.err;
  }
}

TEST_F(CliTest, AHintLeadsToNoFurtherRefusal) {
  for (const char* key : {"optimizer.lr", "optmizer", "tags", "train.stepz"}) {
    const Result refused = eggroll(tiny_run({std::string(key) + "=1"}));
    expect_one_sentence(refused, {key, "has no key"});
    EXPECT_EQ(refused.err.find('+'), std::string::npos) << refused.err;
  }
}

TEST_F(CliTest, ADeletedKeyIsSaidToBeDeleted) {
  for (const char* key : {"train.steps", "train.group", "optimizer", "optimizer.name", "seed", "plugins"}) {
    const std::string by = "command line '~" + std::string(key) + "' deleted it";
    expect_one_sentence(eggroll(tiny_run({"~" + std::string(key)})), {by});
  }
}

}  // namespace
}  // namespace eggroll::test
