// The parts of overrides that override_table.cpp does not cover: order, sources, the error's key, limits.
#include "config/override.h"

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

class OverrideTest : public ConfigFolderTest {};

TEST_F(OverrideTest, TheSourceIsTheOverride) {
  const ConfigNode config = composed({"+a={b: [1]}", "train.steps=5"});
  EXPECT_EQ(config.at("train.steps").source().text(), "command line 'train.steps=5'");
  EXPECT_EQ(config.at("a").source().text(), "command line '+a={b: [1]}'");
  EXPECT_EQ(config.at("a.b.0").source().text(), "command line '+a={b: [1]}'");
}

TEST_F(OverrideTest, ChangedKeysKeepTheirPlaceAndNewOnesAreLast) {
  EXPECT_EQ(json_of(composed({"train.rate=2", "+train.a=1", "++train={steps: 5, b: 2}"}).at("train")),
            R"({"steps":5,"rate":2.0,"tokens":32,"a":1,"b":2})");
}

TEST_F(OverrideTest, KeysHaveALimit) {
  std::string deep = "a";
  while (deep.size() < 199) deep += ".a";
  EXPECT_EQ(complaint({"+" + deep + "=1"}), "");
  EXPECT_NE(complaint({"+" + deep + ".a=1"}).find("200 characters at most"), std::string::npos);
  EXPECT_EQ(complaint({"+" + deep + "=[1]"}),
            "command line '+" + deep + "=[1]': " + deep +
                " lies too deep, expected at most 100 nested lists and maps; flatten some of them");
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
