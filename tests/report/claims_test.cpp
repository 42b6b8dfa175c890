// The time at which a claim was stated, and what a report says of it.
#include "report/claims.h"

#include <gmock/gmock.h>

#include "report/synthetic.h"
#include "report/verdict.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ordered_json comparison(const std::string& says, const std::string& expect) {
  ordered_json claim = {
      {"says", says}, {"compare", {{"axis", "noise.rank"}, {"value", "4"}, {"with", "1"}}}, {"expect", expect}};
  if (expect == "equal") claim["within"] = 0.2;
  return claim;
}

ordered_json list(const std::vector<ordered_json>& claims) { return ordered_json(claims); }

class ClaimsTest : public ::testing::Test {
 protected:
  // Rank 4 is 0.15, 0.25 and 0.2 bits above rank 1. claims_of_seeds: the claims that each seed's runs carry.
  void add_runs(const std::vector<ordered_json>& claims_of_seeds) {
    const std::vector<double> differences = {0.15, 0.25, 0.2};
    for (uint64_t seed = 0; seed < 3; ++seed) {
      for (const char* rank : {"1", "4"}) {
        SyntheticRun run;
        run.seed = seed;
        run.axes = {{"noise.rank", rank}};
        run.claims = claims_of_seeds[seed];
        run.final_bits = *rank == '4' ? 4.0 + differences[seed] : 4.0;
        run.started = "2026-01-0" + std::to_string(seed + 1) + "T00:00:00Z";
        CollectedRun collected;
        collected.record = synthetic_record(run);
        collected.metrics.lines = run.steps;
        collection_.runs.push_back(collected);
      }
    }
  }
  void add_sweep(const ordered_json& claims, const std::vector<StatedClaim>& stated = {}) {
    CollectedSweep sweep;
    sweep.name = "grid";
    sweep.claims = claims;
    sweep.stated = stated;
    sweep.points = 6;
    collection_.sweeps.push_back(sweep);
  }
  std::vector<std::string> answers() {
    std::vector<std::vector<Judged>> judged;
    for (const Study& study : studies_of(collection_)) judged.push_back(judge_all(study));
    correct_by_holm(judged);
    std::vector<std::string> lines;
    for (const Judged& claim : judged.at(0)) lines.push_back(answer_of(claim));
    return lines;
  }

  const ordered_json equal_ = comparison("It costs nothing", "equal");
  const ordered_json higher_ = comparison("It costs learning", "higher");
  Collection collection_;
};

// The runs left their claim open; then the claim was reworded to fit them.
TEST_F(ClaimsTest, ARewordedClaimIsExploratoryAndTheEarlierOneStaysFirst) {
  add_runs({list({equal_}), list({equal_}), list({equal_})});
  add_sweep(list({higher_}));
  EXPECT_THAT(answers(),
              ElementsAre("Undecided: It costs nothing. Mean difference 0.2000 (95 % interval 0.0758 to 0.3242, 3 "
                          "pairs); claimed: equal within 0.2. The experiment no longer states this claim.",
                          "Exploratory, stated after 6 of 6 runs had ended: It costs learning. These runs agree with "
                          "it: mean difference 0.2000 (95 % interval 0.0758 to 0.3242, 3 pairs)."));
}

TEST_F(ClaimsTest, WithoutTheSweepsFolderTheYoungestRecordStatesTheClaims) {
  add_runs({list({equal_}), list({equal_}), list({higher_})});
  const std::vector<Study> studies = studies_of(collection_);
  const std::vector<StudyClaim>& claims = studies.at(0).claims;
  ASSERT_THAT(claims, SizeIs(2));
  // A run that began after the claim's first run does not make the claim late.
  EXPECT_EQ(claims[0].claim, equal_);
  EXPECT_FALSE(claims[0].late);
  EXPECT_FALSE(claims[0].is_current);
  EXPECT_EQ(claims[1].claim, higher_);
  ASSERT_TRUE(claims[1].late);
  EXPECT_EQ(claims[1].late->ended, 4U);
  EXPECT_EQ(claims[1].late->runs, 6U);
  EXPECT_THAT(answers()[1], HasSubstr("Exploratory, stated after 4 of 6 runs had ended: It costs learning."));
}

TEST_F(ClaimsTest, TheSweepsFileTellsWhatWasKnownWhenAClaimWasStated) {
  add_runs({list({equal_}), list({equal_}), list({equal_})});
  add_sweep({equal_, higher_},
            {{equal_, "2026-01-01T00:00:00Z", {0, 0, 6}}, {higher_, "2026-01-02T00:00:00Z", {3, 0, 6}}});
  const std::vector<std::string> lines = answers();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], testing::StartsWith("Undecided: It costs nothing."));
  EXPECT_THAT(lines[1], testing::StartsWith("Exploratory, stated after 3 of 6 runs had begun: It costs learning."));
}

TEST_F(ClaimsTest, AClaimThatWasDeletedIsJudgedAllTheSame) {
  add_runs({list({higher_}), list({higher_}), list({higher_})});
  add_sweep(ordered_json::array());
  EXPECT_THAT(answers(),
              ElementsAre("Confirmed: It costs learning. Mean difference 0.2000 (95 % interval 0.0758 to 0.3242, 3 "
                          "pairs); survives Holm's correction over 1 claim (p 0.02, corrected 0.02). The experiment no "
                          "longer states this claim."));
}

TEST_F(ClaimsTest, TheOrderOfKeysIsNoOtherClaim) {
  add_runs({list({equal_}), list({equal_}), list({equal_})});
  ordered_json turned = ordered_json::object();
  for (auto item = equal_.rbegin(); item != equal_.rend(); ++item) turned[item.key()] = *item;
  turned["exploratory"] = false;
  add_sweep(list({turned}));
  EXPECT_THAT(answers(), ElementsAre(testing::StartsWith("Undecided: It costs nothing.")));
}

// A claim that calls itself exploratory is so even if it was stated in advance.
TEST_F(ClaimsTest, AClaimMaySayThatItIsExploratory) {
  ordered_json exploratory = higher_;
  exploratory["exploratory"] = true;
  add_runs({list({exploratory}), list({exploratory}), list({exploratory})});
  EXPECT_THAT(answers(), ElementsAre("Exploratory: It costs learning. These runs agree with it: mean difference 0.2000 "
                                     "(95 % interval 0.0758 to 0.3242, 3 pairs)."));
  exploratory["expect"] = "lower";
  add_sweep(list({exploratory}));
  EXPECT_THAT(answers()[1],
              HasSubstr("stated after 6 of 6 runs had ended: It costs learning. These runs speak against"));
}

TEST_F(ClaimsTest, RunsThatNeverBeganMakeNoClaimLate) {
  add_runs({list({higher_}), list({}), list({})});
  for (size_t i = 2; i < 6; ++i) {
    collection_.runs[i].record.status = RunStatus::kFailed;
    collection_.runs[i].record.steps = 0;
    collection_.runs[i].record.started_utc = "2025-01-01T00:00:00Z";
  }
  add_sweep(list({higher_}));
  EXPECT_FALSE(studies_of(collection_).at(0).claims.at(0).late);
  collection_.runs[5].record.steps = 1;
  EXPECT_EQ(studies_of(collection_).at(0).claims.at(0).late->ended, 1U);
}

// By hand: with two degrees of freedom p is 1 - t / sqrt(2 + t^2); differences of mean 0.2 and deviation 0.05.
TEST_F(ClaimsTest, VerdictsAreCorrectedForTheNumberOfClaimsStatedInAdvance) {
  ordered_json exploratory = comparison("Seen later", "higher");
  exploratory["exploratory"] = true;
  ordered_json zero = comparison("Equal to almost nothing", "equal");
  zero["within"] = 0.01;
  const ordered_json claims = {higher_, equal_, zero, exploratory};
  add_runs({claims, claims, claims});
  const std::vector<std::string> lines = answers();
  EXPECT_THAT(lines[0], HasSubstr("does not survive Holm's correction over 3 claims (p 0.02, corrected 0.061)."));
  EXPECT_THAT(lines[1], Not(HasSubstr("Holm")));
  EXPECT_THAT(lines[2], testing::StartsWith("Refuted: Equal to almost nothing."));
  EXPECT_THAT(lines[2], HasSubstr("does not survive Holm's correction over 3 claims (p 0.022, corrected 0.061)."));
  EXPECT_THAT(lines[3], Not(HasSubstr("Holm")));
}

TEST_F(ClaimsTest, AFigureThatRunsHaveLostIsNotJudged) {
  ordered_json claim = higher_;
  claim["metric"] = "update_rate";
  add_runs({list({claim}), list({claim}), list({claim})});
  for (CollectedRun& run : collection_.runs)
    run.metrics.update_rate = Phases{1.0, 1.0, 1.0, run.record.final->bits_per_unit};
  EXPECT_THAT(answers()[0], testing::StartsWith("Confirmed: It costs learning."));
  collection_.runs[4].metrics = {};
  EXPECT_THAT(
      answers(),
      ElementsAre("Not judged: It costs learning. The figure update_rate is lost for 1 of 6 runs: the record has no "
                  "summary, and no metrics.jsonl lies beside it."));
}

// The figure comes from the record itself.
TEST_F(ClaimsTest, AClaimMayBeOfTheAverageOfTheWeights) {
  ordered_json claim = higher_;
  claim["metric"] = "average_bits";
  add_runs({list({claim}), list({claim}), list({claim})});
  EXPECT_THAT(answers()[0], testing::StartsWith("Undecided: It costs learning."));  // no record has an average
  for (CollectedRun& run : collection_.runs) {
    run.record.average = AverageRecord{std::nullopt, run.record.final};
    run.record.final->bits_per_unit = 4.0;
    run.metrics = {};
  }
  EXPECT_THAT(answers()[0], testing::StartsWith("Confirmed: It costs learning."));
}

TEST_F(ClaimsTest, AClaimThatCannotBeReadIsNotJudged) {
  const ordered_json odd = {{"says", "odd"}};
  add_runs({list({odd}), list({odd}), list({odd})});
  EXPECT_THAT(answers(), ElementsAre("Not judged: a claim that cannot be read. Claim 1 of grid has none or several of "
                                     "compare, slope and share, expected exactly one."));
}

}  // namespace
}  // namespace eggroll
