// YAML to typed values and back, JSON, and the hash.
#include "config/yaml.h"

#include <limits>
#include <random>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

using Kind = ConfigNode::Kind;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

ConfigNode node(ConfigNode::Value value) { return {std::move(value), {}}; }

TEST(Yaml, TypesScalarsAsTheCoreSchemaDoes) {
  const std::vector<std::pair<std::string, ConfigNode>> cases = {
      {"", node({})},
      {"~", node({})},
      {"null", node({})},
      {"Null", node({})},
      {"true", node(true)},
      {"FALSE", node(false)},
      {"yes", node("yes")},
      {"on", node("on")},
      {"tRUE", node("tRUE")},
      {"0", node(0)},
      {"-12", node(-12)},
      {"+12", node(12)},
      {"007", node(7)},
      {"0x1f", node(31)},
      {"0xFF", node(255)},
      {"0o17", node(15)},
      {"9223372036854775807", node(kMost)},
      {"-9223372036854775808", node(kLeast)},
      {"-0x10", node("-0x10")},
      {"0x", node("0x")},
      {"1_000", node("1_000")},
      {"1.0", node(1.0)},
      {"-1.5", node(-1.5)},
      {"+.5", node(0.5)},
      {"5.", node(5.0)},
      {"1e-3", node(0.001)},
      {"1E+3", node(1000.0)},
      {"2.5e3", node(2500.0)},
      {"1e", node("1e")},
      {"e3", node("e3")},
      {".", node(".")},
      {"-", node("-")},
      {"+", node("+")},
      {"1.2.3", node("1.2.3")},
      {"12:30", node("12:30")},
      {"abc", node("abc")},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(json_of(plain_scalar(text, {})), json_of(expected)) << text;
    EXPECT_EQ(plain_scalar(text, {}).kind(), expected.kind()) << text;
    if (text == "-") continue;  // a list in a document
    EXPECT_EQ(parse_yaml("key: " + text + "\n", "a.yaml").at("key"), expected) << text;
    EXPECT_EQ(parse_yaml("key: \"" + text + "\"\n", "a.yaml").at("key"), node(text)) << text;
    EXPECT_EQ(parse_yaml("key: '" + text + "'\r\n", "a.yaml").at("key"), node(text)) << text;
  }
}

TEST(Yaml, EveryNodeKnowsItsFileAndLine) {
  const ConfigNode root =
      parse_yaml("# comment\na: 1\nb:\n\n  c:\n    long text\n  d: [1,\n    2]\ne:\n- x\n- y: 3\n", "dir/a.yaml");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "dir/a.yaml"},      {"a", "dir/a.yaml:2"},    {"b", "dir/a.yaml:3"},
      {"b.c", "dir/a.yaml:5"}, {"b.d", "dir/a.yaml:7"},  {"b.d.1", "dir/a.yaml:8"},
      {"e", "dir/a.yaml:9"},   {"e.0", "dir/a.yaml:10"}, {"e.1.y", "dir/a.yaml:11"},
  };
  for (const auto& [path, source] : cases) EXPECT_EQ(root.at(path).source().text(), source) << path;
}

TEST(Yaml, AnEmptyDocumentIsNull) {
  EXPECT_EQ(parse_yaml("", "a.yaml"), ConfigNode());
  EXPECT_EQ(parse_yaml("# only a comment\n", "a.yaml"), ConfigNode());
}

TEST(Yaml, RefusesInOneSentence) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a: 1\nb: 2\na: 3\n", "a.yaml:3: the key 'a' is given twice, first in line 1; remove one"},
      {"a:\n  {b: 1, b: 2}\n", "a.yaml:2: the key 'b' is given twice, first in line 2; remove one"},
      {"a: 9223372036854775808\n",
       "a.yaml:1: the integer 9223372036854775808 does not fit 64 bits; use a smaller one, or quotes for text"},
      {"a: -0\nb: 0xffffffffffffffff\n",
       "a.yaml:2: the integer 0xffffffffffffffff does not fit 64 bits; use a smaller one, or quotes for text"},
      {"a: 1e999\n", "a.yaml:1: the real 1e999 does not fit 64 bits; use another, or quotes for text"},
      {"a: -.inf\n", "a.yaml:1: the real -.inf is not finite; use a finite one, or quotes for text"},
      {"a: .nan\n", "a.yaml:1: the real .nan is not finite; use a finite one, or quotes for text"},
      {"a: &x 1\nb: *x\n", "a.yaml:1: anchors and aliases (& and *) are not read; use ${key} instead"},
      {"a: &x [1]\n", "a.yaml:1: anchors and aliases (& and *) are not read; use ${key} instead"},
      {"b:\n  <<: {a: 1}\n", "a.yaml:2: merge keys (<<) are not read; use a defaults list or ${key} instead"},
      {"a: !!str 1\n", "a.yaml:1: tags (!) are not read; remove it, or put text in quotes"},
      {"a.b: 1\n", "a.yaml:1: the key 'a.b' holds a dot, expected nested keys; write them as a map"},
      {"defaults:\n- a.b: 1\n", "a.yaml:2: the key 'a.b' holds a dot, expected nested keys; write them as a map"},
      {"list:\n- a@b.c: 1\n", "a.yaml:2: the key 'a@b.c' holds a dot, expected nested keys; write them as a map"},
      {"'': 1\n", "a.yaml:1: a key is empty; name it"},
      {std::string(201, 'k') + ": 1\n", "a.yaml:1: a key has 201 bytes, expected at most 200; shorten it"},
      {"? " + std::string(2000, 'k') + "\n: 1\n", "a.yaml:1: a key has 2000 bytes, expected at most 200; shorten it"},
      {"a: \xef\xb7\x90\n", "a.yaml:1: the text holds a code that is no character (U+FFFE); remove it"},
      {"a: \xef\xbf\xbf\n", "a.yaml:1: the text holds a code that is no character (U+FFFE); remove it"},
      {"a: \"\\U0001fffe\"\n", "a.yaml:1: the text holds a code that is no character (U+FFFE); remove it"},
      {"~: 1\n", "a.yaml:1: a key is null, expected text; name it or put it in quotes"},
      {"[a]: 1\n", "a.yaml:1: a key is a list or a map, expected text; name it"},
      {"a: 1\n---\nb: 2\n", "a.yaml:2: a second document or stray text begins here, expected one document; remove it"},
      {"a: \"x\\0y\"\n", "a.yaml:1: the text holds a zero byte; remove it"},
      {"a: \xff\n", "a.yaml: not UTF-8 text; convert it"},
      {std::string("a\0:\0 \0b\0", 8), "a.yaml: not UTF-8 text; convert it"},
      {"a: 1\nb\n", "a.yaml:2: the key 'b' has no colon; write 'b: null' for no value"},
      {"a: 1\nb: [1, 2\n", "a.yaml:3:1: not YAML: end of sequence flow not found; correct the file"},
      {"a: \"x\nb: y\n", "a.yaml:3:1: not YAML: a quote is not closed; correct the file"},
      {"a: 'x", "a.yaml:1:6: not YAML: a quote is not closed; correct the file"},
      {"a: b\n  c: d\n", "a.yaml:2:4: not YAML: illegal map value; correct the file"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(config_error_of([&, &yaml = text] { parse_yaml(yaml, "a.yaml"); }), expected) << text;
  }
}

TEST(Yaml, RefusesMoreThan100NestedListsAndMaps) {
  EXPECT_NE(config_error_of([] { parse_yaml(std::string(100000, '['), "a.yaml"); }).find("a.yaml:1:"),
            std::string::npos);
  EXPECT_EQ(parse_yaml(std::string(100, '[') + std::string(100, ']'), "a.yaml").list().size(), 1U);
  EXPECT_EQ(config_error_of([] { parse_yaml(std::string(101, '[') + std::string(101, ']'), "a.yaml"); }),
            "a.yaml:1: more than 100 lists and maps are nested; flatten some of them");
}

TEST(Yaml, WritesOneStableForm) {
  const ConfigNode root = parse_yaml(
      "b: 1\na:\n  list: [1, 2.0, x, '3', null, [], {}]\n  real: 1e-5\n  text: 'true'\n  odd: \"a: b\\n\"\n  empty: "
      "''\n"
      "none:\nmap: {}\n\"odd key\": {yes: no}\nbig: 800000.0\npath: results/runs\n",
      "a.yaml");
  EXPECT_EQ(
      to_yaml(root),
      "b: 1\na:\n  list: [1, 2.0, x, \"3\", null, [], {}]\n  real: 1.0e-05\n  text: \"true\"\n  odd: \"a: b\\n\"\n"
      "  empty: \"\"\nnone: null\nmap: {}\n\"odd key\":\n  \"yes\": \"no\"\nbig: 800000.0\npath: results/runs\n");
  EXPECT_EQ(json_of(root),
            R"({"b":1,"a":{"list":[1,2.0,"x","3",null,[],{}],"real":1e-05,"text":"true","odd":"a: b\n","empty":""},)"
            R"("none":null,"map":{},"odd key":{"yes":"no"},"big":800000.0,"path":"results/runs"})");
  EXPECT_EQ(parse_yaml(to_yaml(root), "b.yaml"), root);
}

// A comment stays on one line, and has no character that a YAML reader refuses.
TEST(Yaml, SourcesAreCommentsOfOneLine) {
  ConfigNode::Map map;
  map.push_back({"a", ConfigNode(int64_t{1}, {"command line 'a=\n1\x7f'", 0})});
  EXPECT_EQ(to_yaml(node(std::move(map)), true), "a: 1  # command line 'a= 1\xef\xbf\xbd'\n");
}

TEST(Yaml, RealsKeepEveryBit) {
  for (const double value : {0.1, 1.0 / 3.0, -0.0, 1e22, 1e300, 5e-324, std::numeric_limits<double>::max(), 15.0}) {
    const ConfigNode back = parse_yaml(to_yaml(node(value)), "a.yaml");
    ASSERT_EQ(back.kind(), Kind::kReal) << real_text(value);
    EXPECT_EQ(back.real(), value);
    EXPECT_EQ(std::signbit(back.real()), std::signbit(value));
  }
  EXPECT_EQ(real_text(0.1), "0.1");
  EXPECT_EQ(real_text(15.0), "15.0");
  EXPECT_EQ(real_text(1e22), "1e+22");
}

// Trees of every kind with awkward texts, the same on every machine.
class RandomTrees {
 public:
  ConfigNode next(int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return node({});
      case 1:
        return node(below(2) == 1);
      case 2:
        return node(static_cast<int64_t>((uint64_t{bits_()} << 32 | bits_()) >> below(64)) * (below(2) == 1 ? 1 : -1));
      case 3:
        return node(static_cast<double>(bits_()) / (1 + below(1000)) * (below(2) == 1 ? 1 : -1));
      case 6: {
        ConfigNode::List list;
        for (uint32_t i = below(4); i > 0; --i) list.push_back(next(depth - 1));
        return node(std::move(list));
      }
      case 7: {
        ConfigNode::Map map;
        for (uint32_t i = below(4); i > 0; --i) map.push_back({std::to_string(i) + text("-"), next(depth - 1)});
        return node(std::move(map));
      }
      default:
        return node(text("."));
    }
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(bits_()) % limit; }
  std::string text(const std::string& dot) {
    const std::vector<std::string> parts = {
        "a",  " ", ":",    "#", "'", "\"", "\n",       "\t",           "{",  "]",   "1", "e5", dot, "-",
        "\\", "~", "true", ",", "%", "&x", "\xc3\xa9", "\xe2\x80\xa8", "${", "null"};
    std::string result;
    for (uint32_t i = below(5); i > 0; --i) result += parts[below(static_cast<uint32_t>(parts.size()))];
    return result;
  }
  std::mt19937 bits_{20};
};

TEST(Yaml, WhatIsWrittenReadsBackTheSame) {
  RandomTrees trees;
  for (int i = 0; i < 2000; ++i) {
    const ConfigNode tree = trees.next(3);
    ASSERT_EQ(parse_yaml(to_yaml(tree), "a.yaml"), tree) << to_yaml(tree);
  }
}

TEST(Tree, AccessorsRefuseAnotherKind) {
  const ConfigNode root = parse_yaml("a: 5\n", "a.yaml");
  EXPECT_EQ(root.at("a").integer(), 5);
  EXPECT_EQ(config_error_of([&] { root.at("a").text(); }), "a.yaml:1: found the integer 5, expected text");
  EXPECT_EQ(config_error_of([&] { root.at("a").map(); }), "a.yaml:1: found the integer 5, expected a map");
  EXPECT_EQ(config_error_of([&] { root.at("b"); }), "a.yaml: the configuration has no key 'b'; did you mean 'a'?");
  EXPECT_EQ(config_error_of([&] { root.at("a.x"); }),
            "a.yaml: a (a.yaml:1) is an integer and has no key 'x'; leave '.x' out");
}

TEST(Tree, EqualityCountsKindValueAndOrderButNotSources) {
  EXPECT_EQ(parse_yaml("a: 1\nb: [x]\n", "a.yaml"), parse_yaml("\n{a: 0x1, b: ['x']}", "b.yaml"));
  EXPECT_FALSE(parse_yaml("a: 1", "") == parse_yaml("a: 1.0", ""));
  EXPECT_FALSE(parse_yaml("a: 1", "") == parse_yaml("a: '1'", ""));
  EXPECT_FALSE(parse_yaml("{a: 1, b: 2}", "") == parse_yaml("{b: 2, a: 1}", ""));
}

TEST(Hash, IsTheSha256OfSortedJson) {
  // printf '{"a":{"c":[true,null,0.1],"d":"x"},"b":1}' | sha256sum
  EXPECT_EQ(json_hash(to_json(parse_yaml("b: 1\na: {d: x, c: [true, ~, 0.1]}\n", "")), {}),
            "f6111fff40d1eafc11fe4f91e27d2408c1a428851a167f8a9f9a51de1bdd2c54");
}

TEST(Hash, ForgetsOrderSourcesAndExcludedKeysAlone) {
  const std::string hash = json_hash(to_json(parse_yaml("a: 1\nb: {c: 2, d: 3}\n", "a.yaml")), {});
  const auto hash_of = [](const std::string& text, const std::vector<std::string>& excluded = {}) {
    return json_hash(to_json(parse_yaml(text, "b.yaml")), excluded);
  };
  EXPECT_EQ(hash_of("# x\nb: {d: 3, c: 2}\na: 0x1\n"), hash);
  EXPECT_EQ(hash_of("a: 1\nresults: x\nb: {c: 2, d: 3}\n", {"results", "absent"}), hash);
  for (const char* other : {"a: 2\nb: {c: 2, d: 3}", "a: 1.0\nb: {c: 2, d: 3}", "a: '1'\nb: {c: 2, d: 3}",
                            "a: 1\nb: {c: 2}", "a: 1\nb: {c: 3, d: 2}", "a: 1\nb: {c: 2, d: 3}\ne: null"}) {
    EXPECT_NE(hash_of(other), hash) << other;
  }
  EXPECT_NE(hash_of("a: 1\nb: {c: 2, d: 3, results: x}\n", {"results"}), hash);
}

}  // namespace
}  // namespace eggroll::test
