#include "report/study.h"

#include <gmock/gmock.h>

#include "report/standings.h"
#include "report/synthetic.h"
#include "report/verdict.h"

namespace eggroll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Collections without files: studies and verdicts need only a run's record and a summary of its metrics.
class StudyTest : public ::testing::Test {
 protected:
  // Returns the record of the run that it adds.
  RunRecord& add(const SyntheticRun& run) {
    CollectedRun collected;
    collected.name = "run" + std::to_string(collection_.runs.size() + 1);
    collected.record = synthetic_record(run);
    collected.metrics.lines = run.steps;
    collected.metrics.tokens_per_second = static_cast<double>(run.population) / run.step_seconds;
    collected.metrics.update_rate = Phases{1.0, 0.5, run.update_rate, run.update_rate};
    return collection_.runs.emplace_back(collected).record;
  }
  // Adds a run that belongs to no sweep.
  RunRecord& add_plain(SyntheticRun run = {}) {
    run.sweep = "";
    return add(run);
  }
  // Adds a sweep with the axes rank and width. bits: for each rank, one figure for each seed.
  void add_grid() {
    const std::vector<std::vector<double>> bits = {{4.0, 4.2, 4.1}, {3.5, 3.6, 3.8}};
    for (uint64_t rank : {0U, 1U}) {
      for (uint64_t seed = 0; seed < 3; ++seed) {
        for (const char* width : {"32", "64"}) {
          SyntheticRun run;
          run.seed = seed;
          run.axes = {{"model.width", width}, {"noise.rank", rank == 0 ? "1" : "4"}};
          run.final_bits = bits[rank][seed] + (width == std::string("32") ? 0.0 : 0.5);
          add(run);
        }
      }
    }
  }
  Study study() {
    const std::vector<Study> studies = studies_of(collection_);
    EXPECT_THAT(studies, SizeIs(1));
    return studies.front();
  }
  // claim: the members of a claim, without "says".
  Verdict verdict(const std::string& claim) {
    return judge(claim_from_json(nlohmann::ordered_json::parse(R"({"says": "s", )" + claim + "}"), "the claim"),
                 study());
  }

  Collection collection_;
};

std::vector<std::string> names_of(const Study& study) {
  std::vector<std::string> names;
  for (const Axis& axis : study.axes) names.push_back(axis.name);
  return names;
}

TEST_F(StudyTest, ASweepsAxesAreItsOwnAndSeedsAreRepetitions) {
  add_grid();
  const Study sweep = study();
  EXPECT_EQ(sweep.name, "grid");
  EXPECT_EQ(*sweep.question, "Which is best?");
  EXPECT_THAT(names_of(sweep), ElementsAre("model.width", "noise.rank"));
  EXPECT_THAT(sweep.axes[0].values, ElementsAre("32", "64"));
  EXPECT_THAT(sweep.axes[0].alike, IsEmpty());
  const std::vector<Configuration> configurations = sweep.configurations();
  ASSERT_THAT(configurations, SizeIs(4));
  for (const Configuration& configuration : configurations) EXPECT_THAT(configuration.runs, SizeIs(3));
  EXPECT_EQ(sweep.label(configurations[1].values), "width=32 rank=4");
}

TEST_F(StudyTest, LabelsNameAxesAsShortlyAsTheyMay) {
  Study named;
  for (const char* name : {"optimizer.name", "model.seed", "dataset.seed", "population"})
    named.axes.push_back({name, {}, {}});
  EXPECT_EQ(named.label({"a", "1", "2", "64"}), "optimizer=a model.seed=1 dataset.seed=2 population=64");
}

TEST_F(StudyTest, LabelsOfAxesOfSeveralKeysNameEachKeyOnce) {
  Study zipped;
  zipped.axes.push_back({"noise.rank+noise.sigma_shift", {}, {}});
  zipped.axes.push_back({"train.population", {}, {}});
  EXPECT_EQ(zipped.label({"noise.rank=16 noise.sigma_shift=6", "2048"}), "rank=16 sigma_shift=6 population=2048");
  EXPECT_EQ(zipped.value_text(0, "noise.rank=16 noise.sigma_shift=6"), "rank=16 sigma_shift=6");
  EXPECT_EQ(zipped.value_text(0, kNoValue), kNoValue);
  EXPECT_EQ(zipped.value_text(1, "2048"), "2048");
  // A value may hold a space and an equals sign.
  zipped.axes[0].name = "dataset.path+dataset.name";
  EXPECT_EQ(zipped.value_text(0, "dataset.path=a b=c dataset.name=text"), "path=a b=c dataset=text");
}

// A setting of the dataset may equal the seed.
TEST_F(StudyTest, DataIsTheSameWhateverTheSeed) {
  for (uint64_t seed : {15U, 16U, 17U}) {
    SyntheticRun run;
    run.seed = seed;
    run.axes = {{"dataset.vocab", "16"}};
    EXPECT_EQ(data_of(add_plain(run)), "count vocab 16");
  }
  EXPECT_THAT(study().runs, SizeIs(3));
}

TEST_F(StudyTest, AKeyThatChangedBetweenRunsOfASweepIsAnAxisToo) {
  add_grid();
  SyntheticRun again;  // the same point and seed, after the file was edited
  again.axes = {{"model.width", "32"}, {"noise.rank", "1"}};
  again.steps = 200;
  add(again);
  EXPECT_THAT(names_of(study()), ElementsAre("model.width", "noise.rank", "train.steps"));
}

TEST_F(StudyTest, CopiesOfASeedCountOnce) {
  for (const bool of_sweep : {true, false}) {
    collection_.runs.clear();
    for (uint64_t seed : {0U, 1U, 0U, 0U}) {
      SyntheticRun run;
      run.sweep = of_sweep ? "grid" : "";
      run.seed = seed;
      run.final_bits = seed == 0 ? 4.0 : 3.0;
      add(run);
      collection_.runs.back().record.config["name"] = collection_.runs.back().name;
    }
    const Study copied = study();
    EXPECT_THAT(copied.axes, IsEmpty());
    EXPECT_THAT(copied.runs, SizeIs(2));
    EXPECT_THAT(copied.copies, SizeIs(2));
    EXPECT_EQ(copied.unlike_copies, 0U);
    EXPECT_THAT(copied.configurations().at(0).runs, SizeIs(2));
    std::vector<size_t> numbers;
    for (const StudyRun* run : copied.all_runs()) numbers.push_back(run->number);
    EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4));
    const std::vector<Standing> standings = standings_of(copied, data_in(copied).at(0));
    ASSERT_THAT(standings, SizeIs(1));
    EXPECT_EQ(standings[0].bits.n, 2U);
    EXPECT_EQ(standings[0].bits.mean, 3.5);
    EXPECT_EQ(verdict(R"("share": {"below": 5}, "expect": "higher", "than": 0.5)").estimate->n, 2U);
  }
}

// Runs that a budget of time stopped, one that failed, and one that went as far as another and began later.
TEST_F(StudyTest, TheRunThatEndedAndWentFurthestCounts) {
  const auto add_copy = [&](RunStatus status, uint64_t steps, const char* started) {
    SyntheticRun run;
    run.status = status;
    run.steps = 200;
    run.started = started;
    add(run).steps = steps;
  };
  add_copy(RunStatus::kStopped, 80, "2026-01-02T03:04:05Z");
  add_copy(RunStatus::kStopped, 120, "2026-01-02T03:04:06Z");
  add_copy(RunStatus::kStopped, 120, "2026-01-02T03:04:05Z");
  add_copy(RunStatus::kFailed, 150, "2026-01-02T03:04:07Z");
  const Study copied = study();
  ASSERT_THAT(copied.runs, SizeIs(1));
  EXPECT_EQ(copied.runs[0].number, 2U);
  EXPECT_EQ(copied.unlike_copies, 1U);
}

TEST_F(StudyTest, AShareMayBeOfSecondsOfTheWholeProcess) {
  for (const double seconds : {0.1, 0.2}) {
    SyntheticRun run;
    run.seed = seconds > 0.1 ? 1 : 0;
    run.steps = 100;
    run.step_seconds = seconds;
    add(run);
  }
  const Verdict share = verdict(R"("metric": "wall_seconds", "share": {"below": 13}, "expect": "higher", "than": 0.1)");
  EXPECT_EQ(share.estimate->value, 0.5);  // 12.5 and 25 s
  EXPECT_EQ(share.estimate->n, 2U);
}

TEST_F(StudyTest, TrialsThatDrewTheSameValuesAreNoCopies) {
  for (uint64_t trial : {1U, 2U}) {
    SyntheticRun run;
    run.trial = TrialRecord{};
    run.trial->trial = trial;
    add(run);
  }
  EXPECT_THAT(study().runs, SizeIs(2));
}

TEST_F(StudyTest, NumbersAreInOrderAndObjectsHaveALabel) {
  SyntheticRun run;
  for (const char* population : {"1024", "256", "4096"}) {
    run.axes = {{"train.population", population}, {"rule.x", {{"a.b", "1"}, {"c", "x"}}}};
    add(run);
  }
  run.axes = {{"train.population", "256"}, {"rule.x", "y"}};
  add(run);
  const Study sweep = study();
  EXPECT_THAT(sweep.axes[0].values, ElementsAre("256", "1024", "4096"));
  EXPECT_THAT(sweep.axes[1].values, ElementsAre("a.b=1 c=x", "y"));
}

TEST_F(StudyTest, WhatAnAxisNamesGoesWithItUnsaid) {
  for (const char* value : {"1", "4"}) {
    SyntheticRun run;
    run.axes = {{"model.width", value}, {"noise.rank", value}};
    RunRecord& record = add(run);
    record.sweep->axes = {{"model", value},
                          {"noise.rank+noise.sigma_shift", {{"noise.rank", value}, {"noise.sigma_shift", value}}}};
    record.config["train"]["steps"] = value;
  }
  const Study sweep = study();
  EXPECT_THAT(names_of(sweep), ElementsAre("model", "noise.rank+noise.sigma_shift"));
  // A key that varies like both axes is named for the first axis only.
  EXPECT_THAT(sweep.axes[0].alike, ElementsAre("noise.rank", "train.steps"));
  EXPECT_THAT(sweep.axes[1].alike, IsEmpty());
}

TEST_F(StudyTest, PlainRunsVaryInTheirConfiguration) {
  for (uint64_t seed : {0U, 1U}) {
    for (const char* width : {"32", "64"}) {
      SyntheticRun run;
      run.seed = seed;
      run.axes = {{"model.width", width}, {"model.depth", width}};
      add_plain(run);
    }
  }
  const Study plain = study();
  EXPECT_EQ(plain.name, "runs on count");
  EXPECT_FALSE(plain.of_sweep);
  EXPECT_THAT(names_of(plain), ElementsAre("model.width"));  // dataset.seed repeats the seed
  EXPECT_THAT(plain.axes[0].alike, ElementsAre("model.depth"));
  EXPECT_THAT(plain.configurations(), SizeIs(2));
}

// Not by what follows from it, though the configuration names that first.
TEST_F(StudyTest, PlainRunsAreNamedByTheirOverrides) {
  for (const uint64_t steps : {300U, 1500U}) {
    SyntheticRun run;
    run.steps = steps;
    RunRecord& record = add_plain(run);
    record.config["optimizer"]["schedule"] = {{"kind", "inverse_time"}, {"cosine", {{"steps", steps}}}};
    record.overrides = {"experiment=grid", "train.steps=" + std::to_string(steps), "seed=0"};
  }
  const Study plain = study();
  EXPECT_THAT(names_of(plain), ElementsAre("train.steps"));
  EXPECT_THAT(plain.axes[0].alike, IsEmpty());
}

TEST_F(StudyTest, OptionsThatOverridesChooseAreAxes) {
  add_plain();
  RunRecord& record = add_plain();
  record.config["model"]["width"] = 256;
  record.overrides.emplace_back("model=nano_egg");
  const Study plain = study();
  EXPECT_THAT(names_of(plain), ElementsAre("model"));
  EXPECT_THAT(plain.axes[0].alike, IsEmpty());
  // An option that its name tells of is said once.
  record.config["model"]["name"] = "other";
  EXPECT_THAT(names_of(study()), ElementsAre("model.name"));
  EXPECT_THAT(study().axes[0].alike, IsEmpty());
}

TEST_F(StudyTest, WhatCannotChangeARunMakesItNoOther) {
  for (const char* own : {"eval.hook=[x]", "monitor.every=60", "stop.steps=50", "backend.name=avx2"}) {
    RunRecord& record = add_plain();
    record.overrides.emplace_back(own);
    record.config["eval"]["hook"] = own;
    record.config["monitor"]["every"] = collection_.runs.size();
    record.config["stop"]["steps"] = collection_.runs.size();
    record.config["backend"]["name"] = own;
  }
  const Study plain = study();
  EXPECT_THAT(plain.axes, IsEmpty());
  EXPECT_THAT(plain.runs, SizeIs(1));
  EXPECT_THAT(plain.copies, SizeIs(3));
}

TEST_F(StudyTest, PlainRunsOnOtherDataAreAnotherStudy) {
  add_plain();
  SyntheticRun run;
  run.axes = {{"dataset.rows", "64"}};
  add_plain(run);
  const std::vector<Study> studies = studies_of(collection_);
  ASSERT_THAT(studies, SizeIs(2));
  EXPECT_EQ(studies[0].name, "runs on count");
  EXPECT_EQ(studies[1].name, "runs on count rows 64");
}

TEST_F(StudyTest, PairsAgreeInSeedAndAllOtherAxes) {
  add_grid();
  collection_.runs.pop_back();  // width 64, rank 4, seed 2
  const Study sweep = study();
  const std::vector<const StudyRun*> runs = sweep.all_runs();
  const std::vector<RunPair> pairs = pairs_of(runs, 1, "4", "1.0", "bits");
  ASSERT_THAT(pairs, SizeIs(5));
  for (const RunPair& pair : pairs) {
    EXPECT_EQ(pair.of_value->run->record.seed, pair.with->run->record.seed);
    EXPECT_EQ(pair.of_value->values[0], pair.with->values[0]);
  }
  EXPECT_DOUBLE_EQ(pairs[0].difference, 3.5 - 4.0);
  EXPECT_THAT(pairs_of(runs, 1, "4", "2", "bits"), IsEmpty());
}

// Each of the differences -0.5, -0.6 and -0.3 occurs twice, for two widths; a seed's two pairs count as one finding.
// SciPy 1.10.1 gives the interval -0.846126 to -0.087207.
TEST_F(StudyTest, ComparisonsAreJudgedByTheirInterval) {
  add_grid();
  const std::string test = R"("compare": {"axis": "noise.rank", "value": 4, "with": 1})";
  const Verdict lower = verdict(R"("expect": "lower", )" + test);
  EXPECT_EQ(lower.outcome, Outcome::kConfirmed);
  EXPECT_EQ(lower.finding, "mean difference -0.4667 (95 % interval -0.8461 to -0.0872, 3 seeds of 6 pairs)");
  EXPECT_THAT(lower.runs, SizeIs(12));
  EXPECT_EQ(verdict(R"("expect": "higher", )" + test).outcome, Outcome::kRefuted);
  EXPECT_EQ(verdict(R"("expect": "equal", "within": 0.9, )" + test).outcome, Outcome::kConfirmed);
  EXPECT_EQ(verdict(R"("expect": "equal", "within": 0.7, )" + test).outcome, Outcome::kUndecided);
  EXPECT_EQ(verdict(R"("expect": "equal", "within": 0.08, )" + test).outcome, Outcome::kRefuted);

  const Verdict some = verdict(R"("expect": "lower", "where": {"model.width": 32}, )" + test);
  EXPECT_THAT(some.finding, HasSubstr("3 pairs"));
  EXPECT_THAT(some.runs, SizeIs(6));
}

TEST_F(StudyTest, WhatRunsCannotTellIsUndecidedWithTheReason) {
  add_grid();
  EXPECT_EQ(verdict(R"("expect": "lower", "compare": {"axis": "x", "value": 1, "with": 2})").finding,
            "the runs do not differ in x");
  EXPECT_EQ(verdict(R"("expect": "lower", "metric": "absent",
                        "compare": {"axis": "noise.rank", "value": 1, "with": 4})")
                .finding,
            "no pair of runs that ended has this figure");
  collection_.runs.resize(4);
  collection_.runs.erase(collection_.runs.begin(), collection_.runs.begin() + 2);
  const Verdict one = verdict(R"("expect": "lower", "compare": {"axis": "model.width", "value": 32, "with": 64})");
  EXPECT_EQ(one.outcome, Outcome::kUndecided);
  EXPECT_EQ(one.finding, "mean difference -0.5 (1 pair, no interval)");
}

TEST_F(StudyTest, FailedAndInterruptedRunsAreNotCompared) {
  add_grid();
  for (CollectedRun& run : collection_.runs) {
    if (run.record.seed == 0) run.record.status = RunStatus::kInterrupted;
  }
  const Verdict rest = verdict(R"("expect": "lower", "compare": {"axis": "noise.rank", "value": 4, "with": 1})");
  EXPECT_THAT(rest.finding, HasSubstr("4 pairs"));
}

TEST_F(StudyTest, SlopesAreOnePerSeedAndOtherAxes) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (const uint64_t population : {256U, 1024U, 4096U}) {
      SyntheticRun run;
      run.seed = seed;
      run.population = population;
      run.axes = {{"train.population", std::to_string(population)}};
      run.update_rate = 0.01 * std::pow(static_cast<double>(population), -0.5 + 0.01 * static_cast<double>(seed));
      add(run);
    }
  }
  const std::string test = R"("metric": "update_rate", "slope": {"axis": "train.population"}, "within": 0.05, )";
  const Verdict confirmed = verdict(test + R"("expect": -0.5)");
  EXPECT_EQ(confirmed.outcome, Outcome::kConfirmed);
  // Slopes -0.5, -0.49, -0.48.
  EXPECT_EQ(confirmed.finding,
            "mean slope -0.4900 (95 % interval -0.5148 to -0.4652, 3 slopes); claimed: -0.5 within 0.05");
  EXPECT_EQ(verdict(test + R"("expect": -0.45)").outcome, Outcome::kUndecided);
  EXPECT_EQ(verdict(test + R"("expect": -1)").outcome, Outcome::kRefuted);
}

TEST_F(StudyTest, SharesHaveWilsonsInterval) {
  add_grid();
  // Below 4: 3.5, 3.6, 3.8 of 12.
  const std::string test = R"("share": {"below": 4.0}, )";
  const Verdict rarely = verdict(test + R"("expect": "lower", "than": 0.9)");
  EXPECT_EQ(rarely.outcome, Outcome::kConfirmed);
  EXPECT_EQ(rarely.finding,
            "3 of 12 runs are below 4 (95 % interval 8.89 % to 53.2 % of all); claimed: fewer than 90 %");
  EXPECT_EQ(verdict(test + R"("expect": "higher", "than": 0.9)").outcome, Outcome::kRefuted);
  EXPECT_EQ(verdict(test + R"("expect": "lower", "than": 0.5)").outcome, Outcome::kUndecided);
}

TEST_F(StudyTest, TheSweepsFolderHasTheLastWordOnItsClaims) {
  add_grid();
  CollectedSweep sweep;
  sweep.name = "grid";
  sweep.question = "Which now?";
  sweep.claims = {{{"says", "new"}}};
  sweep.points = 20;
  collection_.sweeps.push_back(sweep);
  EXPECT_EQ(*study().question, "Which now?");
  EXPECT_EQ(study().claims.size(), 1U);
  EXPECT_EQ(*study().planned, 20U);
}

}  // namespace
}  // namespace eggroll
