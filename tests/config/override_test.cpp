// Overrides of the command line: what each changes, and what is refused.
#include "config/override.h"

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

class OverrideTest : public ConfigFolderTest {};

TEST_F(OverrideTest, ChangesOneThing) {
  struct Case {
    std::vector<std::string> overrides;
    std::string path;
    std::string json;
  };
  const std::vector<Case> cases = {
      {{"train.steps=5"}, "train", R"({"steps":5,"rate":0.5,"tokens":32})"},
      {{" train.steps = 5 "}, "train.steps", "5"},
      {{"train.steps=0x10"}, "train.steps", "16"},
      {{"train.steps=1.5"}, "train.steps", "1.5"},
      {{"train.rate=2"}, "train.rate", "2.0"},
      {{"train.rate=1e-3"}, "train.rate", "0.001"},
      {{"train={steps: 1, rate: 2}"}, "train", R"({"steps":1,"rate":2.0,"tokens":32})"},
      {{"model.tied=true"}, "model.tied", "true"},
      {{"model.shift=3"}, "model.shift", "3"},
      {{"model=nano", "model.shift=null"}, "model.shift", "null"},
      {{"name=a b: c #d"}, "name", R"("a b: c #d")"},
      {{"name=x=y"}, "name", R"("x=y")"},
      {{"name='it''s, 5'"}, "name", R"("it's, 5")"},
      {{R"(name="a\tb")"}, "name", R"("a\tb")"},
      {{"name='5'"}, "name", R"("5")"},
      {{"name=''"}, "name", R"("")"},
      {{"name=*x"}, "name", R"("*x")"},
      {{"dataset.path=C:\\x"}, "dataset.path", R"("C:\\x")"},
      {{"dataset.path=[a, 'b, c', 3]"}, "dataset.path", R"(["a","b, c",3])"},
      {{"dataset.path={a: 1, b: {c: null}}"}, "dataset.path", R"({"a":1,"b":{"c":null}})"},
      {{"dataset.path=${name}/${seed}"}, "dataset.path", R"("run/7")"},
      {{"seed=${train.steps}"}, "seed", "800"},
      {{"seed=1", "seed=2"}, "seed", "2"},
      {{"+train.extra=1"}, "train", R"({"steps":800,"rate":0.5,"tokens":32,"extra":1})"},
      {{"+a.b.c=x"}, "a", R"({"b":{"c":"x"}})"},
      {{"+a={b: [1]}"}, "a", R"({"b":[1]})"},
      {{"+model.shift.by=1"}, "model.shift", R"({"by":1})"},
      {{"+a=1", "a=2"}, "a", "2"},
      {{"~train.rate"}, "train", R"({"steps":800,"tokens":32})"},
      {{"~seed", "+seed=x"}, "seed", R"("x")"},
  };
  for (const Case& row : cases) EXPECT_EQ(json_of(composed(row.overrides).at(row.path)), row.json) << row.overrides[0];
}

TEST_F(OverrideTest, ASectionCanBeDeleted) { EXPECT_EQ(composed({"~train"}).find("train"), nullptr); }

TEST_F(OverrideTest, TheSourceIsTheOverride) {
  const ConfigNode config = composed({"+a={b: [1]}", "train.steps=5"});
  EXPECT_EQ(config.at("train.steps").source().text(), "command line 'train.steps=5'");
  EXPECT_EQ(config.at("a").source().text(), "command line '+a={b: [1]}'");
  EXPECT_EQ(config.at("a.b.0").source().text(), "command line '+a={b: [1]}'");
}

TEST_F(OverrideTest, RefusesInOneSentence) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"model.widht=3",
       "model (configs/model/gru.yaml) has no key 'widht'; did you mean 'width'? (write +model.widht=... to add it)"},
      {"train.foo=3",
       "train (configs/config.yaml:8) has no key 'foo'; known: steps, rate, tokens (write +train.foo=... to add it)"},
      {"steps=5", "the configuration has no key 'steps'; did you mean 'train.steps'? (write +steps=... to add it)"},
      {"modle=gru", "the configuration has no key 'modle'; did you mean 'model'? (write +modle=... to add it)"},
      {"modle.width=3", "the configuration has no key 'modle'; did you mean 'model'?"},
      {"train.steps.x=3", "train.steps (configs/config.yaml:9) is an integer and has no key 'x'; leave '.x' out"},
      {"train={stepz: 3}",
       "train (configs/config.yaml:8) has no key 'stepz'; did you mean 'steps'? (write +train.stepz=... to add it)"},
      {"train.steps=abc", "train.steps is an integer (configs/config.yaml:9), got the text 'abc'; give an integer"},
      {"train.steps='5'", "train.steps is an integer (configs/config.yaml:9), got the text '5'; give an integer"},
      {"train.steps=null",
       "train.steps is an integer (configs/config.yaml:9), got null; it cannot be null, give an integer"},
      {"train.steps=[1]", "train.steps is an integer (configs/config.yaml:9), got a list; give an integer"},
      {"model.tied=yes", "model.tied is a boolean (configs/model/gru.yaml:4), got the text 'yes'; give true or false"},
      {"train=5", "train is a map (configs/config.yaml:8), got the integer 5; change its keys: steps, rate, tokens"},
      {"train.steps=1,2",
       "several values, expected one; add --multirun to run them all, write a list as [a, b], or put text in quotes "
       "that the shell keeps: 'key=\"a, b\"'"},
      {"seed=99999999999999999999",
       "the integer 99999999999999999999 does not fit 64 bits; use a smaller one, or quotes for text"},
      {"seed=", "the value is missing; write null or '' for none"},
      {"name='a", "the value is not YAML: a quote is not closed; correct it, or put text in quotes"},
      {"name=[a", "the value is not YAML: end of sequence flow not found; correct it, or put text in quotes"},
      {"name={a: 1, a: 2}", "the key 'a' is given twice; remove one"},
      {"name='a' b", "a second document or stray text begins here, expected one; remove it"},
      {"name='a': b", "expected one value, [list] or {map}; put text in quotes"},
      {"name=\xff", "the text is not UTF-8; convert it, or rename the file that it names"},
      {"name='\xff'", "not UTF-8 text; convert it"},
      {"+train.steps=3",
       "train.steps is there already (configs/config.yaml:9); write train.steps=... without the + to "
       "change it"},
      {"+train.steps.x=3",
       "train.steps is an integer (configs/config.yaml:9), expected a map of keys; choose another key"},
      {"~train.step", "train (configs/config.yaml:8) has no key 'step'; did you mean 'steps'?"},
      {"~train.steps=3",
       "train.steps is the integer 800 (configs/config.yaml:9), and so is not deleted; write ~train.steps to delete it "
       "whatever it is"},
      {"train.steps", "no override, expected key=value, +key=value, ++key=value or ~key; correct it"},
      {"", "no override, expected key=value, +key=value, ++key=value or ~key; correct it"},
      {"=3",
       "'' is no key, expected names of letters, digits, _ and -, with single dots or slashes between them and 200 "
       "characters at most; correct it"},
      {"train..steps=3",
       "'train..steps' is no key, expected names of letters, digits, _ and -, with single dots or slashes between them "
       "and 200 characters at most; correct it"},
      {"--seed=3",
       "'--seed' is no key, expected names of letters, digits, _ and -, with single dots or slashes between them and "
       "200 characters at most; correct it"},
      {"a/b=c", "the configuration has no group 'a/b'; write a key with dots"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(complaint({text}), "command line '" + text + "': " + expected);
  }
}

TEST_F(OverrideTest, AListIsChangedByItsIndices) {
  write("configs/config.yaml", "paths: [a, b]\nrows: [{x: 1}]\n");
  const auto paths = [&](const std::string& text) { return json_of(composed({text}).at("paths")); };
  EXPECT_EQ(paths("paths=[c]"), R"(["c"])");
  EXPECT_EQ(paths("paths=[]"), "[]");
  EXPECT_EQ(paths("paths.0=c"), R"(["c","b"])");
  EXPECT_EQ(paths("+paths.2=c"), R"(["a","b","c"])");
  EXPECT_EQ(paths("++paths.2=5"), R"(["a","b",5])");
  EXPECT_EQ(paths("++paths.1=5"), R"(["a",5])");
  EXPECT_EQ(paths("~paths.0"), R"(["b"])");
  EXPECT_EQ(json_of(composed({"rows.0.x=2", "+rows.0.y=3"}).at("rows")), R"([{"x":2,"y":3}])");
  EXPECT_EQ(complaint({"paths.2=c"}),
            "command line 'paths.2=c': paths (configs/config.yaml:1) is a list of 2 and has no element '2', expected 0 "
            "to 1; correct the index (write +paths.2=... to add it)");
  EXPECT_EQ(complaint({"+paths.3=c"}),
            "command line '+paths.3=c': paths (configs/config.yaml:1) is a list of 2, expected its next index; write "
            "+paths.2=...");
  EXPECT_EQ(complaint({"paths.0=3"}),
            "command line 'paths.0=3': paths.0 is text (configs/config.yaml:1), got the integer 3; give text");
}

TEST_F(OverrideTest, TwoPlusesSetOrAdd) {
  EXPECT_EQ(json_of(composed({"++train={steps: x, new: 1}"}).at("train")),
            R"({"steps":"x","rate":0.5,"tokens":32,"new":1})");
  EXPECT_EQ(composed({"++train.steps=x"}).at("train.steps").text(), "x");
  EXPECT_EQ(composed({"++train.new.deep=1"}).at("train.new.deep").integer(), 1);
}

TEST_F(OverrideTest, DeletesWhatHasTheValue) {
  EXPECT_EQ(composed({"~train.steps=800"}).find("train.steps"), nullptr);
  EXPECT_EQ(composed({"~train.rate=0.5"}).find("train.rate"), nullptr);
}

TEST_F(OverrideTest, TheErrorNamesTheKey) {
  try {
    composed({"train.steps=abc"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.key(), "train.steps");
  }
}

}  // namespace
}  // namespace eggroll::test
