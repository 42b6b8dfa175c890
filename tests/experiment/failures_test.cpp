// Points that crash, hang, use up the memory or cannot run at all.
#include "experiment/sweep_command.h"

namespace eggroll::test {
namespace {

class SweepFailureTest : public SweepCommandTest {
 protected:
  void write_unruly(const std::string& does, const std::string& more = "") const {
    write_experiment("unruly",
                     "  product: [{union: [{points: [optimizer=sign_es]}, {product: [optimizer=unruly, "
                     "\"optimizer.does=" +
                         does + "\"]}]}]\n  limits: {seconds: " + limit_ + ", memory_gib: 0.5}\n" + more);
  }
  // Points that end by themselves have to end within the limit, on a busy machine too.
  static std::string limit_above(double seconds) { return std::to_string(std::max(6, static_cast<int>(20 * seconds))); }
  nlohmann::json failed(const std::string& does) const {
    const nlohmann::json record = record_in(point("unruly", "does=" + does));
    EXPECT_EQ(record.at("status"), "failed");
    EXPECT_EQ(record.at("sweep").at("axes").at("optimizer.does"), does);
    EXPECT_FALSE(record.at("failure").at("log").empty());
    return record;
  }

  std::string limit_ = "6";
};

TEST_F(SweepFailureTest, EachIsRecordedAndTheRestFinish) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  limit_ = limit_above(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  write_unruly("segfault,abort,eat,hang,nothing");
  const Result result = sweep("unruly", {"--jobs", "2"});
  expect_one_sentence(result, {"4 of 6 points failed (0001, 0002, 0003, 0004)", "--retry-failed"});
  EXPECT_THAT(result.out, HasSubstr("2 of 6 points done, 4 failed, 0 left"));
  EXPECT_EQ(failed("segfault").at("failure").at("detail"), "SIGSEGV");
  EXPECT_EQ(failed("segfault").at("failure").at("kind"), "signal");
  EXPECT_EQ(failed("abort").at("failure").at("detail"), "SIGABRT");
  EXPECT_EQ(failed("eat").at("failure").at("kind"), "memory");
  EXPECT_EQ(failed("eat").at("failure").at("detail"), "more than 0.5 GiB");
  EXPECT_EQ(failed("hang").at("failure").at("kind"), "time");
  EXPECT_EQ(failed("hang").at("failure").at("detail"), "more than " + limit_ + " s");
  EXPECT_THAT(failed("hang").at("error").get<std::string>(),
              HasSubstr("the process took more than " + limit_ + " s after step 2 and was killed"));
  EXPECT_EQ(record_in(point("unruly", "does=nothing")).at("status"), "completed");
  EXPECT_EQ(record_in(point("unruly", "sign_es")).at("status"), "completed");
}

TEST_F(SweepFailureTest, ABadValueIsRefusedBeforeAnythingRuns) {
  write_unruly("nothing,segfault", "");
  const Result result = sweep("unruly", {"train.members_per_stream=3"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("3 of 3 points cannot run, and nothing was begun"));
  EXPECT_THAT(result.err, HasSubstr("members_per_stream is 3, expected an even number"));
  EXPECT_FALSE(fs::exists(points("unruly")));
  EXPECT_EQ(list_points("unruly", {"train.members_per_stream=3"}).exit_code, 1);
}

// A damaged plugin is refused, because its code might still run and train other weights.
TEST_F(SweepFailureTest, AFrozenPluginThatIsDamagedIsNamed) {
  write_experiment("frozen", "  product:\n    - model.width=8,16\n");
  good(sweep("frozen"));
  fs::remove_all(point("frozen", "0001-"));
  const fs::path copies = fs::directory_iterator(work_ / "results" / "sweeps" / "frozen" / "plugins")->path();
  std::string bytes = read_file(copies / "reference.eggplugin");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_plainly(copies / "reference.eggplugin", bytes);
  const std::string folder = copies.lexically_relative(work_);
  expect_one_sentence(sweep("frozen"),
                      {folder + "/reference.eggplugin is missing or damaged", "delete the folder " + folder});
  fs::remove_all(copies);
  EXPECT_EQ(sweep("frozen").exit_code, 0);
}

TEST_F(SweepFailureTest, APluginThatEndsTheProcessWhenItIsOpenedIsNamed) {
  for (const auto& [does, ending] : {std::pair{"crash", "SIGSEGV"}, std::pair{"leave", "exit code 0"}}) {
    write_unruly(std::string("nothing,") + does);
    const Result result = sweep("unruly");
    expect_one_sentence(result, {"1 of 3 points cannot run", std::string("\"optimizer.does\":\"") + does, ending});
    EXPECT_FALSE(fs::exists(points("unruly")));
  }
}

TEST_F(SweepFailureTest, FailedPointsRunAgainWhenAsked) {
  write_unruly("abort");
  EXPECT_EQ(sweep("unruly").exit_code, 1);
  const std::string log = read_file(point("unruly", "does=abort") / "log.txt");
  const Result again = sweep("unruly");
  expect_one_sentence(again, {"1 of 2 points failed (0001)"});
  EXPECT_EQ(read_file(point("unruly", "does=abort") / "log.txt"), log);
  expect_one_sentence(sweep("unruly", {"--retry-failed"}), {"1 of 2 points failed (0001)"});
  EXPECT_GT(read_file(point("unruly", "does=abort") / "log.txt").size(), log.size());
}

TEST_F(SweepFailureTest, FailFastAndTheBreakerEndTheSweep) {
  write_experiment("unruly",
                   "  product: [optimizer=unruly, optimizer.does=abort]\n"
                   "  seeds: 6\n");
  expect_one_sentence(sweep("unruly", {"--fail-fast"}), {"a point failed: 1 of 6 points failed (0000)"});
  expect_one_sentence(sweep("unruly", {"--breaker", "2"}), {"2 points failed in a row: 3 of 6 points failed"});
  expect_one_sentence(sweep("unruly", {"--keep-going"}), {"eggroll: 6 of 6 points failed"});
}

TEST_F(SweepFailureTest, ARunThatSaysWhyItFailedKeepsItsWords) {
  write_experiment("unruly", "  product: [\"train.population=32,64\"]\n");
  ASSERT_EQ(sweep("unruly").exit_code, 0);
  // The journal is damaged, so the run fails with an error of its own.
  const fs::path folder = point("unruly", "0001-");
  fs::remove(folder / "record.json");
  write_plainly(folder / "journal.bin", "nonsense");
  const Result result = sweep("unruly");
  EXPECT_EQ(result.exit_code, 1);
  const nlohmann::json record = record_in(folder);
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_THAT(record.at("error").get<std::string>(), HasSubstr("journal.bin"));
}

TEST_F(SweepFailureTest, WhatAPointSaysIsPassedOn) {
  write_experiment("unruly", "  product: [\"train.population=32,64\"]\n");
  ASSERT_EQ(sweep("unruly").exit_code, 0);
  for (const char* name : {"0000-", "0001-"}) {
    fs::remove(point("unruly", name) / "record.json");
    fs::remove_all(point("unruly", name) / "checkpoints");
  }
  const Result result = good(sweep("unruly"));
  for (const char* name : {"0000-", "0001-"}) {
    EXPECT_THAT(result.err,
                HasSubstr(point("unruly", name).lexically_relative(work_).string() + " has a journal and no"));
  }
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
}

// A batch system asks a point to end, and not the sweep.
TEST_F(SweepFailureTest, PointsThatASignalEndedAreLeft) {
  write_experiment("unruly", "  product: [\"train.population=32\"]\n");
  Process runner(work_, with_own({"sweep", "experiment=unruly", "train.steps=100000"}));
  ASSERT_TRUE(runner.wait_until([&] {
    return fs::exists(points("unruly")) && !fs::is_empty(points("unruly")) && lines_in(point("unruly", "0000-")) > 5;
  }));
  const std::string owner = read_file(point("unruly", "0000-") / "lock");  // "pid 4711 on host x"
  ASSERT_EQ(owner.substr(0, 4), "pid ");
  ASSERT_EQ(::kill(std::stoi(owner.substr(4)), SIGTERM), 0);
  const Result result = runner.wait();
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("0 of 1 points done, 0 failed, 1 left\n"
                                    "a signal ended points that were left; the same command goes on with them\n"));
}

TEST_F(SweepFailureTest, TheBudgetSavesWhatRuns) {
  write_experiment("unruly", "  product: [\"train.population=32,64\"]\n  budget: {seconds: 1}\n", "");
  const Result result = sweep("unruly", {"train.steps=100000"});
  expect_one_sentence(result, {"sweep.budget is spent (1 seconds) with 0 of 2 points done", "to go on"});
  EXPECT_EQ(record_in(point("unruly", "0000-")).at("status"), "interrupted");
  write_experiment("unruly", "  product: [\"train.population=32,64\"]\n  budget: {steps: 45}\n", "");
  const Result steps = sweep("unruly", {"results.sweeps=steps", "train.steps=100000"});
  EXPECT_THAT(steps.err, HasSubstr("sweep.budget is spent (45 steps)"));
}

TEST_F(SweepFailureTest, StopRulesEndAPointWithAStatusOfItsOwn) {
  write_experiment("unruly", "  product: [\"train.population=32,64\"]\n", "stop: {tokens: 20000}\n");
  good(sweep("unruly"));
  const nlohmann::json record = record_in(point("unruly", "0000-"));
  EXPECT_EQ(record.at("status"), "stopped");
  EXPECT_EQ(record.at("stopped_because"), "stop.tokens is 20000 and 20480 member tokens were read");
  EXPECT_THAT(sweep("unruly").out, HasSubstr("2 of 2 points done"));
  // Without the limit the points go on to the weights of an undisturbed sweep.
  EXPECT_EQ(sweep("unruly", {"stop.tokens=null"}).exit_code, 0);
  EXPECT_EQ(sweep("unruly", {"stop.tokens=null", "results.sweeps=whole"}).exit_code, 0);
  EXPECT_EQ(weights("unruly"), weights("unruly", "whole"));
}

}  // namespace
}  // namespace eggroll::test
