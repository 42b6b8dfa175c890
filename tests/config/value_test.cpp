// The values of overrides: elements, casts, sweeps; and their expansion.
#include "config/value.h"

#include <fmt/ranges.h>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

std::string values_of(const std::string& text) {
  std::string json;
  for (const ConfigNode& choice : parse_override_value(text, {"here", 0}).choices) {
    json += (json.empty() ? "" : " ") + json_of(choice);
  }
  return json;
}

TEST(Value, ReadsElementsAndSweeps) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"5", "5"},
      {"a b", R"("a b")"},
      {"1,2", "1 2"},
      {" 1 , x y ,'a,b'", R"(1 "x y" "a,b")"},
      {"[1,2],[3]", "[1,2] [3]"},
      {"{a: 1, b: [2, 3]},null", R"({"a":1,"b":[2,3]} null)"},
      {R"(["a, ]", b],2)", R"(["a, ]","b"] 2)"},
      {"['it''s, b']", R"(["it's, b"])"},
      {"${env:X,5},b", R"("${env:X,5}" "b")"},
      {"a[1,b", R"("a[1" "b")"},
      {"it's,b", R"("it's" "b")"},
      {"choice(a)", R"("a")"},
      {"choice(1, [2,3], 'a)')", "1 [2,3] \"a)\""},
      {"int(3.9)", "3"},
      {"int(-3.9)", "-3"},
      {"int('7')", "7"},
      {"int(true)", "1"},
      {"float(3)", "3.0"},
      {"float([1, 2])", "[1.0,2.0]"},
      {"float({a: 1})", R"({"a":1.0})"},
      {"str(5)", R"("5")"},
      {"str(0.5)", R"("0.5")"},
      {"str(true)", R"("true")"},
      {"bool(0)", "false"},
      {"bool('true')", "true"},
      {"str(int(2.5))", R"("2")"},
      {"int(1.5,2.5)", "1 2"},
      {"float(range(1,4))", "1.0 2.0 3.0"},
      {"str(choice(1,a))", R"("1" "a")"},
      {"range(3)", "0 1 2"},
      {"range(1, 4)", "1 2 3"},
      {"range(1,8,3)", "1 4 7"},
      {"range(3,0,-1)", "3 2 1"},
      {"range(start=1,stop=3)", "1 2"},
      {"range(2,step=2,stop=6)", "2 4"},
      {"range(0,1,0.25)", "0.0 0.25 0.5 0.75"},
      {"range(0,0.5,0.1)", "0.0 0.1 0.2 0.3 0.4"},
      {"range(0.1,0.4,0.1)", "0.1 0.2 0.3"},
      {"range(1e-3,3e-3,1e-3)", "0.001 0.002"},
      {"range(1.0,0.7,-0.1)", "1.0 0.9 0.8"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(values_of(text), expected) << text;
  EXPECT_FALSE(parse_override_value("[1,2]", {}).is_sweep);
  EXPECT_TRUE(parse_override_value("choice(a)", {}).is_sweep);
}

TEST(Value, RefusesInOneSentence) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the value is missing; write null or '' for none"},
      {"1,,2", "there is nothing between two commas; remove one, or write '' or null"},
      {"1,", "there is nothing between two commas; remove one, or write '' or null"},
      {"chioce(1,2)", "unknown function 'chioce'; did you mean 'choice'?; put text in quotes"},
      {"range(1", "the parenthesis of range( is not closed; add the )"},
      {"int(1)x", "'x' stands behind int(1); remove it, or put text in quotes"},
      {"int()", "int() is empty, expected a value in it; give one"},
      {"int(abc)", "int() of the text 'abc', expected something that can be one; correct it"},
      {"float(null)", "float() of null, expected something that can be one; correct it"},
      {"int(glob(*))", "int() of a glob(), expected values; remove the cast"},
      {"1,choice(2,3)", "the sweep choice(2,3) stands in another; write one of them"},
      {"range(1,1)", "range(1,1) has no values; correct its start, stop or step"},
      {"range(1,5,-1)", "range(1,5,-1) has no values; correct its start, stop or step"},
      {"range(1,5,0)", "range() has the step 0, expected another; correct it"},
      {"range(1,2,3,4)", "range() has more than start, stop and step; remove the rest"},
      {"range(a)",
       "range() has the text 'a' as its stop, expected a number; write range(stop), range(start, stop) or range(start, "
       "stop, step)"},
      {"range(start=1)",
       "range() has nothing as its stop, expected a number; write range(stop), range(start, stop) or range(start, "
       "stop, "
       "step)"},
      {"range(strat=1,stop=2)", "range() has no argument 'strat'; did you mean 'start'?"},
      {"range(start=1,start=2)", "range() has 'start' twice; remove one"},
      {"range(1,2,start=3)", "range() has 'start' twice; remove one"},
      {"range(stop=3,1)", "range() has '1' behind a named argument; put it first, or name it"},
      {"range(1000000)", "range(1000000) has more than 100000 values; take a larger step"},
      {"glob(a*,b*)", "glob() has several patterns; write them as a list: glob([a*, b*])"},
      {"glob(exclude=a)", "glob() has no pattern, expected one such as glob(*)"},
      {"[1", "the value is not YAML: end of sequence flow not found; correct it, or put text in quotes"},
      {"'a' b", "a second document or stray text begins here, expected one; remove it"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(message_of([&] { parse_override_value(text, {"here", 0}); }), "here: " + expected) << text;
  }
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "int(";
  EXPECT_EQ(message_of([&] {
              parse_override_value(deep + "1" + std::string(30, ')'), {"here", 0});
            }),
            "here: too many functions within each other; remove some");
}

class ExpandTest : public ConfigFolderTest {
 protected:
  std::string expanded(const std::vector<std::string>& overrides) const {
    std::string text;
    for (const auto& combination : expand_sweeps(search_, overrides)) {
      text += (text.empty() ? "" : "; ") + fmt::format("{}", fmt::join(combination, " "));
    }
    return text;
  }
};

TEST_F(ExpandTest, MakesEveryCombinationTheLastFastest) {
  EXPECT_EQ(expanded({}), "");
  EXPECT_EQ(expand_sweeps(search_, {}).size(), 1U);
  EXPECT_EQ(expanded({"seed=1", "name=x, y"}), "seed=1 name=x; seed=1 name=y");
  EXPECT_EQ(expanded({"seed=1,2", "+a=range(2)"}), "seed=1 +a=0; seed=1 +a=1; seed=2 +a=0; seed=2 +a=1");
  EXPECT_EQ(expanded({"a=[1,2],{b: 'c d'},\"x,y\""}), "a=[1, 2]; a={b: \"c d\"}; a=\"x,y\"");
  EXPECT_EQ(expanded({"~seed", "model=gru,nano"}), "~seed model=gru; ~seed model=nano");
  EXPECT_EQ(expanded({"model=glob(*)"}), "model=gru; model=nano");
  EXPECT_EQ(expanded({"model=glob([g*, n*], exclude=n*)"}), "model=gru");
}

TEST_F(ExpandTest, RefusesWhatMatchesNothingOrIsTooMuch) {
  const auto says = [&](const std::vector<std::string>& overrides) {
    return message_of([&] { expand_sweeps(search_, overrides); });
  };
  EXPECT_EQ(says({"model=glob(x*)"}),
            "command line 'model=glob(x*)': glob() matches no option of model (found: gru, nano); correct the pattern");
  EXPECT_EQ(says({"seed=glob(*)"}),
            "command line 'seed=glob(*)': glob() chooses options of a group, and seed is none; list the values");
  EXPECT_EQ(says({"a=range(1000)", "b=range(1000)"}),
            "the sweeps have more than 100000 combinations; take fewer values");
}

}  // namespace
}  // namespace eggroll::test
