// The sentences with which composition refuses.
#include "config/config_folder.h"

namespace eggroll::test {
namespace {

class ComposeErrorsTest : public ConfigFolderTest {
 protected:
  // The complaint about a config.yaml or another file with this text.
  std::string about(const std::string& path, const std::string& text, const std::vector<std::string>& overrides = {}) {
    write(path, text);
    return complaint(overrides);
  }
};

TEST_F(ComposeErrorsTest, NoConfigFile) {
  std::filesystem::remove(folder_ / "configs/config.yaml");
  EXPECT_EQ(complaint(), "no configuration: expected configs/config.yaml; name a folder that holds a config.yaml");
  search_.config_dirs.clear();
  EXPECT_EQ(complaint(), "no configuration: expected a config folder; name a folder that holds a config.yaml");
}

TEST_F(ComposeErrorsTest, UnknownOptions) {
  EXPECT_EQ(
      about("configs/config.yaml", "defaults:\n- model: ruu\n"),
      "configs/config.yaml:2: model has no option 'ruu' in configs/model (found: gru, nano); did you mean 'gru'?");
  EXPECT_EQ(about("configs/model/x.yaml", "defaults:\n- grru\n", {"+a=1"}),
            "configs/config.yaml:2: model has no option 'ruu' in configs/model (found: gru, nano, x); did you mean "
            "'gru'?");
}

TEST_F(ComposeErrorsTest, UnknownGroups) {
  EXPECT_EQ(about("configs/config.yaml", "defaults:\n- modle: gru\n"),
            "configs/config.yaml:2: no group 'modle', expected the folder configs/modle with its options; did you mean "
            "'model'?");
  std::filesystem::create_directories(folder_ / "configs/empty");
  EXPECT_EQ(about("configs/config.yaml", "defaults:\n- empty: x\n"),
            "configs/config.yaml:2: empty has no option 'x' in configs/empty (found: none)");
  std::filesystem::remove_all(folder_ / "experiments");
  EXPECT_EQ(about("configs/config.yaml", "a: 1\n", {"experiment=count"}),
            "command line 'experiment=count': no group 'experiment', expected the folder experiments with its options");
}

TEST_F(ComposeErrorsTest, ConfigYamlsDefaultsList) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"defaults: gru\n", ":1: defaults is the text 'gru', expected a list such as [_self_]"},
      {"defaults: {model: gru}\n", ":1: defaults is a map, expected a list such as [_self_]"},
      {"defaults:\n- _self_\n- _self_\n", ":3: _self_ is given twice; remove one"},
      {"defaults:\n- _sefl_\n",
       ":2: unknown word '_sefl_' in a defaults list, expected '_self_'; correct or remove it"},
      {"defaults:\n- optional model: gru\n",
       ":2: unknown word 'optional' in a defaults list, expected 'override'; correct or remove it"},
      {"# a\n# @pakage _global_\n",
       ":2: unknown words '@pakage _global_', expected '@package _global_'; correct or remove them"},
      {"defaults:\n- model: gru\n- model: nano\n", ":3: the group 'model' is chosen twice; remove one entry"},
      {"defaults:\n- gru\n",
       ":2: 'gru' stands alone in config.yaml's defaults list, expected 'group: option' or _self_; name its group"},
      {"defaults:\n- override model: gru\n", ":2: config.yaml overrides no group; write 'model: gru'"},
      {"defaults:\n- model: 3\n",
       ":2: the option of group 'model' is the integer 3, expected its name; put odd names in quotes"},
      {"defaults:\n- model: gru\n  dataset: text\n",
       ":2: a map stands in a defaults list, expected 'group: option', an option or _self_"},
      {"defaults:\n- 5\n",
       ":2: the integer 5 stands in a defaults list, expected 'group: option', an option or _self_"},
      {"defaults:\n- //model: gru\n", ":2: '/model' is no group's name, expected one such as model or a/b; correct it"},
      {"defaults:\n- model@teacher: gru\n",
       ":2: 'model@teacher' is no group's name, expected one such as model or a/b; correct it"},
      {"[a, b]\n", ": the file holds a list, expected a map of keys"},
      {"a: [1\n", ":2:1: not YAML: end of sequence flow not found; correct the file"},
      {"a: 1\na: 2\n", ":2: the key 'a' is given twice, first in line 1; remove one"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(about("configs/config.yaml", text), "configs/config.yaml" + expected) << text;
  }
}

TEST_F(ComposeErrorsTest, AnOptionsDefaultsList) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"defaults:\n- grru\n",
       ":2: model has no option 'grru' in configs/model (found: gru, nano, x); did you mean 'gru'?"},
      {"defaults:\n- x\n", ":2: model 'x' inherits from itself (x -> x); remove one of the entries"},
      {"defaults:\n- dataset: text\n",
       ":2: an option's defaults list names options of model and _self_; move 'dataset: text' to config.yaml"},
      {"defaults:\n- override dataset: text\n",
       ":2: an option's defaults list names options of model and _self_; move 'dataset: text' to config.yaml"},
      {"defaults:\n- gru\nwidth: wide\n",
       ":3: model.width is an integer (configs/model/gru.yaml:2), got the text 'wide'; give an integer"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(about("configs/model/x.yaml", text, {"model=x"}), "configs/model/x.yaml" + expected) << text;
  }
  write("configs/model/y.yaml", "defaults: [gru, z]\n");
  write("configs/model/z.yaml", "\ndefaults: [y]\n");
  EXPECT_EQ(complaint({"model=y"}),
            "configs/model/z.yaml:2: model 'y' inherits from itself (y -> z -> y); remove one of the entries");
}

TEST_F(ComposeErrorsTest, AnExperimentsDefaultsList) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"defaults:\n- override datset: count\n",
       ":2: config.yaml's defaults list has no group 'datset' to override; did you mean 'dataset'?; correct or remove "
       "it"},
      {"defaults:\n- override optimizer: count\n",
       ":2: config.yaml's defaults list has no group 'optimizer' to override; correct or remove it"},
      {"defaults:\n- override experiment: count\n",
       ":2: config.yaml's defaults list has no group 'experiment' to override; correct or remove it"},
      {"defaults:\n- overide dataset: count\n",
       ":2: unknown word 'overide' in a defaults list, expected 'override'; correct or remove it"},
      {"defaults:\n- override dataset: cuont\n",
       ":2: dataset has no option 'cuont' in configs/dataset (found: count, text); did you mean 'count'?"},
      {"defaults:\n- dataset: count\n", ":2: config.yaml chooses dataset already; write 'override dataset: count'"},
      {"defaults:\n- cuont\n",
       ":2: experiment has no option 'cuont' in experiments (found: count, x); did you mean 'count'?"},
      {"defaults:\n- x\n", ":2: experiment 'x' inherits from itself (x -> x); remove one of the entries"},
      {"train:\n  steps: many\n",
       ":2: train.steps is an integer (configs/config.yaml:9), got the text 'many'; give an integer"},
      {"train: 5\n",
       ":1: train is a map (configs/config.yaml:8), got the integer 5; change its keys: steps, rate, tokens"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(about("experiments/x.yaml", text, {"experiment=x"}), "experiments/x.yaml" + expected) << text;
  }
}

TEST_F(ComposeErrorsTest, AGroupsPlaceIsTakenByAValue) {
  EXPECT_EQ(
      about("configs/config.yaml", "defaults:\n- _self_\n- model: gru\nmodel: 5\n"),
      "configs/config.yaml:3: model is an integer (configs/config.yaml:4), expected a map of keys; choose another "
      "key");
}

TEST_F(ComposeErrorsTest, AnUnreadableFileSaysWhy) {
  std::filesystem::create_symlink("absent", folder_ / "configs/model/broken.yaml");
  try {
    composed({"model=broken"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(shortened(error.what()).find("cannot read configs/model/broken.yaml: No such file or directory"), 0U)
        << error.what();
  }
}

}  // namespace
}  // namespace eggroll::test
