// The commands that only read (version, plugins, show, config, check), and `new`.
#include <fmt/format.h>

#include <regex>

#include "cli/eggroll_command.h"
#include "config/yaml.h"
#include "eggroll/ops.h"
#include "record/environment.h"
#include "record/seal.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

class InspectTest : public CliTest {
 protected:
  // The output of a command, which must succeed, print nothing on stderr and leave no files.
  std::string output_of(const Arguments& arguments) const {
    const std::string text = said(eggroll(arguments));
    EXPECT_EQ(entries_in(work_), 0U);
    return text;
  }
};

TEST_F(InspectTest, VersionNamesAbiAndSpec) {
  const std::string text = output_of({"--version"});
  const std::string abi = std::to_string(EGG_ABI_MAJOR) + "[.]" + std::to_string(EGG_ABI_MINOR);
  EXPECT_TRUE(std::regex_match(text, std::regex("eggroll [0-9.]+ \\(([0-9a-f]+(-dirty)?|unknown)\\), plugin ABI " +
                                                abi + ", spec [0-9a-f]{16}\n")))
      << text;
  EXPECT_THAT(text, HasSubstr(hex64(EGG_SPEC_HASH)));
}

// The names in all experiment=NAME of a text.
std::vector<std::string> experiments_in(const std::string& text) {
  const std::regex pattern("experiment=([a-z0-9_-]+)");
  std::vector<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), pattern); found != std::sregex_iterator(); ++found) {
    names.push_back((*found)[1]);
  }
  return names;
}

TEST_F(InspectTest, ExamplesNameExperimentsThatExist) {
  const fs::path source = EGGROLL_SOURCE_DIR;
  const auto expect_all = [&](const std::string& text) {
    for (const std::string& name : experiments_in(text)) {
      // A page may ask its reader to write an experiment.
      const std::string file = "experiments/" + name + ".yaml";
      EXPECT_TRUE(fs::exists(source / file) || text.find("cat > " + file) != std::string::npos) << name;
    }
  };
  size_t examples = 0;
  for (const fs::path& folder : {source, source / "docs"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".md") continue;
      const std::string page = read_file(entry.path());
      expect_all(page);
      examples += experiments_in(page).size();
    }
  }
  EXPECT_GT(examples, 20U);
  const std::string help = output_of({"--help"});
  expect_all(help);
  const std::regex command("\n  ([a-z]+) +[A-Z]");
  size_t commands = 0;
  for (std::sregex_iterator found(help.begin(), help.end(), command); found != std::sregex_iterator(); ++found) {
    expect_all(output_of({(*found)[1], "--help"}));
    ++commands;
  }
  EXPECT_GE(commands, 15U) << help;
  // The example of a sweep names an experiment that needs no data.
  EXPECT_EQ(experiments_in(output_of({"sweep", "--help"})), (std::vector<std::string>{"count-convergence"}));
  EXPECT_THAT(output_of({"points", "experiment=count-convergence"}), HasSubstr(" 0 done, 80 left "));
}

TEST_F(InspectTest, PluginsListsEveryFileAndItsVerdict) {
  const std::string text = output_of({"plugins"});
  for (const char* who : {"accepted backend 'reference'", "accepted model 'gru'", "accepted optimizer 'sign_es'"}) {
    EXPECT_THAT(text, HasSubstr(who));
  }
  EXPECT_GE(count_of(text, "accepted "), 3U);
  // A backend whose instructions this machine lacks is listed and counted, but cannot be used.
  EXPECT_THAT(text, HasSubstr(fmt::format("{} of {} plugin files can be used\n", count_of(text, "accepted "),
                                          count_of(text, ".eggplugin\n  "))));
}

TEST_F(InspectTest, PluginsThatCannotBeUsedAreListedWithTheReason) {
  scratch_.put("mine/broken.eggplugin", "no library");
  const Arguments plugins =
      command_with("EGGROLL_PLUGIN_PATH=" + (folder_ / "mine").string() + ":/nowhere", {"plugins"});
  const Result result = good(Process(work_, plugins).wait());
  EXPECT_THAT(result.out, HasSubstr("/nowhere (EGGROLL_PLUGIN_PATH): does not exist\n"));
  EXPECT_THAT(result.out, HasSubstr("broken.eggplugin: cannot be loaded ("));
  EXPECT_THAT(result.out,
              HasSubstr(fmt::format("{} of {} plugin files can be used\n", count_of(result.out, "accepted "),
                                    count_of(result.out, ".eggplugin\n  "))));
  EXPECT_EQ(count_of(result.out, "rejected file"), 1U);
}

TEST_F(InspectTest, ShowPrintsProgramBoundsAndRule) {
  const Learner learner(repository_config({"model.width=16", "optimizer.residual=0"}), built_plugins());
  const std::string text = output_of({"show", "experiment=plain", "model.width=16", "optimizer.residual=0"});
  EXPECT_THAT(text, StartsWith(learner.program->text()));
  EXPECT_THAT(text, HasSubstr("\nhash " + learner.program->hash() + "\n"));
  EXPECT_THAT(text, HasSubstr("\nlargest accumulators, of 2147483647:\n"));
  EXPECT_THAT(text, HasSubstr("\n" + learner.rule->text() + "hash " + learner.rule->hash() + "\n"));
  EXPECT_THAT(output_of({"show", "model=egg_c"}), HasSubstr("l1_norm(embedded, layer0.norm1.gain, truncate)"));
  // `show` prints the comment at the beginning of the option's own file.
  EXPECT_THAT(text, EndsWith("hash " + learner.rule->hash() + "\n"));
  const std::string former = output_of({"show", "model=egg_c_former", "model.width=64"});
  EXPECT_THAT(former, HasSubstr("/configs/model/egg_c_former.yaml begins:\n# The forward pass of egg.c's"));
  EXPECT_THAT(former, HasSubstr("exact ties"));
  EXPECT_THAT(former, HasSubstr("8 to 2,111 of its 8,192 logits differed"));
}

TEST_F(InspectTest, ShowSaysWhatTheMembersOfASiteShare) {
  const std::string text =
      output_of({"show", "experiment=plain", "model.width=16", "train.population=64", "train.members_per_stream=2",
                 "perturb.groups=[{sites: [{value: output, draws: complete}, {value: layer0.candidate, draws: 3, "
                 "horizon: 1}], share: 0.5}, "
                 "{params: [embedding, \"*gain\", \"layer0.forget*\", layer0.up.w, layer0.down.w], share: 0.5}]"});
  EXPECT_THAT(text, HasSubstr("256 orthogonal pairs at each token of 16 streams, amplitude 2, errors shifted by "));
  EXPECT_THAT(text, HasSubstr("share 18 of 19 ops; each has 0 multiply-adds of its own\n  votes: head\n"));
  // The MLP and the head of this token, and everything of the next token.
  EXPECT_THAT(text, HasSubstr("share 9 of 19 ops; each has 13312 multiply-adds of its own\n"
                              "  votes: layer0.candidate.w layer0.candidate.u layer0.candidate.b\n"));
}

// The output of `config` is a configuration: it reads back as itself, and a run keeps the same text.
TEST_F(InspectTest, ConfigPrintsTheResolvedConfiguration) {
  const std::string text = output_of({"config", "experiment=count", "train.steps=7", "seed=3"});
  const ConfigNode config = parse_yaml(text, "printed");
  EXPECT_EQ(to_yaml(config).find('#'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\n  steps: 7  # command line 'train.steps=7'\n"));
  EXPECT_THAT(text, HasSubstr("experiments/count.yaml:"));
  EXPECT_EQ(config.at("train.steps").integer(), 7);
  EXPECT_EQ(config.at("dataset.seed").integer(), 3);  // ${seed}
  EXPECT_EQ(config.at("dataset.name").text(), "count");

  Arguments arguments = tiny_run({"train.steps=1"});
  arguments.front() = "config";
  const std::string tiny = output_of(arguments);
  ASSERT_EQ(eggroll(tiny_run({"train.steps=1"})).exit_code, 0);
  ConfigNode printed = parse_yaml(tiny, "printed");
  // only sweeps have one
  std::erase_if(printed.map(), [](const ConfigNode::Entry& entry) { return entry.key == "launcher"; });
  EXPECT_EQ(read_file(run_folder() / "config.yaml"), sealed_text(to_yaml(printed)));
}

TEST_F(InspectTest, MultirunRunsEveryCombination) {
  Arguments arguments = tiny_run({"train.steps=1,2", "--multirun"});
  const Result both = good(eggroll(arguments));
  EXPECT_THAT(both.out, HasSubstr("== 2 of 2: "));
  EXPECT_THAT(both.out, HasSubstr("== 2 of 2 runs completed\n"));
  EXPECT_THAT(eggroll(arguments).out, HasSubstr("this run is finished already"));

  // An invalid combination is refused before any run starts; a run that fails does not stop the others.
  const Result refused = eggroll(tiny_run({"train.stepz=1,2", "-m"}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("has no key 'stepz'"));
  EXPECT_EQ(refused.out, "");
  const Result failed = eggroll(tiny_run({"train.steps=0,3", "-m"}));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("== 1 of 2 runs completed\n"));
  EXPECT_THAT(failed.err, HasSubstr("runs failed: 1 (exit code 1)"));
}

TEST_F(InspectTest, AFolderOfOnesOwnGoesBeforeTheOthers) {
  scratch_.put("mine/fitness/steep.yaml", "name: zscore\nclip: 1.0\n");
  const Result result = good(Process(work_, {EGGROLL_BIN_DIR "/eggroll", "--config-dir", (folder_ / "mine").string(),
                                             "--config-dir", EGGROLL_SOURCE_DIR "/configs", "config", "fitness=steep"})
                                 .wait());
  EXPECT_EQ(parse_yaml(result.out, "printed").at("fitness.clip").real(), 1.0);
}

// --config-dir may stand before or after the command. It takes one folder and leaves the next word alone.
TEST_F(InspectTest, AConfigurationFolderMayBeGivenAnywhere) {
  const std::string expected = output_of({"config", "seed=3"});
  EXPECT_EQ(good(Process(work_, {EGGROLL_BIN_DIR "/eggroll", "config", "--config-dir", EGGROLL_SOURCE_DIR "/configs",
                                 "seed=3"})
                     .wait())
                .out,
            expected);
}

TEST_F(InspectTest, CheckRunsTheCasesOfEachKind) {
  for (const char* plugin : {"backend:reference", "gru", "model:gru", "sign_es", "optimizer:es_adamw",
                             "optimizer:es_sgd", EGGROLL_BIN_DIR "/plugins/gru.eggplugin"}) {
    const std::string text = output_of({"check", plugin});
    EXPECT_THAT(text, Not(HasSubstr("FAIL"))) << plugin;
    std::smatch counts;
    ASSERT_TRUE(std::regex_search(text, counts, std::regex(": ([0-9]+) of ([0-9]+) checks passed\n$"))) << text;
    EXPECT_EQ(counts[1], counts[2]);
    EXPECT_NE(counts[1], "0");
  }
  refuses({"check", "model:reference"}, {"no plugin 'model:reference'"});
}

// The plugin takes no random cases, so that its check ends as soon as the plugin is found.
TEST_F(InspectTest, CheckFindsAPluginThatWasBuiltHereByItsName) {
  const auto check = [&](const std::string& plugin) { return eggroll({"check", plugin, "--cases", "3"}); };
  expect_one_sentence(check("hostile_rule"),
                      {"no plugin 'hostile_rule' was found", "expected a name that `eggroll plugins` lists",
                       "hostile_rule.eggplugin in this folder", "build it, or give its file"});
  fs::create_directories(work_ / "hostile_rule" / "build");  // as `eggroll new` and CMake make it
  fs::create_directories(work_ / "build");
  for (const char* place :
       {"hostile_rule.eggplugin", "build/hostile_rule.eggplugin", "hostile_rule/build/hostile_rule.eggplugin"}) {
    SCOPED_TRACE(place);
    fs::copy_file(EGGROLL_ABI_PLUGINS "/hostile_rule/hostile_rule.eggplugin", work_ / place);
    for (const std::string& name :
         {std::string("hostile_rule"), std::string("optimizer:hostile_rule"), "./" + std::string(place)}) {
      expect_one_sentence(check(name),
                          {"--seed and --cases were given for the optimizer 'hostile_rule', expected a backend"});
    }
    expect_one_sentence(check("backend:hostile_rule"), {"is the optimizer 'hostile_rule', expected a backend"});
    fs::remove(work_ / place);
  }
  for (const char* place : {"hostile_rule.eggplugin", "build/hostile_rule.eggplugin"}) {
    fs::copy_file(EGGROLL_ABI_PLUGINS "/hostile_rule/hostile_rule.eggplugin", work_ / place);
  }
  expect_one_sentence(check("hostile_rule"),
                      {"may mean any of 2 files: hostile_rule.eggplugin, build/hostile_rule.eggplugin; give the file"});
  expect_one_sentence(check("../hostile_rule"), {"no plugin '../hostile_rule' was found"});
}

// `check` runs this number of random cases, the first with this seed, and nothing else.
TEST_F(InspectTest, CheckRunsRandomCasesAlone) {
  EXPECT_EQ(output_of({"check", "reference", "--seed", "7", "--cases", "12"}),
            "ok   random programs (12 cases)\nok   random rules (12 cases)\nok   random sites (2 cases)\n"
            "backend 'reference': 3 of 3 checks passed\n");
  EXPECT_THAT(output_of({"check", "reference", "--seed", "7"}), HasSubstr("random rules (300 cases)"));
  refuses({"check", "reference", "--cases", "0"}, {"--cases"});
  refuses({"check", "gru", "--cases", "3"}, {"--seed and --cases", "model 'gru'", "a backend"});
}

TEST_F(InspectTest, NewStartsAPlugin) {
  for (const char* kind : {"backend", "model", "optimizer"}) {
    const std::string name = std::string("my_") + kind;
    // The template is found from the repository's top folder; the plugin goes elsewhere.
    const std::string destination = (work_ / name).string();
    const Arguments make = {EGGROLL_BIN_DIR "/eggroll", "new", kind, name, "--into", destination};
    EXPECT_EQ(good(Process(EGGROLL_SOURCE_DIR, make).wait()).out,
              destination + " holds your " + kind + "; its README.md says how to build and check it\n");
    EXPECT_TRUE(fs::exists(work_ / name / "README.md"));
    expect_one_sentence(Process(EGGROLL_SOURCE_DIR, make).wait(), {destination, "exists"});
  }
}

}  // namespace
}  // namespace eggroll::test
