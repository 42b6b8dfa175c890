// eggroll fork, and runs that begin with the weights of another.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

class ForkTest : public CliTest {
 protected:
  ForkTest() {
    EXPECT_EQ(eggroll(tiny_run({"name=source", "checkpoint.keep=9"})).exit_code, 0);
    source_ = run_named("source").filename();
  }
  fs::path run_named(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(runs())) {
      if (entry.path().filename().string().starts_with(name + "-")) return entry.path();
    }
    return {};
  }
  std::string weights_of(const std::string& name) const { return record_in(run_named(name)).at("weights_sha256"); }

  std::string source_;
};

TEST_F(ForkTest, GoesOnFromAStepByTheRunsName) {
  const Result same = good(eggroll({"fork", source_ + "@20", "name=same"}));
  EXPECT_THAT(same.out, HasSubstr("goes on from "));
  EXPECT_EQ(weights_of("same"), weights_of("source"));
  EXPECT_EQ(steps_in(run_named("same")).front(), 20U);
  const nlohmann::json init = record_in(run_named("same")).at("config").at("init");
  EXPECT_EQ(init.at("run"), record_in(run_named("source")).at("config_hash"));
  EXPECT_EQ(init.at("step"), 20);

  const Result other = good(eggroll({"fork", source_, "name=other", "train.steps=60", "optimizer=es_adamw"}));
  EXPECT_EQ(steps_in(run_named("other")).front(), 40U);
  EXPECT_EQ(steps_in(run_named("other")).back(), 60U);
  EXPECT_THAT(eggroll({"replay", run_named("other").string()}).out, HasSubstr("replayed 60 steps"));
  // One more, from what is a fork itself.
  const Result next = good(eggroll({"fork", run_named("other").string() + "@60", "name=next", "train.steps=70"}));
  EXPECT_EQ(record_in(run_named("next")).at("config").at("optimizer").at("name"), "es_adamw");
}

// What ended the other run does not end its fork.
TEST_F(ForkTest, LeavesStopRulesBehindAndSaysSo) {
  EXPECT_EQ(eggroll(tiny_run({"name=stopped", "stop.steps=20"})).exit_code, 0);
  const Result fork = good(eggroll({"fork", run_named("stopped").string(), "name=on"}));
  EXPECT_THAT(fork.out,
              HasSubstr("the other run's stop rules are left behind (stop.steps=20); name them to keep them"));
  EXPECT_EQ(weights_of("on"), weights_of("source"));
  const Result kept = eggroll({"fork", run_named("stopped").string() + "@20", "name=kept", "stop.steps=30"});
  EXPECT_EQ(record_in(run_named("kept")).at("steps"), 30) << kept.err;
}

TEST_F(ForkTest, ItsMetricsAreWhole) {
  ASSERT_EQ(eggroll({"fork", source_ + "@20", "name=same"}).exit_code, 0);
  EXPECT_THAT(said(eggroll({"export", run_named("same").string(), "--csv", "all.csv"})), Not(HasSubstr("missing")));
}

TEST_F(ForkTest, KilledItGoesOnToTheSameWeights) {
  const Arguments forking = {"fork", source_ + "@20", "train.steps=400", "checkpoint.every=10"};
  const auto with_name = [&](const std::string& name) { return command(joined(forking, {"name=" + name})); };
  for (int i = 1; i <= 3; ++i) {
    Process process(work_, with_name("killed"));
    const size_t lines = lines_in(run_named("killed"));
    ASSERT_TRUE(process.wait_until([&] { return lines_in(run_named("killed")) > lines + 30; }));
    process.signal(SIGKILL);
    process.wait();
  }
  ASSERT_EQ(Process(work_, with_name("killed")).wait().exit_code, 0);
  ASSERT_EQ(Process(work_, with_name("whole")).wait().exit_code, 0);
  EXPECT_EQ(weights_of("killed"), weights_of("whole"));
  EXPECT_EQ(steps_in(run_named("killed")), steps_in(run_named("whole")));
}

TEST_F(ForkTest, ASweepBeginsWithTheWeightsOfARun) {
  write_own("branches", "defaults:\n  - count\n  - _self_\nname: branches\ninit: {from: \"" + source_ +
                            "@20\", continue: true}\nsweep:\n  product: [\"train.steps=30,40\"]\n");
  Arguments sweep = tiny_run({"results.sweeps=sweeps"});
  std::erase(sweep, "train.steps=40");
  sweep[0] = "sweep";
  sweep[1] = "experiment=branches";
  const Result result = good(own(sweep));
  EXPECT_THAT(result.out, HasSubstr("\nfewest held-out bits of 2 settings: "));
  EXPECT_THAT(result.out, EndsWith("\nsee all: eggroll report sweeps/branches\n"));
  std::vector<std::string> weights;
  for (const auto& point : fs::directory_iterator(work_ / "sweeps" / "branches" / "points")) {
    EXPECT_EQ(steps_in(point.path()).front(), 20U);
    weights.push_back(record_in(point.path()).at("weights_sha256"));
  }
  EXPECT_EQ(weights.size(), 2U);
  EXPECT_THAT(weights, Contains(weights_of("source")));
}

// Paths of data are those that the run began with, wherever the fork is begun, and a name may hold any character.
TEST_F(ForkTest, TheFolderItIsBegunFromDoesNotMatter) {
  const fs::path text = work_ / "a \\ \"${x}\" @";
  fs::create_directories(text);
  write_plainly(text / "text", std::string(4000, 'a'));
  const Arguments begin = command(text_run_with(
      {"train.steps=20", "checkpoint.every=10", "eval.every=10", "eval.tokens=64", "eval.streams=1", "name=text"}, {}));
  ASSERT_EQ(Process(text, begin).wait().exit_code, 0);
  const fs::path run = fs::directory_iterator(text / "results" / "runs")->path();
  const Result forked = good(eggroll({"fork", run.string() + "@10", "name=forked"}));
  EXPECT_EQ(weights_of("forked"), record_in(run).at("weights_sha256"));
}

TEST_F(ForkTest, RefusesInASentence) {
  refuses({"fork", source_, "init.continue=false"}, {"'init.continue=false' is for eggroll run", "leave it out"});
  refuses(tiny_run({"init.from=12345678"}), {"init.from is the integer 12345678", "RUN@last"});
  refuses({"fork", source_ + "@25"}, {"keeps no checkpoint after 25 steps", "expected one of: 10"});
  refuses({"fork", "nothing"}, {"nothing is no run", "eggroll ls"});
  refuses({"sweep", "experiment=count-convergence", "init.from=" + source_ + "@best"},
          {"expected a step in a sweep", "RUN@800"});
  refuses({"fork", source_, "train.steps=40"}, {"train.steps is 40", "goes on from step 40", "set train.steps"});
  refuses(tiny_run({"init.from=" + source_, "model.width=32"}), {"init.from", "model settings"});
  // The run's own settings cannot be composed where the files give others.
  for (const char* folder : {"configs", "experiments"}) {
    fs::create_directories(work_ / "changed" / folder);
    fs::copy(fs::path(EGGROLL_SOURCE_DIR) / folder, work_ / "changed" / folder, fs::copy_options::recursive);
  }
  std::string config = read_file(work_ / "changed" / "configs" / "config.yaml");
  config.replace(config.find("\nseed: 0"), 8, "\nseed: 1");
  write_plainly(work_ / "changed" / "configs" / "config.yaml", config);
  const Result result =
      Process(work_, {EGGROLL_BIN_DIR "/eggroll", "--config-dir", "changed/configs", "fork", source_ + "@20"}).wait();
  expect_one_sentence(result, {"the configuration files have changed", "init.continue=true"});
}

}  // namespace
}  // namespace eggroll::test
