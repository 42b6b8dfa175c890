// Composition: layers and their order, groups, inheritance, experiments, several config folders.
#include "config/compose.h"

#include <ctime>
#include <fstream>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

class ComposeTest : public ConfigFolderTest {};

TEST_F(ComposeTest, PutsEachGroupUnderItsKeyInTheListsOrder) {
  EXPECT_EQ(json_of(composed()),
            R"({"backend":{"name":"auto"},"model":{"name":"gru","width":64,"layers":1,"tied":false,"shift":null},)"
            R"("dataset":{"name":"text","path":null},"name":"run","seed":7,)"
            R"("train":{"steps":800,"rate":0.5,"tokens":32},"paths":["a","b"],"rows":[{"x":1}]})");
}

TEST_F(ComposeTest, TheLastLayerWins) {
  const std::string values = "model:\n  width: 1\nx: main\n";
  const auto width = [&](const std::string& defaults) {
    write("configs/config.yaml", defaults + values);
    return composed().at("model.width").integer();
  };
  EXPECT_EQ(width("defaults: [{model: gru}, _self_]\n"), 1);
  EXPECT_EQ(width("defaults: [_self_, {model: gru}]\n"), 64);
  EXPECT_EQ(width("defaults: [{model: gru}]\n"), 1);
  EXPECT_EQ(width("defaults:\n- dataset: text\n- _self_\n- model: nano\n"), 256);
}

TEST_F(ComposeTest, AChosenOptionReplacesTheListedOne) {
  const ConfigNode config = composed({"dataset=count", "backend=reference"});
  EXPECT_EQ(json_of(config.at("dataset")), R"({"name":"count","length":32,"seed":7})");
  EXPECT_EQ(json_of(config.at("backend")), R"({"name":"reference"})");
  EXPECT_EQ(json_of(composed({"dataset=count", "dataset=text"}).at("dataset")), R"({"name":"text","path":null})");
}

TEST_F(ComposeTest, GroupChoicesComeBeforeValuesWhateverTheirOrder) {
  EXPECT_EQ(composed({"dataset.length=5", "dataset=count"}).at("dataset.length").integer(), 5);
  EXPECT_EQ(composed({"dataset=count", "dataset.length=5"}).at("dataset.length").integer(), 5);
}

TEST_F(ComposeTest, AnOptionInheritsFromItsSiblings) {
  EXPECT_EQ(json_of(composed({"model=nano"}).at("model")),
            R"({"name":"gru","width":256,"layers":1,"tied":false,"shift":8})");
  write("configs/model/small.yaml", "defaults: [_self_, nano]\nwidth: 32\nlayers: 2\n");
  EXPECT_EQ(json_of(composed({"model=small"}).at("model")),
            R"({"width":256,"layers":1,"name":"gru","tied":false,"shift":8})");
  write("configs/model/mixed.yaml", "defaults: [nano, wide]\n");
  write("configs/model/wide.yaml", "width: 1024\n");
  EXPECT_EQ(json_of(composed({"model=mixed"}).at("model")),
            R"({"name":"gru","width":1024,"layers":1,"tied":false,"shift":8})");
}

TEST_F(ComposeTest, SourcesNameTheLayerThatSetTheValue) {
  const ConfigNode config = composed({"model=nano", "experiment=count"});
  EXPECT_EQ(source_of(config, "model"), "configs/model/nano.yaml");
  EXPECT_EQ(source_of(config, "model.width"), "configs/model/nano.yaml:4");
  EXPECT_EQ(source_of(config, "model.layers"), "configs/model/gru.yaml:3");
  EXPECT_EQ(source_of(config, "train"), "configs/config.yaml:8");
  EXPECT_EQ(source_of(config, "train.steps"), "experiments/count.yaml:6");
  EXPECT_EQ(source_of(config, "dataset.length"), "configs/dataset/count.yaml:2");
  EXPECT_EQ(source_of(config, "seed"), "configs/config.yaml:7");
}

TEST_F(ComposeTest, NestedGroups) {
  write("configs/config.yaml", "defaults: [{model/head: tied}, {model: gru}]\n");
  write("configs/model/head/tied.yaml", "scale: 1\n");
  write("configs/model/head/free.yaml", "scale: 2\n");
  EXPECT_EQ(json_of(composed()),
            R"({"model":{"head":{"scale":1},"name":"gru","width":64,"layers":1,"tied":false,"shift":null}})");
  EXPECT_EQ(composed({"model/head=free"}).at("model.head.scale").integer(), 2);
  EXPECT_EQ(source_of(composed(), "model.head"), "configs/model/head/tied.yaml");
}

TEST_F(ComposeTest, AnExperimentLiesOverGroupsAndConfigAndUnderTheCommandLine) {
  write("experiments/wide.yaml", "model:\n  width: 512\nextra:\n  x: 1\n");
  const ConfigNode config = composed({"experiment=wide", "model.layers=2"});
  EXPECT_EQ(json_of(config.at("model")), R"({"name":"gru","width":512,"layers":2,"tied":false,"shift":null})");
  EXPECT_EQ(json_of(config.at("extra")), R"({"x":1})");
  EXPECT_EQ(config.find("experiment"), nullptr);
  EXPECT_EQ(composed({"model.width=3", "experiment=wide"}).at("model.width").integer(), 3);
  write("configs/config.yaml", "defaults: [_self_, {model: gru}]\n");
  EXPECT_EQ(composed({"experiment=wide"}).at("model.width").integer(), 512);
}

TEST_F(ComposeTest, AnExperimentOverridesGroupsAndTheCommandLineOverridesIt) {
  EXPECT_EQ(composed({"experiment=count"}).at("dataset.name").text(), "count");
  EXPECT_EQ(composed({"experiment=count"}).at("train.steps").integer(), 150);
  EXPECT_EQ(composed({"dataset=text", "experiment=count"}).at("dataset.name").text(), "text");
}

TEST_F(ComposeTest, AnExperimentInheritsFromExperiments) {
  write("experiments/short.yaml", "defaults:\n  - count\n  - override model: nano\n  - _self_\ntrain: {steps: 3}\n");
  const ConfigNode config = composed({"experiment=short"});
  EXPECT_EQ(config.at("dataset.name").text(), "count");
  EXPECT_EQ(config.at("model.width").integer(), 256);
  EXPECT_EQ(config.at("name").text(), "count");
  EXPECT_EQ(config.at("train.steps").integer(), 3);
}

TEST_F(ComposeTest, TheDefaultsListMayHoldAnExperiment) {
  write("configs/config.yaml", "defaults: [{experiment: wide}, {model: gru}]\nname: run\n");
  write("experiments/wide.yaml", "defaults: [override model: nano]\nmodel: {layers: 2}\n");
  write("experiments/other.yaml", "name: other\n");
  EXPECT_EQ(json_of(composed()),
            R"({"model":{"name":"gru","width":256,"layers":2,"tied":false,"shift":8},"name":"run"})");
  EXPECT_EQ(json_of(composed({"experiment=other"})),
            R"({"model":{"name":"gru","width":64,"layers":1,"tied":false,"shift":null},"name":"other"})");
}

TEST_F(ComposeTest, AnExperimentAddsGroups) {
  write("experiments/more.yaml", "defaults: [{extra: fast}, {override /model: nano}]\n");
  EXPECT_EQ(composed({"experiment=more"}).at("extra.x").integer(), 1);
  EXPECT_EQ(composed({"experiment=more"}).at("model.width").integer(), 256);
}

TEST_F(ComposeTest, AnAddedGroupAndAnExperimentWinInTheOrderOfTheList) {
  write("configs/without/depth.yaml", "# @package _global_\nmodel: {layers: 0}\n");
  write("experiments/without/nothing.yaml", "# @package _global_\n{}\n");
  write("experiments/last.yaml", "defaults: [_self_, {without: depth}]\nmodel: {layers: 5}\n");
  write("experiments/first.yaml", "defaults: [{without: depth}, _self_]\nmodel: {layers: 5}\n");
  write("experiments/child.yaml", "defaults: [last, _self_]\nmodel: {layers: 6}\n");
  write("experiments/later.yaml", "defaults: [deep, _self_, {without: nothing}]\n");
  write("experiments/deep.yaml", "model: {layers: 7}\n");
  const auto layers = [&](const std::vector<std::string>& overrides) {
    return composed(overrides).at("model.layers").integer();
  };
  EXPECT_EQ(layers({"experiment=last"}), 0);
  EXPECT_EQ(layers({"experiment=last", "without=nothing"}), 5);
  EXPECT_EQ(layers({"experiment=last", "~without"}), 5);
  EXPECT_EQ(layers({"experiment=first"}), 5);
  EXPECT_EQ(layers({"experiment=child"}), 6);
  EXPECT_EQ(layers({"experiment=later"}), 7);
  EXPECT_EQ(layers({"experiment=later", "without=depth"}), 0);
  EXPECT_EQ(layers({"experiment=deep", "+without=depth"}), 0);
}

TEST_F(ComposeTest, AChoiceOfNullIsNone) {
  write("configs/config.yaml", "defaults: [{model: null}, {dataset: null}]\na: 1\n");
  EXPECT_EQ(json_of(composed()), R"({"a":1})");
  EXPECT_EQ(composed({"model=gru", "dataset=text"}).at("model.width").integer(), 64);
  EXPECT_EQ(composed({"dataset=text"}).at("dataset.name").text(), "text");
  EXPECT_NE(complaint({"model=none"}), "");
}

TEST_F(ComposeTest, AGlobalOptionsValuesGoToTheTop) {
  write("configs/backend/reference.yaml", "# the slow one\n# @package _global_\nname: slow\n");
  EXPECT_EQ(composed({"backend=reference"}).at("name").text(), "run");
  write("configs/config.yaml", "defaults: [_self_, {backend: reference}, {model: gru}]\nname: run\n");
  EXPECT_EQ(composed().at("name").text(), "slow");
  EXPECT_EQ(composed().find("backend"), nullptr);
  write("experiments/x.yaml", "# @package _global_\nname: there\n");
  EXPECT_EQ(composed({"experiment=x"}).at("name").text(), "there");
}

TEST_F(ComposeTest, TheFirstFolderThatHasAFileGivesIt) {
  search_.config_dirs = {folder_ / "plugin" / "configs", folder_ / "configs"};
  write("plugin/configs/model/gru.yaml", "name: other\nwidth: 5\nshift: null\n");
  write("plugin/configs/model/mine.yaml", "defaults: [nano]\nwidth: 6\n");
  write("plugin/experiments/mine.yaml", "seed: 8\n");
  EXPECT_EQ(composed().at("model.name").text(), "other");
  EXPECT_EQ(json_of(composed({"model=mine"}).at("model")), R"({"name":"other","width":6,"shift":8})");
  EXPECT_EQ(composed({"experiment=mine"}).at("seed").integer(), 8);
  EXPECT_EQ(composed({"experiment=count"}).at("name").text(), "count");
  EXPECT_EQ(complaint({"model=mien"}),
            "command line 'model=mien': model has no option 'mien' in plugin/configs/model, configs/model (found: gru, "
            "mine, nano); did you mean 'mine'?");
  write("plugin/configs/config.yaml", "only: this\n");
  EXPECT_EQ(json_of(composed()), R"({"only":"this"})");
}

TEST_F(ComposeTest, AnEmptyFileIsAnEmptyMap) {
  write("configs/backend/none.yaml", "# nothing to set\n");
  EXPECT_EQ(json_of(composed({"backend=none"}).at("backend")), "{}");
  write("configs/config.yaml", "");
  EXPECT_EQ(json_of(composed()), "{}");
}

TEST_F(ComposeTest, InterpolatesAfterAllLayers) {
  EXPECT_EQ(composed({"experiment=count", "train.tokens=5"}).at("dataset.length").integer(), 5);
  EXPECT_EQ(composed({"dataset=count", "dataset.seed=3"}).at("dataset.seed").integer(), 3);
  EXPECT_EQ(complaint({"dataset=count", "~train.tokens"}),
            "configs/dataset/count.yaml:2: dataset.length refers to 'train.tokens', but train (configs/config.yaml:8) "
            "has no key 'tokens', because command line '~train.tokens' deleted it; remove that override");
}

TEST_F(ComposeTest, IsAFunctionOfItsInputs) {
  const std::vector<std::string> overrides = {"experiment=count", "model=nano", "+a.b=[1, 2.5]", "train.rate=1"};
  const ConfigNode config = composed(overrides);
  EXPECT_EQ(to_yaml(composed(overrides)), to_yaml(config));
  EXPECT_EQ(parse_yaml(to_yaml(config), "config.yaml"), config);
  EXPECT_EQ(json_hash(to_json(parse_yaml(to_yaml(config), "config.yaml")), {}), json_hash(to_json(config), {}));
}

TEST(Repository, EveryOptionAndExperimentComposes) {
  const std::filesystem::path top = EGGROLL_SOURCE_DIR;
  const ConfigSearch search{{top / "configs"}};
  std::ifstream file(top / "configs" / "config.yaml");
  const std::string chosen(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> choices;
  for (const char* folder : {"configs", "experiments"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
      const std::filesystem::path option = std::filesystem::relative(entry.path(), top / folder).replace_extension();
      if (!entry.is_regular_file() || option == "config") continue;
      const std::string in_folder = option.parent_path().string();
      const std::string group = in_folder.empty() ? "experiment" : in_folder;
      const bool is_added = chosen.find("- " + group + ":") == std::string::npos;
      choices.push_back((is_added ? "+" : "") + group + "=" + option.filename().string());
    }
  }
  EXPECT_GT(choices.size(), 10U);
  for (const std::string& choice : choices) {
    const ConfigNode config = compose(search, {choice});
    EXPECT_EQ(parse_yaml(to_yaml(config), "config.yaml"), config) << choice;
    EXPECT_NE(config.find("model.name"), nullptr) << choice;
  }
}

// A search through all keys for each key would take half a minute.
TEST_F(ComposeTest, ManyKeysTakeTimeInProportion) {
  std::string text = "many:\n";
  for (int i = 0; i < 80000; ++i) text += "  key" + std::to_string(i) + ": " + std::to_string(i) + "\n";
  write("configs/config.yaml", text);
  write("experiments/same.yaml", text);
  const std::clock_t begin = std::clock();
  const ConfigNode config = composed({"experiment=same"});
  json_hash(to_json(config), {});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10.0);
  EXPECT_EQ(config.at("many").map().size(), 80000U);
}

}  // namespace
}  // namespace eggroll::test
