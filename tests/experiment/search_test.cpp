// What a search draws and what it lets go on, without running any trial.
#include <fmt/format.h>

#include <cmath>

#include "experiment/search_folder.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SearchTest, TrialsAreWithinTheirRangesAndTheSameEachTime) {
  for (const char* sampler : {"random", "sobol", "tpe"}) {
    const std::string section = fmt::format("{}, sampler: {}, trials: 40, startup: 40", kParams, sampler);
    const std::optional<SearchRound> round = open(section).next();
    ASSERT_TRUE(round.has_value());
    ASSERT_EQ(round->sweep.points.size(), 40U) << sampler;
    std::set<std::string> widths;
    for (const SweepPoint& point : round->sweep.points) {
      EXPECT_EQ(point.seed, 100U);
      widths.insert(point.axes.at("model.width"));
      const double alpha = point.config.at("optimizer.alpha").real();
      EXPECT_GE(alpha, 0.01);
      EXPECT_LE(alpha, 1.0);
      const int64_t tokens = point.config.at("train.tokens").integer();
      EXPECT_TRUE(tokens >= 1 && tokens <= 4) << tokens;
    }
    EXPECT_EQ(widths.size(), 3U) << sampler;
    const std::optional<SearchRound> again = open(section).next();
    for (size_t i = 0; i < 40; ++i) EXPECT_EQ(again->sweep.points[i].hash, round->sweep.points[i].hash);
    const std::optional<SearchRound> other = open(section + ", seed: 1").next();
    EXPECT_NE(other->sweep.points[0].hash, round->sweep.points[0].hash);
  }
}

// Half of a logarithmic interval's draws lie below its geometric mean; Sobol points divide it evenly.
TEST_F(SearchTest, LogarithmicAndWholeIntervalsAreEvenlyCovered) {
  const std::optional<SearchRound> round =
      open(
          "params: [\"optimizer.alpha=tag(log, interval(0.01, 1))\", \"train.tokens=int(interval(1, 4))\"], sampler: "
          "sobol, trials: 64")
          .next();
  size_t below = 0;
  std::map<int64_t, size_t> tokens;
  for (const SweepPoint& point : round->sweep.points) {
    below += point.config.at("optimizer.alpha").real() < 0.1 ? 1U : 0U;
    ++tokens[point.config.at("train.tokens").integer()];
  }
  EXPECT_NEAR(static_cast<double>(below), 32.0, 1.0);
  for (int64_t value = 1; value <= 4; ++value) EXPECT_NEAR(static_cast<double>(tokens[value]), 16.0, 2.0) << value;
}

// On a bowl, trials that the estimator draws come closer to its bottom than random ones.
TEST_F(SearchTest, TpeFindsTheBottomOfABowl) {
  SearchParam real;
  real.interval = SearchInterval{0.0, 1.0};
  real.ordered = true;
  SearchParam choice;
  choice.choices = {"c=0", "c=1", "c=2", "c=3"};
  const std::vector<SearchParam> params = {real, real, choice};
  const auto bowl = [&](const std::vector<double>& u) {
    return std::pow(u[0] - 0.3, 2) + std::pow(u[1] - 0.8, 2) + (params[2].choice_at(u[2]) == 2 ? 0.0 : 0.2);
  };
  const auto mean_of_late = [&](SamplerKind kind, uint64_t seed) {
    std::vector<Observed> observed;
    double late = 0.0;
    for (uint64_t draw = 0; draw < 40; ++draw) {
      const SamplerKind now = draw < 8 ? SamplerKind::kSobol : kind;
      const std::vector<double> u = draw_point(now, params, seed, draw, observed);
      observed.push_back({u, draw == 5 ? std::nullopt : std::optional(bowl(u))});
      if (draw >= 24) late += bowl(u) / 16.0;
    }
    return late;
  };
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_LT(mean_of_late(SamplerKind::kTpe, seed), 0.5 * mean_of_late(SamplerKind::kRandom, seed)) << seed;
  }
}

TEST_F(SearchTest, TheBestThirdGoesOnAndFailedTrialsDoNot) {
  const std::string section = kParams + ", sampler: random, trials: 9, halving: {from: 100, by: 3}";
  const Search search = open(section);
  EXPECT_EQ(search.settings().rungs(9), 3U);
  std::optional<SearchRound> round = search.next();
  ASSERT_EQ(round->sweep.points.size(), 9U);
  EXPECT_EQ(round->sweep.points[0].config.at("stop.steps").integer(), 100);
  const std::string hash = round->sweep.points[7].hash;
  // The higher its number, the better a trial; 8 and 6 fail.
  const auto bits = [](uint64_t trial) {
    return trial == 8 || trial == 6 ? std::nullopt : std::optional(10.0 - static_cast<double>(trial));
  };
  end_round(search, *round, bits);
  round = search.next();
  ASSERT_EQ(round->sweep.points.size(), 3U);
  EXPECT_EQ(round->sweep.points[0].trial->trial, 4U);
  EXPECT_EQ(round->sweep.points[2].trial->trial, 7U);
  EXPECT_EQ(round->sweep.points[2].trial->rung, 1U);
  EXPECT_EQ(round->sweep.points[2].config.at("stop.steps").integer(), 300);
  EXPECT_EQ(round->sweep.points[2].hash, hash);
  EXPECT_FALSE(round->sweep.points[2].is_new);
  end_round(search, *round, bits);
  round = search.next();
  ASSERT_EQ(round->sweep.points.size(), 1U);
  EXPECT_EQ(round->sweep.points[0].config.at("stop.steps").kind(), ConfigNode::Kind::kNull);
  end_round(search, *round, bits);
  EXPECT_FALSE(search.next().has_value());
  const std::vector<Search::Row> table = search.table();
  ASSERT_EQ(table.size(), 9U);
  EXPECT_EQ(table[0].trial, 7U);
  EXPECT_EQ(table[1].trial, 5U);
  EXPECT_FALSE(table[8].last.score.has_value());
}

TEST_F(SearchTest, TrialsThatFailLaterComeLastToo) {
  const Search search = open(kParams + ", sampler: random, trials: 9, halving: {from: 100, by: 3}");
  for (uint64_t rung = 0; rung < 3; ++rung) {
    end_round(search, [&](uint64_t trial) {
      const bool fails = trial == 0 || (trial == 8 && rung == 1);
      return fails ? std::nullopt : std::optional(10.0 - static_cast<double>(trial));
    });
  }
  EXPECT_FALSE(search.next().has_value());
  std::vector<uint64_t> order;
  for (const Search::Row& row : search.table()) order.push_back(row.trial);
  EXPECT_THAT(order, ElementsAre(7, 6, 5, 4, 3, 2, 1, 8, 0));
}

// The best of those that stay before is no answer.
TEST_F(SearchTest, WhereAllThatComeToTheLastRungFailTheSearchFails) {
  const Search search = open(kParams + ", sampler: random, trials: 3, halving: {from: 100, by: 3}, confirm: 2");
  end_round(search, [](uint64_t trial) { return 1.0 + static_cast<double>(trial); });
  ASSERT_EQ(search.next()->sweep.points.size(), 1U);
  end_round(search, [](uint64_t) { return std::nullopt; });
  EXPECT_THAT(message_of([&] { search.next(); }), HasSubstr("that ran to the end failed; their records say why"));
}

TEST_F(SearchTest, ASearchWhoseTrialsAllFailSaysSo) {
  const Search search = open(kParams + ", sampler: random, trials: 3, halving: {seconds: 2, by: 2}");
  EXPECT_EQ(search.next()->sweep.points[0].config.at("stop.seconds").integer(), 2);
  end_round(search, [](uint64_t) { return std::nullopt; });
  EXPECT_THAT(message_of([&] { search.next(); }), HasSubstr("that ran for 2 s failed; their records say why"));
}

TEST_F(SearchTest, TheBestIsConfirmedOnFreshSeeds) {
  const std::string section = kParams + ", sampler: random, trials: 2, confirm: 2";
  const Search search = open(section);
  end_round(search, [](uint64_t trial) { return 2.0 - static_cast<double>(trial); });
  std::optional<SearchRound> round = search.next();
  ASSERT_TRUE(round && round->confirms);
  EXPECT_EQ(round->sweep.name, "s-trial-1-confirmed");
  ASSERT_EQ(round->sweep.points.size(), 4U);
  EXPECT_EQ(round->sweep.points[0].axes.dump(), R"({"settings":"found"})");
  EXPECT_EQ(round->sweep.points[0].seed, 0U);
  EXPECT_EQ(round->sweep.points[1].axes.dump(), R"({"settings":"own"})");
  EXPECT_EQ(round->sweep.points[3].seed, 1U);
  EXPECT_EQ(round->sweep.grid.claims.at(0).at("compare").at("axis"), "settings");
  EXPECT_EQ(
      open(section, {}, "claims: [{says: X, compare: {axis: settings, value: found, with: own}, expect: lower}], ")
          .next()
          ->sweep.grid.claims.at(0)
          .at("says"),
      "X");
}

TEST_F(SearchTest, WhereTheOwnSettingsAreBestNothingIsConfirmed) {
  const Search search = open("params: [\"model.width=32,16\"], sampler: sobol, trials: 2, confirm: 2");
  const std::vector<SweepPoint> points = search.next()->sweep.points;
  ASSERT_EQ(points.size(), 2U);
  const bool first = points[0].axes.at("model.width") == "32";  // as gru_tables has it
  end_round(search, [&](uint64_t trial) { return (trial == 0) == first ? 1.0 : 2.0; });
  EXPECT_TRUE(search.found_own());
  EXPECT_FALSE(search.next().has_value());
}

// Draws that repeat a trial are passed over, and where nothing else is left the search goes on with fewer.
TEST_F(SearchTest, NoSettingsAreTriedTwice) {
  for (const char* sampler : {"random", "sobol", "tpe"}) {
    const Search search =
        open(fmt::format("params: [\"model.width=16,32\", \"fitness=sign,zscore\"], sampler: {}, trials: 9, startup: 2",
                         sampler),
             {fmt::format("name={}", sampler)});
    std::set<std::string> seen;
    while (std::optional<SearchRound> round = search.next()) {
      for (const SweepPoint& point : round->sweep.points) EXPECT_TRUE(seen.insert(point.hash).second) << sampler;
      end_round(search, *round, [](uint64_t trial) { return 1.0 + static_cast<double>(trial); });
    }
    EXPECT_EQ(seen.size(), 4U) << sampler;
  }
}

TEST_F(SearchTest, TheCommandLineTakesASettingOutOfTheSearch) {
  const Search search = open(kParams + ", sampler: random, trials: 4", {"model.width=64", "seed=7"});
  EXPECT_THAT(search.said(),
              ElementsAre(HasSubstr("seed is 7"), HasSubstr("model.width is 64, as the command line says; "
                                                            "the sweep has 16,32,64")));
  const std::optional<SearchRound> round = search.next();
  EXPECT_EQ(round->sweep.points[0].seed, 7U);
  EXPECT_FALSE(round->sweep.points[0].axes.contains("model.width"));
  EXPECT_EQ(round->sweep.points[0].config.at("model.width").integer(), 64);
  EXPECT_THAT(refusal("params: [\"model.width=16,32\"], sampler: random, trials: 4", {"model.width=64"}),
              HasSubstr("the command line sets all that the search varies"));
}

TEST_F(SearchTest, ARunsOwnStopRuleEndsItBeforeARung) {
  const std::string section = kParams + ", sampler: random, trials: 9, halving: {from: 100, by: 3}";
  const Search search = open(section, {"stop.steps=250"});
  EXPECT_EQ(search.settings().rungs(9), 2U);
  EXPECT_EQ(search.next()->sweep.points[0].config.at("stop.steps").integer(), 100);
  EXPECT_TRUE(search.settings().end_of(1, 9).empty());
  const Search timed = open(kParams + ", sampler: random, trials: 9, halving: {seconds: 2, by: 3}", {"stop.seconds=5"});
  EXPECT_EQ(timed.settings().rungs(9), 2U);
}

TEST_F(SearchTest, FewerSettingsThanTrialsAreHalvedToo) {
  const Search search =
      open("params: [\"model.width=8,16,24,48\"], sampler: random, trials: 40, halving: {from: 100, by: 2}");
  std::vector<size_t> sizes;
  while (std::optional<SearchRound> round = search.next()) {
    sizes.push_back(round->sweep.points.size());
    end_round(search, *round, [](uint64_t trial) { return 1.0 + static_cast<double>(trial); });
  }
  EXPECT_THAT(sizes, ElementsAre(4, 2, 1));
}

TEST_F(SearchTest, ClaimsAreCheckedFirstAndLateOnesAreExploratory) {
  const std::string section = kParams + ", sampler: random, trials: 2, confirm: 2";
  const std::string wrong =
      "claims: [{says: X, compare: {axis: settings, value: found, with: other}, expect: lower}], ";
  EXPECT_THAT(refusal(section, {}, wrong), HasSubstr("names the value other of settings"));
  EXPECT_THAT(refusal(section, {}, "claims: [], "), HasSubstr("is an empty list"));
  const std::string claim = "claims: [{says: X, compare: {axis: settings, value: found, with: own}, expect: lower}], ";
  const Search search = open(section, {}, claim);
  end_round(search, [](uint64_t trial) { return 2.0 - static_cast<double>(trial); });
  EXPECT_FALSE(search.next()->sweep.grid.claims.at(0).contains("exploratory"));
  const std::string late = "claims: [{says: Y, compare: {axis: settings, value: found, with: own}, expect: higher}], ";
  EXPECT_TRUE(open(section, {}, late).next()->sweep.grid.claims.at(0).at("exploratory"));
}

TEST_F(SearchTest, TriedAgainAfterAFailureATrialIsJudgedAgain) {
  const std::string section = kParams + ", sampler: random, trials: 4, halving: {from: 100, by: 2}";
  const Search search = open(section);
  end_round(search, [](uint64_t trial) { return trial == 3 ? std::nullopt : std::optional(1.0); });
  search.forget_failures();
  std::optional<SearchRound> round = search.next();
  ASSERT_EQ(round->sweep.points.size(), 1U);
  EXPECT_EQ(round->sweep.points[0].trial->trial, 3U);
  EXPECT_EQ(round->sweep.points[0].trial->rung, 0U);
}

TEST_F(SearchTest, BadSectionsAreRefusedInOneSentence) {
  const std::string rest = ", sampler: random, trials: 4";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sampler: random, trials: 4", "sweep.search has no params"},
      {"params: [\"model.width=32\"]" + rest, "has one value, expected several or an interval"},
      {"params: [\"seed=1,2\"]" + rest, "seed is no axis"},
      {"params: [\"stop.bits=1,2\"]" + rest, "stop.bits is no axis"},
      {"params: [\"a=1,2\", \"a=3,4\"]" + rest, "a is given twice"},
      {"params: [\"a=1,2,1.0\"]" + rest, "the real 1.0 is there twice"},
      {"params: [\"a.b=1,2\", \"a={b: 1},{b: 2}\"]" + rest, "one is a part of the other"},
      {"params: [\"a=interval(0.123456, 0.123457)\"]" + rest, "the same in four digits"},
      {"params: [\"a=tag(log, interval(1e-320, 1))\"]" + rest, "is no number"},
      {"params: [\"a=interval(2, 1)\"]" + rest, "expected two numbers"},
      {"params: [\"a=tag(log, interval(0, 1))\"]" + rest, "expected an interval above 0"},
      {"params: [\"a=int(interval(0.5, 2))\"]" + rest, "int() of one between integers"},
      {"params: [~a]" + rest, "deletes, expected key=values"},
      {kParams + ", sampler: grid, trials: 4", "sweep.search.sampler is 'grid'"},
      {kParams + ", sampler: tpe, trials: 0", "sweep.search.trials is 0"},
      {kParams + rest + ", trails: 3", "unknown key 'trails'"},
      {kParams + rest + ", halving: {by: 3}", "halving needs one of from"},
      {kParams + rest + ", halving: {from: 900, by: 3}", "expected less than the 900 steps of a run"},
      {kParams + rest + ", halving: {from: 9, by: 1}", "halving.by is 1, expected an integer from 2"},
      {kParams + rest + ", confirm: [3, 100]", "the seed 100 is one that the search chooses by"}};
  for (const auto& [section, sentence] : cases) EXPECT_THAT(refusal(section), HasSubstr(sentence)) << section;
  EXPECT_THAT(refusal(kParams + rest, {}, "claims: [{}], "), HasSubstr("a search has claims and no confirmation"));
  EXPECT_THAT(refusal(kParams + rest, {}, "product: [\"a=1,2\"], "), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace eggroll::test
