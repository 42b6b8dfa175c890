// Grids as experiments write them, and the points they have.
#include "experiment/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GridTest : public ConfigFolderTest {
 protected:
  // The lines below `sweep:`, indented by two.
  Grid grid(const std::string& lines, const std::vector<std::string>& overrides = {}) const {
    return read_grid(parse_yaml("seed: 7\nsweep:\n" + lines, "grid.yaml"), search_, overrides);
  }
  // Each point as its overrides, in order.
  std::vector<std::string> points(const std::string& lines, const std::vector<std::string>& overrides = {}) const {
    std::vector<std::string> texts;
    for (const GridPoint& point : grid(lines, overrides).points) {
      std::string text;
      for (const AxisValue& value : point) {
        text += (text.empty() ? "" : " ") + fmt::format("{}", fmt::join(value.overrides, "+"));
      }
      texts.push_back(text);
    }
    return texts;
  }
  std::string refusal(const std::string& lines, const std::vector<std::string>& overrides = {}) const {
    return test::config_error_of([&] { grid(lines, overrides); });
  }
};

TEST_F(GridTest, ProductTakesEveryCombinationTheLastFastest) {
  EXPECT_THAT(points("  product: [\"a=1,2\", \"b=x,y\"]\n"), ElementsAre("a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"));
}

TEST_F(GridTest, AxesHaveTheGrammarOfTheCommandLine) {
  EXPECT_THAT(points("  product: [\"a=range(1,4)\"]\n"), ElementsAre("a=1", "a=2", "a=3"));
  EXPECT_THAT(points("  product: [\"a=choice(x,[1,2])\"]\n"), ElementsAre("a=x", "a=[1, 2]"));
  EXPECT_THAT(points("  product: [\"model=glob(*)\"]\n"), testing::Contains("model=gru"));
  EXPECT_THAT(points("  product: [+a=1]\n"), ElementsAre("+a=1"));
}

TEST_F(GridTest, ZipTakesThemTogether) {
  EXPECT_THAT(points("  zip: [\"a=1,2\", \"b=x,y\"]\n"), ElementsAre("a=1+b=x", "a=2+b=y"));
  EXPECT_THAT(points("  product: [\"c=0,1\", {zip: [\"a=1,2\", \"b=x,y\"]}]\n"),
              ElementsAre("c=0 a=1+b=x", "c=0 a=2+b=y", "c=1 a=1+b=x", "c=1 a=2+b=y"));
  EXPECT_EQ(axes_of(grid("  zip: [\"a=1\", \"b=x\"]\n").points[0]).dump(), R"({"a+b":{"a":"1","b":"x"}})");
}

TEST_F(GridTest, UnionTakesOneAfterTheOther) {
  EXPECT_THAT(points("  union: [{product: [\"a=1,2\"]}, {points: [b=x, [a=1, b=y]]}]\n"),
              ElementsAre("a=1", "a=2", "b=x", "a=1 b=y"));
}

TEST_F(GridTest, ExcludeLeavesOutWhatMatches) {
  EXPECT_THAT(points("  product: [\"a=1,2,3\", \"b=x,y\"]\n  exclude: [[\"a=1,2\", b=y], a=3]\n"),
              ElementsAre("a=1 b=x", "a=2 b=x"));
}

TEST_F(GridTest, WhenContinuesThePointsThatMatch) {
  EXPECT_THAT(points("  product: [\"a=1,2\", {when: [a=2], product: [\"b=x,y\"]}]\n"),
              ElementsAre("a=1", "a=2 b=x", "a=2 b=y"));
}

TEST_F(GridTest, ExcludeInAnItemSeesThePointsBeforeIt) {
  EXPECT_THAT(points("  product: [\"a=1,2\", {product: [\"b=x,y\"], exclude: [[a=1, b=x]]}]\n"),
              ElementsAre("a=1 b=y", "a=2 b=x", "a=2 b=y"));
}

TEST_F(GridTest, SeedsAreTheConfigurationsUnlessGiven) {
  EXPECT_THAT(grid("  product: [a=1]\n").seeds, ElementsAre(7));
  EXPECT_THAT(grid("  product: [a=1]\n  seeds: 3\n").seeds, ElementsAre(0, 1, 2));
  EXPECT_THAT(grid("  product: [a=1]\n  seeds: [5, 2]\n").seeds, ElementsAre(5, 2));
}

TEST_F(GridTest, BudgetAndLimits) {
  const Grid all = grid(
      "  product: [a=1]\n  budget: {seconds: 1.5, steps: 2, tokens: 3}\n"
      "  limits: {seconds: 4, memory_gib: 0.5}\n");
  EXPECT_EQ(all.budget.seconds, 1.5);
  EXPECT_EQ(all.budget.steps, 2U);
  EXPECT_EQ(all.budget.tokens, 3U);
  EXPECT_EQ(all.limits.seconds, 4.0);
  EXPECT_EQ(all.limits.memory_bytes, uint64_t{1} << 29);
  const Grid none = grid("  product: [a=1]\n");
  EXPECT_FALSE(none.budget.seconds || none.budget.steps || none.budget.tokens);
  EXPECT_FALSE(none.limits.seconds || none.limits.memory_bytes);
}

TEST_F(GridTest, ClaimsSpeakOfItsAxes) {
  const std::string claims =
      "  claims: [{says: More is better, compare: {axis: a, value: 2, with: 1}, expect: lower}]\n";
  EXPECT_EQ(grid("  product: [\"a=1,2\"]\n" + claims).claims.at(0).at("says"), "More is better");
  const std::string where = "  claims: [{says: So, where: [b.c=3], share: {below: 1}, expect: lower, than: 0.5}]\n";
  EXPECT_EQ(grid("  product: [\"a=1,2\", b.c=3]\n" + where).claims.at(0).at("where").dump(), R"({"b.c":"3"})");
  EXPECT_THAT(refusal("  product: [\"b=1,2\"]\n" + claims), HasSubstr("claim 1 (grid.yaml:4)"));
}

// ---- The command line sets what the grid varies ----
TEST_F(GridTest, TheCommandLineWinsOverAnAxis) {
  const std::string lines = "  product: [\"a=1,2\", \"b=x,y\"]\n";
  EXPECT_THAT(points(lines, {"a=2"}), ElementsAre("a=2 b=x", "a=2 b=y"));
  EXPECT_THAT(points(lines, {"a=7"}), ElementsAre("a=7 b=x", "a=7 b=y"));
  // the last override counts; a number is compared by its value
  EXPECT_THAT(points(lines, {"a=7", "++a=1.0", "b=z"}), ElementsAre("a=1 b=z"));
  EXPECT_THAT(grid(lines, {"a=7", "b=y", "c=1"}).said,
              ElementsAre("a is 7, as the command line says; the sweep has 1, 2",
                          "b is y, as the command line says; the sweep has x, y"));
  EXPECT_THAT(grid("  product: [a=1]\n", {"a=1"}).said, ElementsAre());
  EXPECT_THAT(points("  product: [\"m.a=1,2\", \"m.b=1,2\"]\n", {"m={a: 3, c: 4}"}),
              ElementsAre("m.a=3 m.b=1", "m.a=3 m.b=2"));
  EXPECT_THAT(points("  product: [\"+a=1,2\"]\n", {"+a=2"}), ElementsAre("a=2"));
  EXPECT_THAT(points("  product: [\"a=1,2\"]\n", {"a=2", "~a"}), ElementsAre("a=1", "a=2"));
}

TEST_F(GridTest, TheCommandLineChoosesAGroupsOption) {
  EXPECT_THAT(points("  product: [\"model=glob(*)\", \"a=1,2\"]\n", {"model=gru"}),
              ElementsAre("model=gru a=1", "model=gru a=2"));
  // The axis chooses an option; a setting of that option is no part of the axis.
  EXPECT_THAT(points("  product: [\"model=gru\"]\n", {"model.width=8"}), ElementsAre("model=gru"));
}

TEST_F(GridTest, TheCommandLineChoosesRowsOfAZip) {
  const std::string lines = "  zip: [\"a=1,2,1\", \"b=x,y,z\"]\n";
  EXPECT_THAT(points(lines, {"a=1"}), ElementsAre("a=1+b=x", "a=1+b=z"));
  EXPECT_THAT(points(lines, {"b=y"}), ElementsAre("a=2+b=y"));
  EXPECT_THAT(points(lines, {"a=5", "b=w"}), ElementsAre("a=5+b=w"));
  EXPECT_EQ(refusal(lines, {"a=5"}),
            "grid.yaml:3: no row has the command line's a, and b changes with it; "
            "choose values of one row, or set b too");
}

TEST_F(GridTest, TheCommandLineChoosesListedPoints) {
  const std::string lines = "  points: [[a=1, b=x], [a=2, b=y], c=3]\n";
  EXPECT_THAT(points(lines, {"a=2"}), ElementsAre("a=2 b=y", "c=3"));
  EXPECT_THAT(points("  points: [a=1, a=2]\n", {"a=5"}), ElementsAre("a=5"));
  EXPECT_THAT(refusal("  points: [[a=1, b=x], [a=2, b=y]]\n", {"a=5"}), HasSubstr("no row has the command line's a, "));
}

TEST_F(GridTest, ConditionsSeeWhatTheCommandLineLeaves) {
  const std::string lines =
      "  product: [\"a=1,2\", {when: [a=2], product: [\"b=x,y\"]}]\n  exclude: [[a=1], [a=2, b=y]]\n";
  EXPECT_THAT(points(lines), ElementsAre("a=2 b=x"));
  EXPECT_THAT(points(lines, {"a=3"}), ElementsAre("a=3"));
  EXPECT_THAT(points(lines, {"b=z"}), ElementsAre("a=2 b=z"));
  EXPECT_EQ(refusal(lines, {"a=1"}),
            "grid.yaml:2: the grid has no points left; exclude fewer, or choose other values: a is 1, as the command "
            "line says; the sweep has 1, 2");
}

TEST_F(GridTest, TheCommandLinesSeedIsTheOnlyOne) {
  EXPECT_THAT(grid("  product: [a=1]\n  seeds: 3\n", {"seed=7"}).seeds, ElementsAre(7));
  EXPECT_THAT(grid("  product: [a=1]\n  seeds: 3\n", {"seed=7"}).said,
              ElementsAre("seed is 7, as the command line says; the sweep has 0, 1, 2"));
  EXPECT_THAT(grid("  product: [a=1]\n  seeds: [7]\n", {"seed=7"}).said, ElementsAre());
}

TEST_F(GridTest, AClaimMaySpeakOfWhatTheCommandLineLeavesOut) {
  const std::string lines =
      "  product: [\"a=1,2\"]\n"
      "  claims: [{says: So, compare: {axis: a, value: 2, with: 1}, expect: lower}]\n";
  EXPECT_EQ(grid(lines, {"a=1"}).claims.size(), 1U);
}

TEST_F(GridTest, APartOfAnAxisCannotBeSet) {
  EXPECT_EQ(refusal("  product: [\"a={b: 1}\"]\n", {"a.b=2"}),
            "grid.yaml:3: a is an axis and the command line sets a.b, a part of it; set all of a");
}

TEST_F(GridTest, IsRefusedInASentenceWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"  seeds: 2\n", "grid.yaml:2: a grid has no points, expected one of: product, zip, union, points"},
      {"  produkt: [a=1]\n", "grid.yaml:3: a grid has no key 'produkt'; did you mean 'product'?"},
      {"  product: [a=1]\n  zip: [b=1]\n",
       "grid.yaml:4: a grid has both product and zip, expected one; put them into a product or a union"},
      {"  product: []\n", "grid.yaml:3: product is an empty list, expected a list with at least one item"},
      {"  product: [{a: 1}]\n",
       "grid.yaml:3: a grid has no key 'a'; known: product, zip, union, points, when, "
       "exclude"},
      {"  product: [3]\n",
       "grid.yaml:3: the integer 3 stands in a grid, expected an override or a map with one of: product, zip, "
       "union, points"},
      {"  product: [b=1, a=256,512,1024]\n",
       "grid.yaml:3: '512' stands alone, because YAML ends 'a=256' at its comma; put the override in quotes: "
       "\"a=256,512,1024\""},
      {"  zip: [a=x,y, b=1]\n",
       "grid.yaml:3: 'y' stands alone, because YAML ends 'a=x' at its comma; put the override in quotes: "
       "\"a=x,y\""},
      {"  product: [\"a=1,2\", {product: [b=1], when: [a=1,2]}]\n",
       "grid.yaml:3: '2' stands alone, because YAML ends 'a=1' at its comma; put the override in quotes: "
       "\"a=1,2\""},
      {"  product: [\"a=1,2\", \"a=3\"]\n", "grid.yaml:3: a has a value at these points already (a=1); keep one"},
      {"  product: [\"seed=1,2\"]\n", "grid.yaml:3: seed is no axis, because seeds are replicates; write sweep.seeds"},
      {"  product: [\"monitor.every=1,2\"]\n",
       "grid.yaml:3: monitor.every is no axis, because runs that differ only in monitor are the same run; set "
       "it for the whole sweep"},
      {"  product: [\"eval.hook_seconds=1,2\"]\n",
       "grid.yaml:3: eval.hook_seconds is no axis, because runs that differ only in eval.hook_seconds are the "
       "same run; set it for the whole sweep"},
      {"  zip: [\"a=1,2\", \"b=1,2,3\"]\n",
       "grid.yaml:3: 'b=1,2,3' has 3 values, expected 2 as the zip's first axis has; correct one of them"},
      {"  points: [\"a=1,2\"]\n",
       "grid.yaml:3: 'a=1,2' has 2 values, expected one, because a point is one run; write a point for each "
       "value"},
      {"  union: [\"a=1\"]\n",
       "grid.yaml:3: an item of a union is no grid, expected a map such as {product: [...]}; write one"},
      {"  product: [\"abc=1,2\"]\n  exclude: [abd=1]\n",
       "grid.yaml:4: abd is no axis of these points; did you mean 'abc'?"},
      {"  product: [{when: [a=1], product: [b=1]}]\n", "grid.yaml:3: a is no axis of these points; none is known here"},
      {"  when: [a=1]\n  product: [a=1]\n",
       "grid.yaml:3: a grid has no key 'when'; known: product, zip, union, "
       "points, exclude, question, claims, seeds, budget, limits"},
      {"  product: [\"a=1,2\"]\n  exclude: [\"a=range(0,9)\"]\n",
       "grid.yaml:2: the grid has no points left; exclude fewer"},
      {"  product: [a=1]\n  seeds: 0\n",
       "grid.yaml:4: sweep.seeds is 0, expected a number of seeds from 1 to 10000 or a list of seeds"},
      {"  product: [a=1]\n  seeds: [1, 1]\n", "grid.yaml:4: the seed 1 is given twice; remove one"},
      {"  product: [a=1]\n  seeds: [-1]\n", "grid.yaml:4: a seed is the integer -1, expected an integer from 0"},
      {"  product: [\"a=range(0,1000)\", \"b=range(0,101)\"]\n",
       "grid.yaml:3: the grid has more than 100000 points; take fewer values"}};
  for (const auto& [lines, sentence] : cases) EXPECT_EQ(refusal(lines), sentence) << lines;
}

TEST_F(GridTest, WrongBudgetsNameTheirPlace) {
  EXPECT_THAT(refusal("  product: [a=1]\n  budget: {second: 1}\n"), HasSubstr("grid.yaml:4: "));
  EXPECT_THAT(refusal("  product: [a=1]\n  budget: {second: 1}\n"), HasSubstr("did you mean 'seconds'?"));
  EXPECT_THAT(refusal("  product: [a=1]\n  limits: {seconds: -1}\n"), HasSubstr("sweep.limits.seconds is -1"));
}

TEST_F(GridTest, WrongOverridesNameTheirPlace) {
  EXPECT_THAT(refusal("  product: [\"a=range(\"]\n"), HasSubstr("grid.yaml:3: "));
  EXPECT_THAT(refusal("  product: [\"model=glob(none*)\"]\n"), HasSubstr("glob() matches no option of model"));
}

}  // namespace
}  // namespace eggroll::test
