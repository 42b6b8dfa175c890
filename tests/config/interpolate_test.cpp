// ${...}: kinds, text, chains, the environment, escapes and errors.
#include "config/interpolate.h"

#include <cstdlib>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

std::string resolved(const std::string& yaml) { return json_of(interpolate(parse_yaml(yaml, "a.yaml"))); }

TEST(Interpolate, ReplacesEveryForm) {
  ASSERT_EQ(::setenv("EGGROLL_TEST_TEXT", "a ${b}", 1), 0);
  ASSERT_EQ(::setenv("EGGROLL_TEST_NUMBER", "12", 1), 0);
  const std::vector<std::vector<std::string>> cases = {
      {"{a: 1, b: '${a}'}", R"({"a":1,"b":1})"},
      {"{a: 1.0, b: \"${a}\"}", R"({"a":1.0,"b":1.0})"},
      {"a: true\nb: ${a}\n", R"({"a":true,"b":true})"},
      {"a: null\nb: ${a}\n", R"({"a":null,"b":null})"},
      {"a: '1'\nb: ${a}\n", R"({"a":"1","b":"1"})"},
      {"a: {b: 1, c: [2]}\nd: ${a}\n", R"({"a":{"b":1,"c":[2]},"d":{"b":1,"c":[2]}})"},
      {"a: {b: {c: 3}}\nd: ${a.b.c}\n", R"({"a":{"b":{"c":3}},"d":3})"},
      {"a: [4, {b: 5}]\nc: ${a.1.b}\n", R"({"a":[4,{"b":5}],"c":5})"},
      {"a: x\nb: 2\nc: ${a}-${b}/y\n", R"({"a":"x","b":2,"c":"x-2/y"})"},
      {"a: 1.0\nb: true\nc: ${a}${b}\n", R"({"a":1.0,"b":true,"c":"1.0true"})"},
      {"a: ${b}\nb: ${c}\nc: 3\n", R"({"a":3,"b":3,"c":3})"},
      {"a: <${b}>\nb: =${c}=\nc: 3\n", R"({"a":"<=3=>","b":"=3=","c":3})"},
      {"a: ${b.c}\nb: ${d}\nd: {c: 3}\n", R"({"a":3,"b":{"c":3},"d":{"c":3}})"},
      {"a: ${b}\nb: {c: '${d}'}\nd: 4\n", R"({"a":{"c":4},"b":{"c":4},"d":4})"},
      {"a: ['${b}', 'x${b}']\nb: 1\n", R"({"a":[1,"x1"],"b":1})"},
      {"a: $${b}\n", R"({"a":"${b}"})"},
      {"a: $$${b}\n", R"({"a":"$${b}"})"},
      {"a: ${b}$${b}${b}\nb: 1\n", R"({"a":"1${b}1","b":1})"},
      {"a: ${b}\nb: $${c}\n", R"({"a":"${c}","b":"${c}"})"},
      {"a: ${b}\nb: ${c}\nc: $${d}\n", R"({"a":"${d}","b":"${d}","c":"${d}"})"},
      {"a: costs $5, {b}\n", R"({"a":"costs $5, {b}"})"},
      {"a: ${env:EGGROLL_TEST_TEXT}\nb: 1\n", R"({"a":"a ${b}","b":1})"},
      {"a: ${env:EGGROLL_TEST_NUMBER}\n", R"({"a":12})"},
      {"a: n${env:EGGROLL_TEST_NUMBER}\n", R"({"a":"n12"})"},
      {"a: ${env:EGGROLL_TEST_NUMBER,5}\n", R"({"a":12})"},
      {"a: ${env:EGGROLL_TEST_NONE,5}\n", R"({"a":5})"},
      {"a: ${oc.env:EGGROLL_TEST_NUMBER}\nb: ${oc.env:EGGROLL_TEST_NONE,x}\n", R"({"a":12,"b":"x"})"},
      {"a: ${env:EGGROLL_TEST_NONE, a b}\n", R"({"a":"a b"})"},
      {"a: ${env:EGGROLL_TEST_NONE,}\n", R"({"a":null})"},
  };
  for (const auto& row : cases) EXPECT_EQ(resolved(row[0]), row[1]) << row[0];
}

TEST(Interpolate, RefusesWhatGrowsWithoutEnd) {
  std::string lists = "a0: [1, 2]\n";
  std::string texts = "a0: 0123456789\n";
  std::string chain = "a0: 1\n";
  std::string deep = "a300: 1\n";
  for (int i = 1; i < 300; ++i) {
    const std::string before = "${a" + std::to_string(i - 1) + "}";
    const std::string key = "a" + std::to_string(i) + ": ";
    if (i < 40) lists += key + "['" + before + "', '" + before + "']\n";
    if (i < 40) texts += key + before + before + "\n";
    chain += key + before + "\n";
    deep += "a" + std::to_string(i - 1) + ": [[[[['${a" + std::to_string(i) + "}']]]]]\n";
  }
  EXPECT_NE(config_error_of([&] { resolved(lists); }).find("expected at most a million in all"), std::string::npos);
  EXPECT_NE(config_error_of([&] { resolved(texts); }).find("becomes a text of more than a million bytes"),
            std::string::npos);
  std::string long_list = "a: " + std::string(20000, 'x') + "\nb: ['${a}'";
  for (int i = 0; i < 600; ++i) long_list += ", '${a}'";
  EXPECT_NE(config_error_of([&] { resolved(long_list + "]\n"); }).find("expected at most ten million bytes in all"),
            std::string::npos);
  EXPECT_NE(config_error_of([&] { resolved(deep); }).find("expected at most 100 nested lists and maps"),
            std::string::npos);
  EXPECT_NE(config_error_of([&] { resolved(chain); }).find("is reached through 200 references"), std::string::npos);
}

TEST(Interpolate, AnEscapeIsReadOnce) {
  EXPECT_EQ(resolved("a: ${b.x}\nb: ${c}\nc: {x: '$${d}'}\n"), R"({"a":"${d}","b":{"x":"${d}"},"c":{"x":"${d}"}})");
}

TEST(Interpolate, AValueKeepsTheSourceOfItsKey) {
  const ConfigNode root = interpolate(parse_yaml("a: ${c}\nb: x${c}\nc: 3\n", "a.yaml"));
  EXPECT_EQ(root.at("a").source().text(), "a.yaml:1");
  EXPECT_EQ(root.at("b").source().text(), "a.yaml:2");
}

TEST(Interpolate, RefusesInOneSentence) {
  ASSERT_EQ(::unsetenv("EGGROLL_TEST_ABSENT"), 0);
  const std::string forms = "${a.b} with a path from the top, or ${env:NAME}";
  const std::vector<std::vector<std::string>> cases = {
      {"\na: ${a}\n", "a.yaml:2: a refers to itself (a -> a); give one of them a value"},
      {"a: ${b}\nb: x${c}\nc: ${a}\n", "a.yaml:1: a refers to itself (a -> b -> c -> a); give one of them a value"},
      {"a: {b: '${a}'}\n", "a.yaml:1: a.b refers to itself (a.b -> a.b); give one of them a value"},
      {"a: ${b.x}\nb: ${a}\n", "a.yaml:1: a refers to itself (a -> b -> a); give one of them a value"},
      {"train: {tokens: 1}\nc:\n  d: ${train.tokenz}\n",
       "a.yaml:3: c.d refers to 'train.tokenz', but train (a.yaml:1) has no key 'tokenz'; did you mean 'tokens'?"},
      {"a: [1]\nb: ${a.1}\n",
       "a.yaml:2: b refers to 'a.1', but a (a.yaml:1) is a list of 1 and has no element '1', expected 0; correct the "
       "index"},
      {"a: 1\nb: ${a.c}\n",
       "a.yaml:2: b refers to 'a.c', but a (a.yaml:1) is an integer and has no key 'c'; leave '.c' out"},
      {"a: ${b\n", "a.yaml:1: a is '${b', whose ${ has no }; add it, or write $${ for a plain ${"},
      {"a: ${}\n", "a.yaml:1: a holds '${}', expected " + forms},
      {"a: ${.b}\n", "a.yaml:1: a holds '${.b}', expected " + forms},
      {"a: ${emv:X}\n", "a.yaml:1: a holds '${emv:X}', expected " + forms + "; did you mean 'env'?"},
      {"a: ${now:%Y}\n", "a.yaml:1: a holds '${now:%Y}', expected " + forms},
      {"a: ${oc.decode:HOME}\n", "a.yaml:1: a holds '${oc.decode:HOME}', expected " + forms},
      {"a: ${x.${b}}\nb: y\n", "a.yaml:1: a has a ${ within ${x.${b}, expected " + forms},
      {"a: ${env:X,${b}}\nb: y\n", "a.yaml:1: a has a ${ within ${env:X,${b}, expected " + forms},
      {"a: x${b}\nb: null\n", "a.yaml:1: a puts 'b' into text, but its value is null; refer to text or a number"},
      {"a: x${b}\nb: [1]\n", "a.yaml:1: a puts 'b' into text, but its value is a list; refer to text or a number"},
      {"a: ${env:EGGROLL_TEST_ABSENT}\n",
       "a.yaml:1: a needs the environment variable 'EGGROLL_TEST_ABSENT', which is not set; set it"},
  };
  for (const auto& row : cases) EXPECT_EQ(config_error_of([&] { resolved(row[0]); }), row[1]) << row[0];
}

TEST(Interpolate, LimitsCountWhatReferencesBringAndNothingElse) {
  const std::string long_text(6000000, 'x');
  ConfigNode root(ConfigNode::Map{{"a", {long_text, {}}}, {"b", {long_text, {}}}}, {});
  EXPECT_EQ(interpolate(root), root);
  for (const char* key : {"c", "d"}) root.map().push_back({key, {std::string("${a}"), {}}});
  EXPECT_NE(config_error_of([&] { interpolate(root); }).find("ten million bytes in all"), std::string::npos);
}

}  // namespace
}  // namespace eggroll::test
