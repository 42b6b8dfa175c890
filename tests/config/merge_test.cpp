// Overlays: what is joined, what is replaced, and which changes of kind are refused.
#include "config/merge.h"

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

std::string overlaid(const std::string& base, const std::string& top) {
  ConfigNode node = parse_yaml(base, "base.yaml");
  overlay(node, parse_yaml(top, "top.yaml"), "");
  return json_of(node);
}

TEST(Overlay, JoinsMapsAndReplacesTheRest) {
  const std::vector<std::vector<std::string>> cases = {
      {"{a: 1, b: 2}", "{b: 3, c: 4}", R"({"a":1,"b":3,"c":4})"},
      {"{a: {b: 1, c: {d: 2}}}", "{a: {c: {d: 3, e: 4}}}", R"({"a":{"b":1,"c":{"d":3,"e":4}}})"},
      {"{a: [1, 2]}", "{a: [3]}", R"({"a":[3]})"},
      {"{a: {b: 1}}", "{a: {}}", R"({"a":{"b":1}})"},
      {"{a: 1}", "{a: 1.5}", R"({"a":1.5})"},
      {"{a: 1.5}", "{a: 2}", R"({"a":2.0})"},
      {"{a: x}", "{a: y}", R"({"a":"y"})"},
      {"{a: true}", "{a: false}", R"({"a":false})"},
      {"{a: null}", "{a: null}", R"({"a":null})"},
      {"{a: null}", "{a: 1}", R"({"a":1})"},
      {"{a: null}", "{a: {b: 1}}", R"({"a":{"b":1}})"},
      {"{a: null}", "{a: [1]}", R"({"a":[1]})"},
      {"{a: '${b}'}", "{a: 1}", R"({"a":1})"},
      {"{a: '${b}'}", "{a: {c: 1}}", R"({"a":{"c":1}})"},
      {"{a: '${b}'}", "{a: null}", R"({"a":null})"},
      {"{a: 1}", "{a: '${b}'}", R"({"a":"${b}"})"},
      {"{a: [1]}", "{a: '${b}'}", R"({"a":"${b}"})"},
  };
  for (const auto& row : cases) EXPECT_EQ(overlaid(row[0], row[1]), row[2]) << row[0] << " under " << row[1];
}

TEST(Overlay, RefusesAnotherKind) {
  const std::vector<std::vector<std::string>> cases = {
      {"{a: 1}", "{a: x}", "a is an integer (base.yaml:1), got the text 'x'; give an integer"},
      {"{a: 1}", "{a: true}", "a is an integer (base.yaml:1), got true; give an integer"},
      {"{a: 1}", "{a: null}", "a is an integer (base.yaml:1), got null; it cannot be null, give an integer"},
      {"{a: 1.5}", "{a: x}", "a is a real (base.yaml:1), got the text 'x'; give a real"},
      {"{a: true}", "{a: 1}", "a is a boolean (base.yaml:1), got the integer 1; give true or false"},
      {"{a: x}", "{a: 1.5}", "a is text (base.yaml:1), got the real 1.5; give text"},
      {"{a: x}", "{a: [x]}", "a is text (base.yaml:1), got a list; give text"},
      {"{a: x}", "{a: {b: 1}}", "a is text (base.yaml:1), got a map; give text"},
      {"{a: [x]}", "{a: x}", "a is a list (base.yaml:1), got the text 'x'; give a list"},
      {"{a: {b: 1, c: 2}}", "{a: 1}", "a is a map (base.yaml:1), got the integer 1; change its keys: b, c"},
      {"{a: {b: 1}}", "{a: null}", "a is a map (base.yaml:1), got null; change its keys: b"},
      {"{a: {b: 1}}", "{a: '${c}'}", "a is a map (base.yaml:1), got the text '${c}'; change its keys: b"},
      {"{a: '$${c}'}", "{a: 1}", "a is text (base.yaml:1), got the integer 1; give text"},
      {"{a: {b: 1}}", "{a: {b: x}}", "a.b is an integer (base.yaml:1), got the text 'x'; give an integer"},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(config_error_of([&] { overlaid(row[0], row[1]); }), "top.yaml:1: " + row[2])
        << row[0] << " under " << row[1];
  }
}

TEST(Overlay, NullMayReturnWhereItWas) {
  ConfigNode node = parse_yaml("{a: null}", "1.yaml");
  overlay(node, parse_yaml("{a: 8}", "2.yaml"), "");
  EXPECT_EQ(config_error_of([&] { overlay(node, parse_yaml("{a: x}", "3.yaml"), ""); }),
            "3.yaml:1: a is an integer (2.yaml:1), got the text 'x'; give an integer");
  overlay(node, parse_yaml("{a: 9}", "4.yaml"), "");
  overlay(node, parse_yaml("{a: null}", "5.yaml"), "");
  EXPECT_EQ(json_of(node), R"({"a":null})");
}

TEST(Overlay, ReplacedValuesTakeTheNewSourceAndJoinedMapsKeepTheirs) {
  ConfigNode node = parse_yaml("a:\n  b: 1.0\n  c: 2\n", "base.yaml");
  overlay(node, parse_yaml("\n\n\na:\n  b: 3\n", "top.yaml"), "");
  EXPECT_EQ(node.at("a").source().text(), "base.yaml:1");
  EXPECT_EQ(node.at("a.b").source().text(), "top.yaml:5");
  EXPECT_EQ(node.at("a.c").source().text(), "base.yaml:3");
}

}  // namespace
}  // namespace eggroll::test
