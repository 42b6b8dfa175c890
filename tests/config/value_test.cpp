// The parts of values and of the expansion of sweeps that override_table.cpp does not cover.
#include "config/value.h"

#include <gmock/gmock.h>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

TEST(Value, AChoiceOfOneIsASweepAndAListIsNone) {
  EXPECT_TRUE(parse_override_value("choice(a)", {}).is_sweep);
  EXPECT_FALSE(parse_override_value("[1,2]", {}).is_sweep);
}

TEST(Value, IntervalsAreForASearchAlone) {
  const OverrideValue value = parse_override_value("tag(log, int(interval(1, 64)))", {});
  ASSERT_TRUE(value.interval.has_value());
  EXPECT_EQ(value.interval->high, 64.0);
  EXPECT_TRUE(value.interval->whole && value.interval->logarithmic);
  EXPECT_EQ(config_error_of([] {
              parse_element("interval(1, 2)", {"here", 0});
            }),
            "here: an interval, expected values, because only a search draws from intervals; list them, or put it into "
            "sweep.search.params");
}

TEST(Value, ManyNestedFunctionsDoNotExhaustTheStack) {
  const auto nested = [](const std::string& function) {
    std::string deep;
    for (int i = 0; i < 30000; ++i) deep += function;
    return deep + "1" + std::string(30000, ')');
  };
  for (const auto& [function, refusal] : {std::pair{"int(", "here: int() holds int(int("},
                                          {"tag(log, ", "here: tag(log, ...) holds tag(log, tag(log, "},
                                          {"choice(", "here: the sweep choice(choice("}}) {
    EXPECT_THAT(config_error_of([&, &name = function] {
                  parse_override_value(nested(name), {"here", 0});
                }),
                ::testing::StartsWith(refusal));
  }
  EXPECT_EQ(parse_override_value(nested("glob("), {}).patterns.size(), 1U);
}

class ExpandTest : public ConfigFolderTest {};

TEST_F(ExpandTest, NoOverridesAreOneRun) { EXPECT_EQ(expand_sweeps(search_, {}).size(), 1U); }

TEST_F(ExpandTest, GlobsNamesAreTextWhateverTheyAre) {
  write("configs/odd/null.yaml", "");
  write("configs/odd/a,b.yaml", "");
  const std::vector<std::vector<std::string>> runs = {{R"(odd="a,b")"}, {R"(odd="null")"}};
  EXPECT_EQ(expand_sweeps(search_, {"odd=glob(*)"}), runs);
}

TEST_F(ExpandTest, RefusesTooManyRuns) {
  EXPECT_EQ(config_error_of([&] {
              expand_sweeps(search_, {"a=range(1000)", "b=range(1000)"});
            }),
            "the sweeps have more than 100000 combinations; take fewer values");
}

}  // namespace
}  // namespace eggroll::test
