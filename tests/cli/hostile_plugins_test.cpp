// Plugins that crash, or print or write at forbidden places: the commands go on without them, or name the plugin.
#include <fmt/format.h>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

class HostilePluginsTest : public CliTest {
 protected:
  // A folder of plugins that a test names, outside of what the commands work in.
  fs::path mine(const std::vector<std::string>& names) const {
    const fs::path folder = folder_ / "mine";
    fs::create_directory(folder);
    for (const std::string& name : names) {
      const std::string file = name + ".eggplugin";
      fs::copy_file(fs::path(EGGROLL_ABI_PLUGINS) / name / file, folder / file);
    }
    return folder;
  }

  static Arguments with_path(const fs::path& folder, const Arguments& arguments) {
    return command_with("EGGROLL_PLUGIN_PATH=" + folder.string(), arguments);
  }
  Result run_with(const fs::path& folder, const Arguments& arguments) const {
    return Process(work_, with_path(folder, arguments)).wait();
  }

  // The command of a run whose backend has this fault.
  static Arguments hostile_backend(const std::string& fault) {
    return tiny_run({"backend.name=hostile_backend", "+backend.fault=" + fault});
  }

  // The run ends with this sentence, which its record holds too.
  void expect_ends(const fs::path& folder, const Arguments& run, const std::string& sentence) const {
    SCOPED_TRACE(run.back() + ": " + sentence);
    const Result result = run_with(folder, run);
    expect_one_sentence(result, {sentence});
    const auto record = record_in(run_folder());
    EXPECT_EQ(record.at("status"), "failed");
    EXPECT_EQ("eggroll: " + record.at("error").get<std::string>() + "\n", result.err);
    fs::remove_all(runs());
  }

  // The command of a run whose optimizer has this fault.
  Arguments hostile_run(const std::string& fault, const Arguments& more = {}) const {
    scratch_.put("configs/optimizer/hostile_rule.yaml", "name: hostile_rule\nfault: none\n");
    return joined(tiny_run({"--config-dir", (folder_ / "configs").string(), "optimizer=hostile_rule",
                            "~optimizer.schedule", "optimizer.fault=" + fault}),
                  more);
  }
};

// Nothing can be saved then, but the plugin is named.
TEST_F(HostilePluginsTest, ThatCrashWhileTheyAreOpenedAreNamed) {
  const Result result = run_with(mine({"crashes_in_open"}), tiny_run({"model.name=crashes_in_open"}));
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_THAT(result.err, testing::MatchesRegex("eggroll: model 'crashes_in_open' crashed in open\\(\\) "
                                                "\\(.*/crashes_in_open.eggplugin\\); fix the plugin, or choose "
                                                "another\n"));
}

TEST_F(HostilePluginsTest, ThatCrashAreListedAndDoNotKeepOthersFromWork) {
  const fs::path folder = mine({"crashes_in_constructor", "crashes_in_probe", "exits_in_constructor", "shouts"});
  const std::string listed = said(run_with(folder, {"plugins"}));
  const auto rejected = [&](const std::string& who, const std::string& name, const std::string& reason) {
    const std::string path = (folder / (name + ".eggplugin")).string();
    EXPECT_THAT(listed, HasSubstr(fmt::format("\nrejected {}\n  {}\n  {}: {}\n", who, path, path, reason)));
  };
  rejected("file", "crashes_in_constructor", "ended the process that loaded it with SIGSEGV; fix or remove it");
  rejected("model 'crashes_in_probe'", "crashes_in_probe",
           "model 'crashes_in_probe' ended the process that probed it with SIGABRT; fix or remove it");
  rejected("file", "exits_in_constructor", "ended the process that loaded it with exit code 0; fix or remove it");
  EXPECT_THAT(listed, HasSubstr("accepted model 'shouts'"));
  EXPECT_THAT(listed, Not(HasSubstr("SHOUTED")));

  for (const Arguments& arguments :
       {tiny_run(), tiny_run({"backend=auto", "seed=1"}), Arguments{"show"}, Arguments{"check", "sign_es"}}) {
    EXPECT_THAT(said(run_with(folder, arguments)), Not(HasSubstr("SHOUTED")));
  }
  expect_one_sentence(run_with(folder, {"check", (folder / "crashes_in_probe.eggplugin").string()}),
                      {"model 'crashes_in_probe' ended the process that probed it with SIGABRT"});
  expect_one_sentence(run_with(folder, tiny_run({"model.name=crashes_in_constructor"})),
                      {"crashes_in_constructor.eggplugin: ended the process that loaded it with SIGSEGV"});
}

TEST_F(HostilePluginsTest, AnOptimizerThatWritesBehindItsScalarsIsNamedByCheckAndByRun) {
  const fs::path folder = mine({"hostile_rule"});
  const std::string sentence =
      "optimizer 'hostile_rule' wrote outside the buffer of 1 scalars in scalars(); fix the plugin";
  expect_one_sentence(run_with(folder, hostile_run("writes_behind")), {sentence});
  const auto record = record_in(run_folder());
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_EQ(record.at("error"), sentence);

  write_plainly(folder_ / "configs" / "optimizer" / "hostile_rule.yaml", "name: hostile_rule\nfault: writes_behind\n");
  const Result checked = run_with(folder, {"check", "hostile_rule", "--config-dir", (folder_ / "configs").string()});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.out, HasSubstr("       " + sentence + "\n"));
}

// The fault is found before the first step, when a run has nothing to lose, or in the first step that shows it.
TEST_F(HostilePluginsTest, NamesAndNumbersThatNoFileTakesAreRefused) {
  const fs::path folder = mine({"hostile_rule"});
  expect_one_sentence(run_with(folder, hostile_run("scalar_no_text")),
                      {"the optimizer's rule is wrong: ", "the name 'lr\xef\xbf\xbd'"});
  EXPECT_EQ(entries_in(work_), 0U);
  expect_one_sentence(run_with(folder, hostile_run("nan")),
                      {"optimizer 'hostile_rule' gave nan as the scalar 'rate' of step 3"});
  EXPECT_EQ(steps_in(run_folder()), each_step_once(3));
}

// A value that no file may hold is found where it appears, at an evaluation or at a checkpoint.
TEST_F(HostilePluginsTest, WeightsStatesAndSlotsThatAreNoneEndTheRun) {
  const fs::path folder = mine({"hostile_backend", "hostile_rule"});
  const auto expect_failed = [&](const Arguments& run, const std::string& sentence) {
    const Arguments early_evaluation = {"eval.every=5", "checkpoint.every=100"};
    const Arguments early_checkpoint = {"eval.every=100", "checkpoint.every=5"};
    for (const Arguments& first : {early_evaluation, early_checkpoint}) {
      // The states are read only for a checkpoint.
      if (first == early_evaluation && sentence.find("the states") != std::string::npos) continue;
      expect_ends(folder, joined(run, first), sentence + " after 5 steps, expected ");
    }
  };
  expect_failed(hostile_backend("weight"), "-128 at position 1");
  expect_failed(hostile_backend("state"), "backend 'hostile_backend' gave the states a -128 at position 0");
  expect_failed(hostile_run("nan_slot"), "at position 0");
}

TEST_F(HostilePluginsTest, LossesAndCountsThatCannotBeEndTheRun) {
  const fs::path folder = mine({"hostile_backend"});
  for (const auto& [fault, sentence] :
       {std::pair{"loss_below", "gave -1 as the loss at position 2 in evaluate(), expected 0 to "},
        std::pair{"loss_above", "gave 1099511627776 as the loss at position 2 in evaluate(), expected 0 to "},
        std::pair{"loss_missing", "gave -1 as the loss at position 31 in evaluate(), expected 0 to "},
        std::pair{"inferred_below", "gave -7 as the loss at position 0 in infer(), expected 0 to "},
        std::pair{"changed_below", "gave -1 as the count of changed weights of the tensor '"},
        std::pair{"changed_above", ", expected 0 to 256; use another backend or fix the plugin"}}) {
    expect_ends(folder, hostile_backend(fault), sentence);
  }
  // The losses of many members are prepared during the update before.
  const Arguments many = {"train.population=131072", "train.members_per_stream=1024"};
  expect_ends(folder, joined(hostile_backend("loss_missing"), many),
              "gave -1 as the loss at position 131071 in evaluate(), expected 0 to ");
}

// Only the user decides whose code is loaded, even if another user owns the folder of a run.
TEST_F(HostilePluginsTest, ARunsOwnConfigurationLoadsNoPlugin) {
  const fs::path folder = mine({"hostile_rule", "shouts"});
  const std::string path = "plugins.path=[" + folder.string() + "]";
  ASSERT_EQ(eggroll(hostile_run("none", {path})).exit_code, 0);
  const std::string run = run_folder().string();

  const Arguments fork = {"--config-dir", (folder_ / "configs").string(), "fork", run, "train.steps=50"};
  for (const Arguments& arguments :
       {Arguments{"sample", run}, Arguments{"replay", run}, Arguments{"resume", run}, fork}) {
    SCOPED_TRACE(arguments.front());
    refuses(arguments, {"unknown optimizer 'hostile_rule'",
                        "(for a plugin of your own: give its folder with --plugins DIR or EGGROLL_PLUGIN_PATH)",
                        folder.string() +
                            " (plugins.path of the run) is searched "
                            "only if you allow it: --plugins " +
                            folder.string()});
    good(eggroll(joined(arguments, {"--plugins", folder.string()})));
    good(run_with(folder, arguments));  // named by the environment
  }
  // This folder has neither the model nor a backend.
  refuses({"resume", run, "--only-plugins", folder.string()},
          {"unknown model 'gru'",
           "(for a plugin of your own: give its folder with --plugins DIR in place of --only-plugins)"});
}

// The folders that every command searches do not have the option that this run names.
TEST_F(HostilePluginsTest, AForkNamesTheFolderOfConfigurationThatItLacks) {
  const fs::path folder = mine({"hostile_rule"});
  ASSERT_EQ(run_with(folder, hostile_run("none")).exit_code, 0);
  expect_one_sentence(run_with(folder, {"fork", run_folder().string(), "train.steps=50"}),
                      {"the settings of the run in " + run_folder().string() + " cannot be composed again: ",
                       "optimizer has no option 'hostile_rule' in ",
                       "; give the folder of its configuration with --config-dir DIR (it began with --config-dir ",
                       (folder_ / "configs").string() + ")\n"});
}

// Without a message, another plugin or none would be taken. `eggroll plugins` lists the folder (InspectTest).
TEST_F(HostilePluginsTest, AMissingFolderOfTheEnvironmentIsRefused) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string run = run_folder().string();
  for (const Arguments& arguments :
       {tiny_run({"seed=1"}), Arguments{"resume", run}, Arguments{"fork", run}, Arguments{"sample", run},
        Arguments{"replay", run}, Arguments{"eval", run}, Arguments{"check", "sign_es"}, Arguments{"show"},
        Arguments{"sweep", "experiment=count-convergence"}}) {
    SCOPED_TRACE(arguments.front());
    expect_one_sentence(run_with("/does/not/exist", arguments),
                        {"EGGROLL_PLUGIN_PATH has '/does/not/exist', which does not exist", "correct or remove it"});
  }
  EXPECT_EQ(entries_in(runs()), 1U);
}

// The folders are those of `eggroll new`: PLUGIN/build/NAME.eggplugin and PLUGIN/configs.
TEST_F(HostilePluginsTest, CheckFindsTheSettingsBesideAPlugin) {
  const fs::path plugin = folder_ / "hostile_rule";
  fs::create_directory(plugin);
  fs::rename(mine({"hostile_rule"}), plugin / "build");
  const fs::path file = plugin / "build" / "hostile_rule.eggplugin";
  const std::vector<std::pair<fs::path, std::string>> places = {
      {plugin, "hostile_rule"}, {folder_, "hostile_rule"}, {plugin / "build", "hostile_rule"}, {work_, file.string()}};
  for (const auto& [place, named] : places) {
    expect_one_sentence(Process(place, command({"check", named})).wait(),
                        {"the settings of the optimizer 'hostile_rule' are missing, expected "
                         "optimizer/hostile_rule.yaml in one of: ",
                         (plugin / "configs").string() + "; give the folder that holds it: --config-dir DIR"});
  }
  fs::create_directories(plugin / "configs" / "optimizer");
  write_plainly(plugin / "configs" / "optimizer" / "hostile_rule.yaml", "name: hostile_rule\nfault: none\n");
  for (const auto& [place, named] : places) {
    const Result result = Process(place, command({"check", named})).wait();
    EXPECT_THAT(result.out, HasSubstr("optimizer 'hostile_rule': ")) << result.err;
  }
}

// exit(0) would look like success.
TEST_F(HostilePluginsTest, ThatEndTheProgramAreNamed) {
  const fs::path folder = mine({"hostile_rule"});
  expect_one_sentence(run_with(folder, hostile_run("exits")),
                      {"optimizer 'hostile_rule' ended the program with exit() in scalars(); fix the plugin"});
  for (const std::string fault : {"crashes", "overflows"}) {
    const Result crashed = run_with(folder, hostile_run(fault, {"seed=1"}));
    EXPECT_EQ(crashed.signal, SIGSEGV);
    EXPECT_EQ(crashed.err,
              "eggroll: optimizer 'hostile_rule' crashed in scalars(); fix the plugin, or choose another\n");
  }

  const auto check_with = [&](const std::string& fault) {
    write_plainly(folder_ / "configs" / "optimizer" / "hostile_rule.yaml", "name: hostile_rule\nfault: " + fault);
    return run_with(folder, {"check", "hostile_rule", "--config-dir", (folder_ / "configs").string()});
  };
  expect_one_sentence(check_with("exits"),
                      {"optimizer 'hostile_rule' ended the program with exit() in scalars(); fix the plugin"});
  for (const std::string fault : {"crashes", "overflows"}) {
    EXPECT_EQ(check_with(fault).err,
              "eggroll: optimizer 'hostile_rule' crashed in scalars(); fix the plugin, or choose another\n");
  }
}

// The command that an interrupted run prints works as it is.
TEST_F(HostilePluginsTest, AnInterruptedRunNamesTheFoldersOfPluginsThatItWasGiven) {
  const fs::path folder = mine({"hostile_rule"});
  const fs::path spaced = folder_ / "my plugins";
  fs::rename(folder, spaced);
  const Arguments longer = {"train.steps=1000000"};
  const auto interrupt = [&](Process& process) {
    const size_t before = lines_in(run_folder());
    EXPECT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > before + 2; }));
    process.signal(SIGTERM);
    const Result result = process.wait();
    EXPECT_EQ(result.exit_code, 128 + SIGTERM) << result.err;
    return result.out;
  };
  Process first(work_, with_path(spaced, hostile_run("none", longer)));
  interrupt(first);
  const std::string run = run_folder().string();
  Process second(work_, command({"resume", run, "--plugins", "../my plugins"}));
  EXPECT_THAT(interrupt(second),
              HasSubstr(fmt::format("; go on with: eggroll resume {} --plugins '{}'\n", run, spaced.string())));
  Process third(work_, command({"resume", run, "--plugins", spaced.string()}));
  interrupt(third);
}

// The saved files are there, and the commands know that the run has ended.
TEST_F(HostilePluginsTest, ABackendThatEndsTheProgramInAStepIsNamed) {
  const fs::path folder = mine({"hostile_backend"});
  const auto expect_goes_on = [&] {
    EXPECT_EQ(record_in(run_folder()).at("status"), "running");
    EXPECT_THAT(eggroll({"ls", "results"}).out, HasSubstr("interrupted"));
    fs::remove_all(runs());
  };
  for (const std::string fault : {"crashes", "overflows"}) {
    SCOPED_TRACE(fault);
    const Result crashed = run_with(folder, hostile_backend(fault));
    EXPECT_EQ(crashed.signal, SIGSEGV);
    EXPECT_EQ(crashed.err,
              "eggroll: backend 'hostile_backend' crashed in update(); fix the plugin, or choose another\n");
    expect_goes_on();
  }
  for (const std::string fault : {"exits", "exits_quickly", "exits_at_once"}) {
    SCOPED_TRACE(fault);
    expect_one_sentence(run_with(folder, hostile_backend(fault)),
                        {"backend 'hostile_backend' ended the program with exit() in update(); fix the plugin"});
    expect_goes_on();
  }
}

// The step never ends by itself; only the user ends it.
TEST_F(HostilePluginsTest, AStepThatHangsIsNamedAndEndsAfterASignal) {
  const fs::path folder = mine({"hostile_rule"});
  Process process(work_, with_path(folder, hostile_run("hangs")));
  const std::string named = "eggroll: optimizer 'hostile_rule' has been at work in scalars() for 1";
  ASSERT_TRUE(process.wait_until([&] { return process.err().find(named) != std::string::npos; })) << process.wait().err;
  EXPECT_THAT(process.err(), HasSubstr(" s; Ctrl-C or SIGTERM ends it\n"));
  EXPECT_EQ(steps_in(run_folder()), each_step_once(3));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" s and SIGTERM came, so the run ends without saving; fix the plugin, or choose "
                                    "another, and go on from the last checkpoint with: eggroll resume results/runs/" +
                                    run_folder().filename().string() + "\n"));
  EXPECT_EQ(record_in(run_folder()).at("status"), "running");
  EXPECT_THAT(eggroll({"ls", "results"}).out, HasSubstr("interrupted"));
}

// A backend's work may take minutes, so that a signal alone ends it.
TEST_F(HostilePluginsTest, ABackendThatHangsEndsAfterASignal) {
  const fs::path folder = mine({"hostile_backend"});
  Process process(work_, with_path(folder, hostile_backend("hangs")));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) >= 4; })) << process.wait().err;
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.err;
  EXPECT_THAT(result.err, HasSubstr("backend 'hostile_backend' has been at work in update() for "));
}

}  // namespace
}  // namespace eggroll::test
