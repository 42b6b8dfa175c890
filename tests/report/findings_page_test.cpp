// What findings say about the ends of runs, how to make the runs again, and damage; and the links of their page.
#include <fmt/format.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "report/findings_fixture.h"

namespace eggroll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> matches_of(const std::string& text, const char* pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

TEST_F(FindingsTest, ReproductionNamesTheFirstSeedsAndWhatTheSweepWasGiven) {
  SyntheticRun run;
  run.axes = {{"noise.rank", "4"}};
  for (run.seed = 0; run.seed < 7; ++run.seed) {
    run.point = run.seed;
    write_synthetic_run(results_ / std::to_string(run.seed), run);
  }
  write();
  std::string commands;
  for (int seed = 0; seed < 5; ++seed) {
    commands += fmt::format("eggroll run experiment=grid '~sweep' noise.rank=4 seed={}\n", seed);
  }
  EXPECT_THAT(markdown(), HasSubstr(" again (the first 5 of 7 runs), use commit "));
  EXPECT_THAT(markdown(), HasSubstr("```\n" + commands + "```"));
  // The axis belongs to the sweep, although it has only one value here.
  EXPECT_THAT(markdown(), HasSubstr("```\neggroll sweep experiment=grid\n```"));
}

// A stranger has neither this machine's folders nor its place for results.
TEST_F(FindingsTest, ReproductionNamesNoFolderOfOneMachine) {
  SyntheticRun run;
  run.axes = {{"noise.rank", "4"}};
  RunRecord record = synthetic_record(run);
  record.overrides = {
      "experiment=grid",       "dataset.path=/data/of me/train.txt", "dataset.valid_path=texts/valid.txt",
      "results.sweeps=/tmp/x", "+plugins.path=[/opt/mine]",          "~sweep",
      "noise.rank=4"};
  fs::create_directories(results_);
  write_record(results_ / "run.json", record);
  write();
  EXPECT_THAT(markdown(),
              HasSubstr("```\neggroll run experiment=grid dataset.path=train.txt dataset.valid_path=valid.txt "
                        "'+plugins.path=[mine]' '~sweep' noise.rank=4\n```\n\nmine, train.txt, valid.txt "
                        "are your copies of these files; the sha256 of the data is 2222"));
  EXPECT_THAT(markdown(), HasSubstr("```\neggroll sweep experiment=grid dataset.path=train.txt "
                                    "dataset.valid_path=valid.txt '+plugins.path=[mine]'\n```"));
}

TEST_F(FindingsTest, SmallBitsHaveTheDigitsThatTellThemApart) {
  SyntheticRun run;
  for (const double bits : {4.0, 0.00021, 0.00034}) {
    run.axes = {{"noise.rank", std::to_string(++run.point)}};
    run.final_bits = bits;
    write_synthetic_run(results_ / std::to_string(run.point), run);
  }
  write();
  EXPECT_THAT(markdown(), HasSubstr("| 1 | 2 | 0.00021 |"));
  EXPECT_THAT(markdown(), HasSubstr("| 2 | 3 | 0.00034 |"));
  EXPECT_THAT(markdown(), HasSubstr("| completed | 0.00021 |"));
}

// Nobody reads a figure of such a text without knowing it.
TEST_F(FindingsTest, AWithdrawnTextANoteAndUncommittedChangesComeFirst) {
  SyntheticRun run;
  run.claims = {{{"says", "Rank 4 beats rank 1."},
                 {"compare", {{"axis", "noise.rank"}, {"value", 4}, {"with", 1}}},
                 {"expect", "lower"}}};
  for (const int rank : {1, 4}) {
    for (run.seed = 0; run.seed < 2; ++run.seed) {
      run.axes = {{"noise.rank", std::to_string(rank)}};
      run.final_bits = 4.0 - rank / 10.0;
      const fs::path folder = results_ / std::to_string(run.point++);
      write_synthetic_run(folder, run);
      RunRecord record = synthetic_record(run);
      record.dataset->sha256 = "2d0bc72eb288aadc97bbd77819cd79b6c89a8f280ac8935fa4fdd580715b1955";
      if (rank == 1) record.environment.host_commit = "0123456789ab-dirty";
      write_record(folder / "record.json", record);
    }
  }
  const FindingsSummary summary = write_findings(collect({results_}), "ranks", out_, {"Two settings differ."});
  EXPECT_THAT(markdown(), testing::StartsWith(
                              "# Findings: ranks\n\nWithdrawn: the held-out text of these runs was contaminated. 46 % "
                              "of the held-out bytes stand byte for byte in the training text (133 of 272 documents, "
                              "722,238 of 1,556,437 bytes), so that no figure below is one of unseen text.\n\n"
                              "Note: Two settings differ.\n\nThe source of 2 of these runs had uncommitted changes "
                              "(commit 0123456789ab-dirty), so that it cannot be built again.\n\n4 runs in"));
  EXPECT_THAT(summary.answers, ElementsAre(HasSubstr("On a withdrawn text: Confirmed: Rank 4 beats rank 1.")));
  EXPECT_THAT(markdown(), HasSubstr("On a withdrawn text: Held-out bits of the unperturbed model"));
  EXPECT_THAT(page(), HasSubstr("contaminated"));
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "install gnuplot-nox to draw figures";
  EXPECT_THAT(read_file(out_ / "plots" / "grid-curves.svg"), HasSubstr("grid on a withdrawn text: learning curves"));
}

TEST_F(FindingsTest, ALogThatHoldsAFenceStaysWithinItsOwn) {
  SyntheticRun run;
  run.status = RunStatus::kFailed;
  RunRecord record = synthetic_record(run);
  record.failure->log = {"````", "# no heading"};
  fs::create_directories(results_);
  write_record(results_ / "failed.json", record);
  write();
  EXPECT_THAT(markdown(), HasSubstr("`````\n````\n# no heading\n`````\n"));
}

TEST_F(FindingsTest, NoCellOfATableIsAFormula) {
  SyntheticRun run;
  run.sweep = "=1+1";
  run.axes = {{"noise.rank", "-1"}};
  run.status = RunStatus::kFailed;
  RunRecord record = synthetic_record(run);
  record.error = "=HYPERLINK(\"http://x\",\"y\")";
  fs::create_directories(results_ / "a");
  write_record(results_ / "a" / "record.json", record);
  run.axes = {{"noise.rank", "-2"}};
  write_record(results_ / "b.json", synthetic_record(run));
  write();
  const std::string runs = read_file(out_ / "runs.csv");
  EXPECT_THAT(runs, HasSubstr(",'=1+1,failed,"));
  EXPECT_THAT(runs, HasSubstr(",\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",-1,"));
}

TEST_F(FindingsTest, EveryEndIsToldWithItsReason) {
  write_sweep();
  write();
  const std::string text = markdown();
  EXPECT_THAT(text,
              HasSubstr("15 points planned, 13 runs: 1 running, 9 completed, 1 interrupted, 1 failed, 1 stopped."));
  EXPECT_THAT(text, HasSubstr("SIGSEGV: the process died"));
  EXPECT_THAT(text, HasSubstr("```\nstep 3\na <last> line\n```"));
  EXPECT_THAT(text, HasSubstr("the budget of 10 s was spent"));
  EXPECT_THAT(text, HasSubstr("2 of 15 planned points have no record yet."));
  EXPECT_THAT(text, HasSubstr("eggroll run experiment=grid '~sweep' noise.rank=4 seed=0"));
  EXPECT_THAT(text, HasSubstr("```\neggroll sweep experiment=grid\n```"));
  EXPECT_THAT(text, HasSubstr("head: 40 % of values at"));
}

TEST_F(FindingsTest, NumbersLeadToRunsAndRunsToRecords) {
  write_sweep();
  write();
  const std::string html = page();
  std::set<std::string> rows;
  for (const std::string& id : matches_of(html, "id=(run-[0-9]+)>")) EXPECT_TRUE(rows.insert(id).second) << id;
  EXPECT_EQ(rows.size(), 13U);
  const std::vector<std::string> links = matches_of(html, "href=\"#(run-[0-9]+)\"");
  EXPECT_GT(links.size(), 50U);
  for (const std::string& link : links) EXPECT_TRUE(rows.contains(link)) << link;
  const std::vector<std::string> records = matches_of(html, "href=\"([^\"]*record.json)\"");
  EXPECT_EQ(records.size(), 13U);
  for (const std::string& record : records) EXPECT_TRUE(fs::exists(out_ / record)) << record;
  for (const std::string& link : matches_of(markdown(), "\\(#(run-[0-9]+)\\)"))
    EXPECT_TRUE(rows.contains(link)) << link;
}

TEST_F(FindingsTest, ThePageNeedsNoOtherFileAndEscapesWhatItQuotes) {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "install gnuplot-nox to draw figures";
  write_sweep();
  write();
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("a &lt;last&gt; line"));
  EXPECT_THAT(html, Not(HasSubstr("<last>")));
  for (const char* outside : {" src=", "<link", "@import", "url(http", "fetch("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  for (const std::string& address : matches_of(html, "(https?://[^\"' ]+)"))
    EXPECT_THAT(address, testing::StartsWith("http://www.w3.org/"));
  for (const char* figure : {"effects", "curves", "time"}) {
    const std::string svg = read_file(out_ / "plots" / (std::string("grid-") + figure + ".svg"));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(html, HasSubstr(svg.substr(svg.find("<svg"), 200))) << figure;
  }
}

TEST_F(FindingsTest, TablesAreTidy) {
  write_sweep();
  write();
  const std::string runs = read_file(out_ / "runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 14);
  EXPECT_THAT(runs, HasSubstr(",axis.noise.rank,config.dataset.seed,config.noise.rank,config.seed\n"));
  EXPECT_THAT(runs, HasSubstr("\n1,points/0,grid,completed,0,100,1638400,token,4.5,4.5,4.5,5,4.5,4.25,"));
  const std::string curves = read_file(out_ / "curves.csv");
  EXPECT_EQ(std::count(curves.begin(), curves.end(), '\n'), 1 + 13 * 11);
  EXPECT_THAT(curves, HasSubstr("\n1,points/0,grid,0,100,1638400,1"));
}

TEST_F(FindingsTest, PathologiesAreNamedWithTheirRuns) {
  SyntheticRun run;
  run.axes = {{"noise.rank", "1"}};
  run.update_rate = 0.9;
  write_synthetic_run(results_ / "a", run);
  run.axes = {{"noise.rank", "2"}};
  run.update_rate = 0.1;
  run.final_bits = 5.5;
  write_synthetic_run(results_ / "b", run);
  run.axes = {{"noise.rank", "4"}};
  run.final_bits = 4.0;
  run.population = 2;  // one pair, which has no fitness
  write_synthetic_run(results_ / "c", run);
  write();
  EXPECT_THAT(markdown(), HasSubstr("raise the threshold. (runs [1](#run-1))"));
  EXPECT_THAT(markdown(), HasSubstr("at most it learned how frequent each token is. (runs [2](#run-2))"));
  EXPECT_THAT(markdown(), HasSubstr("all votes were 0. (runs [3](#run-3))"));
}

// The run may end with the weights of an earlier evaluation than its last one.
TEST_F(FindingsTest, ARunIsJudgedByTheStepOfItsFinalFigures) {
  const std::string pathology = "more than 5 % above its best evaluation";
  write_synthetic_run(results_ / "run", {});
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr(pathology)));
  RunRecord record = synthetic_record({});
  record.final->step = 10;
  write_record(results_ / "run" / "record.json", record);
  write();
  EXPECT_THAT(markdown(), HasSubstr(pathology));
}

TEST_F(FindingsTest, ThresholdsAreInDeviationsOfWhatTheyAreHeldAgainst) {
  SyntheticRun run;
  write_synthetic_run(results_ / "a", run);
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(results_ / "a" / "record.json"));
  record["config"]["optimizer"]["residual"] = 0.6;  // a threshold of 2 is 2 * sqrt(1 - 0.36) deviations
  write_plainly(results_ / "a" / "record.json", sealed(record).dump());
  write();
  EXPECT_THAT(markdown(), HasSubstr("| the only configuration | 0 | 1.584 | 1.6 | 100 % |"));
}

// If votes are masked, the share of all weights says little about the votes, because a step reads few rows.
TEST_F(FindingsTest, UpdateRatesAreOfTheWeightsWithVotes) {
  SyntheticRun run;
  const fs::path folder = results_ / "a";
  write_synthetic_run(folder, run);
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(folder / "record.json"));
  record["config"]["votes"]["masked"] = true;
  write_plainly(folder / "record.json", sealed(record).dump());
  write();
  EXPECT_THAT(markdown(), HasSubstr("1 run is left out: only the members that read a row of a table voted on it"));
  EXPECT_THAT(markdown(), Not(HasSubstr("update rate: first")));
  EXPECT_THAT(read_file(out_ / "runs.csv"), HasSubstr(",,,,0,1.9"));  // no rate, then the threshold

  run.update_rate_of_voted = 0.4;
  write_synthetic_run(folder, run);
  write_plainly(folder / "record.json", sealed(record).dump());
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr("left out: only")));
  EXPECT_THAT(read_file(out_ / "runs.csv"), HasSubstr(",0.4,0.4,0.4,"));
  EXPECT_THAT(markdown(), HasSubstr("| the only configuration | 0 | 1.98 | 2 | 40 % |"));
}

TEST_F(FindingsTest, RecordsWithoutMetricsStillHaveALeaderboard) {
  fs::create_directories(results_);
  for (uint64_t seed : {0U, 1U}) {
    SyntheticRun run;
    run.seed = seed;
    write_record(results_ / fmt::format("published-{}.json", seed), synthetic_record(run));
  }
  const FindingsSummary summary = write();
  const std::string missing = "The metrics of 2 of 2 runs are lost: the record has no summary";
  EXPECT_THAT(summary.problems, ElementsAre(HasSubstr(missing)));
  EXPECT_THAT(markdown(), HasSubstr("## What could not be read\n\n- " + missing));
  EXPECT_THAT(markdown(), HasSubstr("| 1 | 4.000 | 4.000 to 4.000 | 2 | 4.000 | 4.000 |"));
  EXPECT_THAT(markdown(), Not(HasSubstr("Learning curves")));
}

// The page, the tables and the figures are the same, to the byte, from the summaries as from the metrics.
TEST_F(FindingsTest, ARecordsSummaryStandsForItsMetrics) {
  write_sweep();
  write();
  std::map<fs::path, std::string> from_metrics;
  for (const auto& entry : fs::recursive_directory_iterator(out_)) {
    if (entry.is_regular_file()) from_metrics[entry.path()] = read_file(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(results_ / "points")) {
    RunRecord record = read_record(entry.path() / "record.json");
    record.summary = summarize_metrics(entry.path() / "metrics.jsonl");
    ASSERT_TRUE(record.summary);
    EXPECT_EQ(record.summary->training.size(), 50U);  // the run has 100 lines
    write_record(entry.path() / "record.json", record);
    fs::remove(entry.path() / "metrics.jsonl");
  }
  EXPECT_THAT(write().problems, IsEmpty());
  EXPECT_GE(from_metrics.size(), 4U);
  for (const auto& [path, bytes] : from_metrics) EXPECT_EQ(read_file(path), bytes) << path;
}

// This holds in every place where a verdict stands.
TEST_F(FindingsTest, AClaimMadeAfterItsRunsIsNeverConfirmed) {
  write_sweep();
  nlohmann::ordered_json sweep = nlohmann::ordered_json::parse(read_file(results_ / "sweep.json"));
  sweep["claims"][0]["says"] = "Rank 4 wins.";
  write_plainly(results_ / "sweep.json", sealed(sweep).dump());
  const FindingsSummary summary = write();
  const std::string late = "xploratory, stated after 12 of 13 runs had ended";
  EXPECT_THAT(summary.answers,
              testing::Contains(testing::StartsWith("E" + late + ": Rank 4 wins. These runs agree with it: mean ")));
  EXPECT_THAT(summary.answers, testing::Contains(testing::StartsWith("Confirmed: Rank 4 beats rank 1. ")));
  EXPECT_THAT(markdown(), HasSubstr("\n4 claims, 3 stated before the runs. The others are exploratory"));
  EXPECT_THAT(markdown(), HasSubstr("- E" + late + ": Rank 4 wins. These"));
  EXPECT_THAT(markdown(), HasSubstr("| Rank 4 wins. | e" + late + "; these runs agree with it | mean"));
  EXPECT_THAT(markdown(), HasSubstr("| Rank 4 beats rank 1. (no longer stated by the experiment) | confirmed |"));
  EXPECT_THAT(page(), HasSubstr("E" + late + ": Rank 4 wins."));
  EXPECT_THAT(page(), HasSubstr("e" + late + "; these runs agree with it"));
  for (const std::string& text : {markdown(), page()}) {
    EXPECT_FALSE(std::regex_search(text, std::regex("[Cc]onfirmed[^.]*Rank 4 wins|Rank 4 wins[^.]*onfirmed")));
  }
}

TEST_F(FindingsTest, WhatIsDamagedIsInTheFindings) {
  write_synthetic_run(results_ / "a", {});
  write_plainly(results_ / "b.json", "{");
  write_plainly(results_ / "c.json", "{}");
  EXPECT_EQ(write().problems.size(), 1U);
  EXPECT_THAT(markdown(), HasSubstr("## What could not be read\n\n- " + std::string(1, '/')));
  EXPECT_THAT(markdown(), HasSubstr("b.json is not complete JSON"));
  EXPECT_THAT(markdown(), HasSubstr("1 \\*.json files hold no record of a run"));
}

TEST_F(FindingsTest, NoRunIsAnError) {
  fs::create_directories(results_);
  EXPECT_EQ(message_of([&] { write(); }), "found no record of a run to report on, expected at least one");
}

TEST_F(FindingsTest, WithoutGnuplotTheWordsAreWrittenAllTheSame) {
  write_sweep();
  const std::string text = in_child([&] {
    ::setenv("PATH", folder_.c_str(), 1);
    const FindingsSummary summary = write();
    return std::to_string(summary.answers.size()) + " " + summary.problems.at(0);
  });
  EXPECT_THAT(text, testing::StartsWith("3 no figure grid-effects was drawn: gnuplot is not installed"));
  EXPECT_THAT(markdown(), HasSubstr("gnuplot is not installed"));
}

}  // namespace
}  // namespace eggroll
