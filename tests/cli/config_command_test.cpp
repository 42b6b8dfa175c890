// Numbers, maps and deletions of a configuration as commands read them, and `eggroll config`.
#include <map>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

// A number is read into one form, so both spellings name one run.
TEST_F(CliTest, ARealWithoutAFractionNamesTheSameRun) {
  EXPECT_EQ(eggroll(tiny_run({"train.steps=3", "noise.rank=4", "stop.tokens=1000000"})).exit_code, 0);
  EXPECT_THAT(good(eggroll(tiny_run({"train.steps=3e0", "noise.rank=4.0", "stop.tokens=1e6"}))).out,
              HasSubstr("this run is finished already"));
}

TEST_F(CliTest, AMapNeedsNoBlanks) {
  const std::string list = "optimizer.schedule.steps.milestones=";
  const auto with = [&](const std::string& value) {
    return eggroll(tiny_run({"optimizer=es_sgd", "optimizer.schedule.kind=steps", "train.steps=3", list + value}));
  };
  expect_one_sentence(with("[{step:300}]"), {list + "[{step:300}]", "missing key", "milestones.0.factor"});
  good(with("[{step:2,factor:0.5}]"));
}

// At first the test's folder is empty: it has neither experiments nor configs.
TEST_F(CliTest, AFolderMayHoldOnlyExperimentsOrOnlyConfigs) {
  const Arguments mine = {"config", "experiment=mine"};
  refuses(mine, {"experiment has no option 'mine' in", "/experiments (found: "});
  fs::create_directories(work_ / "experiments");
  write_plainly(work_ / "experiments/mine.yaml", "defaults: [count, _self_]\nname: mine\n");
  EXPECT_THAT(good(eggroll(mine)).out, HasSubstr("name: mine"));
  refuses({"config", "experiment=other"}, {"experiment has no option 'other' in", ", experiments (found: "});
  fs::remove_all(work_ / "experiments");
  fs::create_directories(work_ / "configs/fitness");
  fs::copy_file(EGGROLL_SOURCE_DIR "/configs/fitness/sign.yaml", work_ / "configs/fitness/own.yaml");
  EXPECT_EQ(eggroll({"config", "experiment=count", "fitness=own"}).exit_code, 0);
  refuses(mine, {"experiment has no option 'mine' in"});
  // A file in place of the folder has no options.
  write_plainly(work_ / "experiments", "");
  EXPECT_EQ(eggroll({"config", "experiment=count"}).exit_code, 0);
}

TEST_F(CliTest, SeveralValuesWhereOneIsExpected) {
  const std::string one =
      "write one of them, a list as [a, b], or text in quotes that the shell keeps: 'key=\"a, b\"'\n";
  const std::string axis = "put them into sweep.product, sweep.seeds or sweep.search.params to try each, or ";
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::vector<std::pair<Arguments, std::string>> commands = {
      {{"run", "experiment=count"}, "add --multirun to run each, or "},
      {{"points", "experiment=count-convergence"}, axis},
      {{"sweep", "experiment=count"}, axis},
      {{"config", "experiment=count"}, ""},
      {{"show", "experiment=count"}, ""},
      {{"fork", run_folder().string(), "train.steps=50"}, ""}};
  for (const auto& [command, first] : commands) {
    for (const char* several : {"noise.rank=1,2", "fitness=choice(sign)", "seed=range(2)"}) {
      refuses(joined(command, {several}),
              {"command line '" + std::string(several) + "': several values, expected one; " + first + one});
    }
  }
}

TEST_F(CliTest, OtherFaultsAreReportedBeforeSeveralValues) {
  for (const char* command : {"run", "config", "show", "points", "sweep"}) {
    refuses({command, "experiment=count", "noise.rnk=1,2"}, {"has no key 'rnk'"});
    refuses({command, "experiment=count", "noise.rank=interval(1, 2)"}, {"an interval, expected values"});
  }
  refuses({"run", "experiment=count", "plugins.path=a,b"}, {"plugins.path is a list", "give a list"});
  refuses({"run", "--multirun", "experiment=count-convergence", "seed=1,2"},
          {"the experiment is a sweep; run it with eggroll sweep"});
}

TEST_F(CliTest, AnUnknownKeyGetsNoHintToAddIt) {
  for (const char* key : {"optimizer.lr", "optmizer", "tags", "train.stepz"}) {
    const Result refused = eggroll(tiny_run({std::string(key) + "=1"}));
    expect_one_sentence(refused, {key, "has no key"});
    EXPECT_EQ(refused.err.find('+'), std::string::npos) << refused.err;
  }
}

TEST_F(CliTest, ADeletedKeyIsSaidToBeDeleted) {
  for (const char* key :
       {"train.steps", "train.members_per_stream", "optimizer", "optimizer.name", "seed", "plugins"}) {
    const std::string by = "command line '~" + std::string(key) + "' deleted it";
    refuses(tiny_run({"~" + std::string(key)}), {by});
  }
}

TEST_F(CliTest, ConfigRefusesWhatARunWouldRefuse) {
  fs::create_directories(work_ / "mine" / "configs");
  fs::create_directories(work_ / "mine" / "experiments");
  write_plainly(work_ / "mine/experiments/misspelt.yaml", "nam: x\n");
  write_plainly(work_ / "mine/experiments/below.yaml", "train: {step: 5}\n");
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"seed=-1", {"seed is -1", "expected an integer of at least 0"}},
      {"name=../../evil", {"name is '../../evil'", "expected 1 to 80 letters"}},
      {"plugins.path=[a,[b,c]]", {"command line 'plugins.path=[a,[b,c]]'"}},
      {"plugins.path=[[b,c]]", {"found a list, expected text"}},
      {"+plugins.pth=[]", {"unknown key 'pth'", "did you mean 'path'?"}},
      {"+results.drr=x", {"unknown key 'drr'", "did you mean 'dir'?"}},
      {"experiment=misspelt", {"misspelt.yaml:1", "unknown key 'nam'", "did you mean 'name'?"}},
      {"experiment=below", {"below.yaml:1", "unknown key 'train.step'", "did you mean 'steps'?"}},
      {"model.width=0", {"model.width is 0", "expected an integer from 1 to 16384"}},
      {"model.rounding=up", {"model.rounding is 'up'", "expected one of floor, nearest"}},
      {"train.steps=0", {"train.steps is 0", "expected an integer of at least 1"}},
      {"eval.every=0", {"eval.every is 0"}},
      {"fitness.clip=0", {"fitness.clip is 0"}},
      {"dataset.valid_fraction=1.5", {"dataset.valid_fraction is 1.5", "above 0 and below 1"}},
      {"processes.name=mpo", {"unknown processes", "mpo"}},
      {"optimizer.name=sgd", {"unknown optimizer 'sgd'"}},
  };
  for (const auto& [change, fragments] : cases) {
    for (const char* command : {"config", "run"}) {
      refuses({"--config-dir", "mine/configs", command, change}, fragments);
    }
  }
}

TEST_F(CliTest, ConfigOpensNoDataAndAcceptsWhatRuns) {
  for (const Arguments& accepted :
       {Arguments{"config"}, {"config", "dataset.path=nowhere"}, {"config", "experiment=count"}})
    said(eggroll(accepted));
  refuses({"run", "experiment=plain", "dataset.path=nowhere"}, {"which does not exist"});
}

// `config` checks the first point only; `points` checks each.
TEST_F(CliTest, ConfigChecksASweepsPoint) {
  for (const char* name : {"fitness", "optimizer", "rank", "draws"}) {
    good(eggroll({"config", std::string("experiment=") + name, "backend=reference"}));
  }
  refuses({"config", "experiment=fitness", "backend=reference", "train.members_per_stream=3"},
          {"train.members_per_stream is 3", "expected an even number"});
}

TEST_F(CliTest, AFolderOfPluginsThatIsNotThereIsRefused) {
  for (const char* command : {"run", "config", "show"}) {
    refuses({command, "experiment=count", "plugins.path=[absent]"},
            {"command line 'plugins.path=[absent]'", "/absent', which does not exist",
             "expected a folder with *.eggplugin files", "correct or remove it"});
  }
}

TEST_F(CliTest, AFileInPlaceOfAFolderOfPluginsIsRefused) {
  write_plainly(work_ / "a_file", "");
  const std::string plugin = EGGROLL_BIN_DIR "/plugins/reference.eggplugin";
  for (const std::string& file : {std::string("a_file"), plugin}) {
    for (const char* command : {"run", "config", "show"}) {
      refuses({command, "experiment=count", "plugins.path=[" + file + "]"},
              {"plugins.path=[" + file + "]'", file + "', which is no folder",
               "expected a folder with *.eggplugin files", "correct or remove it"});
    }
  }
  EXPECT_EQ(run_folder(), "");
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  refuses({"replay", run_folder().string(), "--plugins", plugin},
          {"--plugins is '" + plugin + "', which is no folder", "leave it out"});
  refuses({"sample", run_folder().string(), "--plugins", "nowhere"},
          {"--plugins is 'nowhere', which does not exist, expected a folder of plugins"});
}

// A run goes on although a folder that its configuration names is gone.
TEST_F(CliTest, ResumeDoesWithoutAFolderOfPlugins) {
  fs::create_directory(work_ / "extra");
  ASSERT_EQ(stopped(tiny_run({"train.steps=4000", "plugins.path=[extra]"}), 2).exit_code, 130);
  fs::remove(work_ / "extra");
  EXPECT_EQ(stopped({"resume", run_name()}, 2).exit_code, 130);
}

// The message gives the reason that CMake gave when it left the backend out.
TEST_F(CliTest, TheMessageSaysWhyThisBuildLacksABackend) {
  const bool is_arm = fs::exists(EGGROLL_BIN_DIR "/plugins/neon.eggplugin");
  const std::map<std::string, std::string> reasons = {
      is_arm ? std::pair{"avx2", "it needs an x86-64 processor, this build is for "}
             : std::pair{"neon", "it needs a 64-bit ARM processor, this build is for "},
      {"metal", "it needs macOS 14 or later on Apple Silicon, this build is for Linux"}};
  for (const auto& [name, reason] : reasons) {
    const Result refused = eggroll(tiny_run({"backend=" + name}));
    expect_one_sentence(refused,
                        {"command line 'backend=" + name + "'", "the backend '" + name + "' is not here: " + reason,
                         "choose another", "reference", "or auto"});
    EXPECT_EQ(refused.err.find(".yaml"), std::string::npos) << refused.err;
  }
}

TEST_F(CliTest, ABuildWithoutCudaSaysWhyAndHowToHaveIt) {
  if (fs::exists(EGGROLL_BIN_DIR "/plugins/cuda.eggplugin")) GTEST_SKIP() << "this build has the backend cuda";
  const Result refused = eggroll(tiny_run({"backend=cuda"}));
  expect_one_sentence(refused, {"the backend 'cuda' is not here: ", "configure", "choose another"});
  EXPECT_THAT(refused.err, testing::AnyOf(HasSubstr("-DCMAKE_CUDA_COMPILER="), HasSubstr("EGGROLL_SANITIZE")));
}

}  // namespace
}  // namespace eggroll::test
