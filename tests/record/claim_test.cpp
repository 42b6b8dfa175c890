#include "record/claim.h"

#include <gmock/gmock.h>

#include "record/scratch.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::Pair;

Claim claim_of(const char* json) { return claim_from_json(ordered_json::parse(json), "claim 1 of x.yaml"); }

std::string refusal_of(const char* json) {
  return message_of([&] { claim_of(json); });
}

TEST(Claim, ReadsAComparison) {
  const Claim claim = claim_of(R"({"says": "Wider is better.", "where": {"noise.rank": 4},
    "compare": {"axis": "model.width", "value": 64, "with": "32"}, "expect": "lower"})");
  EXPECT_EQ(claim.says, "Wider is better.");
  EXPECT_EQ(claim.metric, "bits");
  EXPECT_THAT(claim.where, ElementsAre(Pair("noise.rank", "4")));
  const auto& test = std::get<Comparison>(claim.test);
  EXPECT_EQ(test.axis, "model.width");
  EXPECT_EQ(test.value, "64");
  EXPECT_EQ(test.with, "32");
  EXPECT_EQ(test.expect, Expectation::kLower);
}

TEST(Claim, ReadsAnEqualityASlopeAndAShare) {
  const Claim equal = claim_of(R"({"says": "s", "metric": "update_rate", "expect": "equal", "within": 0.1,
    "compare": {"axis": "rule", "value": {"a.b": "1", "c": "x"}, "with": {"a.b": "2", "c": "y"}}})");
  EXPECT_EQ(equal.metric, "update_rate");
  EXPECT_EQ(std::get<Comparison>(equal.test).value, "a.b=1 c=x");
  EXPECT_EQ(std::get<Comparison>(equal.test).expect, Expectation::kEqual);
  EXPECT_EQ(std::get<Comparison>(equal.test).within, 0.1);

  const Claim slope = claim_of(R"({"says": "s", "slope": {"axis": "population"}, "expect": -0.5, "within": 0.05})");
  EXPECT_EQ(std::get<Slope>(slope.test).axis, "population");
  EXPECT_EQ(std::get<Slope>(slope.test).expect, -0.5);
  EXPECT_EQ(std::get<Slope>(slope.test).within, 0.05);

  const Claim share = claim_of(R"({"says": "s", "share": {"above": 2}, "expect": "higher", "than": 0.5})");
  EXPECT_FALSE(std::get<Share>(share.test).below);
  EXPECT_EQ(std::get<Share>(share.test).limit, 2);
  EXPECT_EQ(std::get<Share>(share.test).expect, Expectation::kHigher);
  EXPECT_EQ(std::get<Share>(share.test).than, 0.5);
}

TEST(Claim, MaySayThatItIsExploratory) {
  EXPECT_FALSE(claim_of(R"({"says": "s", "share": {"below": 1}, "expect": "lower", "than": 0.5})").exploratory);
  EXPECT_TRUE(claim_of(R"({"says": "s", "exploratory": true, "share": {"below": 1}, "expect": "lower", "than": 0.5})")
                  .exploratory);
  EXPECT_EQ(refusal_of(R"({"says": "s", "exploratory": 1, "share": {"below": 1}, "expect": "lower", "than": 0.5})"),
            "exploratory of claim 1 of x.yaml is 1, expected true or false");
}

TEST(Claim, RefusesWhatItDoesNotKnowInOneSentence) {
  EXPECT_EQ(refusal_of("3"), "claim 1 of x.yaml is 3, expected keys with values");
  EXPECT_EQ(refusal_of(R"({"share": {"below": 1}, "expect": "lower", "than": 0.5})"),
            "claim 1 of x.yaml has no says, expected the sentence that is claimed; add it");
  EXPECT_EQ(refusal_of(R"({"says": "s", "share": {"below": 1}, "expect": "lower", "than": 0.5, "wher": {}})"),
            "claim 1 of x.yaml has the unknown key 'wher'; did you mean 'where'?");
  EXPECT_EQ(refusal_of(R"({"says": "s", "share": {"below": 1, "than": 2}, "expect": "lower", "than": 0.5})"),
            "share of claim 1 of x.yaml has the unknown key 'than'; known: below");
  EXPECT_EQ(refusal_of(R"({"says": "s", "share": {"below": 1}, "expect": "lower", "than": 50})"),
            "than of claim 1 of x.yaml is 50, expected a share of the runs, from 0 to 1");
  EXPECT_EQ(refusal_of(R"({"says": "s", "share": {}, "expect": "lower", "than": 0.5})"),
            "share of claim 1 of x.yaml has neither or both of below and above, expected one of them with a number");
  EXPECT_EQ(refusal_of(R"({"says": "s", "slope": {"axis": "a"}, "share": {"below": 1}})"),
            "claim 1 of x.yaml has none or several of compare, slope and share, expected exactly one");
  EXPECT_EQ(refusal_of(R"({"says": "s", "slope": {"axis": "a"}, "expect": "lower", "within": 1})"),
            "expect of claim 1 of x.yaml is \"lower\", expected the slope, a number");
  EXPECT_EQ(refusal_of(R"({"says": "s", "compare": {"axis": "a", "value": 1, "with": 2}, "expect": "lowr"})"),
            "expect of claim 1 of x.yaml is 'lowr', expected one of: lower, higher, equal; did you mean 'lower'?");
  EXPECT_EQ(refusal_of(R"({"says": "s", "compare": {"axis": "a", "value": 1, "with": 2}, "expect": "less"})"),
            "expect of claim 1 of x.yaml is 'less', expected one of: lower, higher, equal");
  EXPECT_EQ(refusal_of(R"({"says": "s", "compare": {"axis": "a", "value": 1, "with": 2}, "expect": "equal"})"),
            "claim 1 of x.yaml has no within, expected a number above 0, half the width of the range that counts as "
            "met; add it");
  EXPECT_EQ(refusal_of(R"({"says": "s", "compare": {"axis": "a", "value": 1, "with": "1.0"}, "expect": "lower"})"),
            "claim 1 of x.yaml compares 1 with itself, expected two values of a");
  // A tolerance means nothing if a direction is expected, so it is refused rather than ignored.
  EXPECT_EQ(
      refusal_of(R"({"says": "s", "compare": {"axis": "a", "value": 1, "with": 2}, "expect": "lower", "within": 1})"),
      "claim 1 of x.yaml has the unknown key 'within'; known: says, compare, expect, where, metric, exploratory");
}

TEST(Claim, NamesAxesAndValuesOfItsSweep) {
  const ordered_json axes = {{"width", {"32", "64"}}, {"rule", {"a", {{"b", "1"}, {"c", "2"}}}}, {"one", {"8"}}};
  const auto refusal = [&](const char* json) {
    return message_of([&] { require_axes(claim_of(json), axes, "claim 1"); });
  };
  EXPECT_EQ(refusal(R"({"says": "s", "compare": {"axis": "width", "value": 64.0, "with": 32}, "expect": "lower",
                        "where": {"rule": {"b": 1, "c": 2}}})"),
            "");
  EXPECT_EQ(refusal(R"({"says": "s", "slope": {"axis": "width"}, "expect": 1, "within": 1})"), "");
  EXPECT_EQ(refusal(R"({"says": "s", "slope": {"axis": "widht"}, "expect": 1, "within": 1})"),
            "claim 1 names 'widht', which is no axis of the sweep; did you mean 'width'?");
  EXPECT_EQ(refusal(R"({"says": "s", "compare": {"axis": "width", "value": 65, "with": 32}, "expect": "lower"})"),
            "claim 1 names the value 65 of width, which the axis does not have; did you mean '64'?");
  EXPECT_EQ(refusal(R"({"says": "s", "slope": {"axis": "rule"}, "expect": 1, "within": 1})"),
            "claim 1 asks for a slope over rule, whose value a is no number above 0");
  EXPECT_EQ(refusal(R"({"says": "s", "slope": {"axis": "one"}, "expect": 1, "within": 1})"),
            "claim 1 asks for a slope over one, which has one value");
}

TEST(Claim, ComparesValuesThatAPairOfPointsHas) {
  const auto refusal = [](const std::vector<ordered_json>& points, const char* where = "{}") {
    const std::string json = std::string(R"({"says": "s", "compare": {"axis": "model", "value": "a", "with": "b"},
                                             "expect": "lower", "where": )") +
                             where + "}";
    return message_of([&] { require_pair(claim_of(json.c_str()), points, "claim 1"); });
  };
  EXPECT_EQ(refusal({{{"model", "a"}, {"steps", "9"}}, {{"model", "b"}, {"steps", "9"}}}), "");
  EXPECT_EQ(refusal({{{"model", "a"}}, {{"model", "b"}}, {{"model", "b"}, {"steps", "9"}}}), "");
  const std::string none =
      "claim 1 compares model=a with b, but no two points have these values and agree in all other axes; let the axes "
      "that change together be one zip, and name it";
  EXPECT_EQ(refusal({{{"model", "a"}, {"steps", "9"}}, {{"model", "b"}, {"steps", "8"}}}), none);
  EXPECT_EQ(refusal({{{"model", "a"}}, {{"model", "b"}, {"steps", "8"}}}), none);
  EXPECT_EQ(refusal({{{"model", "a"}, {"steps", "9"}}, {{"model", "b"}, {"steps", "9"}}}, R"({"steps": 8})"), none);
  const char* share = R"({"says": "s", "share": {"below": 1}, "expect": "lower", "than": 0.5})";
  EXPECT_EQ(message_of([&] { require_pair(claim_of(share), {}, "claim 1"); }), "");
}

}  // namespace
}  // namespace eggroll
