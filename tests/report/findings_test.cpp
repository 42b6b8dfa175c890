#include "report/findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "record/scratch.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
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

class FindingsTest : public ScratchTest {
 protected:
  // Three ranks of three seeds: rank 4 and 8 tie, rank 1 is behind; and a point for each way to end.
  void write_sweep() {
    const nlohmann::ordered_json claims = {{{"says", "Rank 4 beats rank 1."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 4}, {"with", 1}}},
                                            {"expect", "lower"}},
                                           {{"says", "Rank 8 beats rank 4."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 8}, {"with", 4}}},
                                            {"expect", "lower"}},
                                           {{"says", "Rank 1 beats rank 8."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 1}, {"with", 8}}},
                                            {"expect", "lower"}}};
    const std::map<int, std::vector<double>> bits = {
        {1, {4.5, 4.52, 4.51}}, {4, {4.0, 4.1, 4.05}}, {8, {4.02, 4.04, 4.11}}};
    SyntheticRun run;
    run.claims = claims;
    run.monitor_every = 50;
    for (const auto& [rank, of_seeds] : bits) {
      for (uint64_t seed = 0; seed < 3; ++seed) {
        run.axes = {{"noise.rank", std::to_string(rank)}};
        run.seed = seed;
        run.final_bits = of_seeds[seed];
        write_synthetic_run(results_ / "points" / std::to_string(run.point++), run);
      }
    }
    run.seed = 3;
    for (const RunStatus status :
         {RunStatus::kFailed, RunStatus::kInterrupted, RunStatus::kRunning, RunStatus::kStopped}) {
      run.axes = {{"noise.rank", std::to_string(16 + static_cast<int>(status))}};
      run.status = status;
      write_synthetic_run(results_ / "points" / std::to_string(run.point++), run);
    }
    const nlohmann::ordered_json sweep = {{"name", "grid"},     {"question", "Which rank?"},
                                          {"claims", claims},   {"axes", {{"noise.rank", {"1", "4", "8"}}}},
                                          {"seeds", {0, 1, 2}}, {"points", 15}};
    write_plainly(results_ / "sweep.json", sweep.dump());
  }

  FindingsSummary write() { return write_findings(collect({results_}), "ranks", out_); }
  std::string markdown() const { return read_file(out_ / "findings.md"); }
  std::string page() const { return read_file(out_ / "findings.html"); }

  const fs::path results_ = folder_ / "results";
  const fs::path out_ = folder_ / "out";
};

TEST_F(FindingsTest, ClaimsAreAnsweredInALineEach) {
  write_sweep();
  const FindingsSummary summary = write();
  EXPECT_THAT(summary.problems, IsEmpty());
  // Intervals of the differences by SciPy 1.10.1: -0.5594 to -0.3606, -0.1451 to 0.1584, 0.3386 to 0.5681.
  EXPECT_THAT(
      summary.answers,
      ElementsAre(
          "Confirmed: Rank 4 beats rank 1. Mean difference -0.46 (95 % interval -0.5594 to -0.3606, 3 pairs).",
          "Undecided: Rank 8 beats rank 4. Mean difference 0.006667 (95 % interval -0.1451 to 0.1584, 3 pairs).",
          "Refuted: Rank 1 beats rank 8. Mean difference 0.4533 (95 % interval 0.3386 to 0.5681, 3 pairs)."));
  for (const std::string& answer : summary.answers)
    EXPECT_THAT(markdown(), HasSubstr("- " + answer + " (runs [")) << answer;
}

TEST_F(FindingsTest, TheLeaderboardNamesTies) {
  write_sweep();
  write();
  EXPECT_THAT(markdown(), HasSubstr("| 3 | 20 | 4.11 | none | 1 | no interval |"));  // the run that was stopped early
  EXPECT_THAT(markdown(), HasSubstr("1 of these runs was stopped early."));
  const std::string text = markdown();
  std::smatch row;
  ASSERT_TRUE(
      std::regex_search(text, row, std::regex("\\| \\d \\| 4 \\| 4\\.05 \\| 3\\.926 to 4\\.174 \\| 3 \\| (\\w+) ")));
  EXPECT_EQ(row[1], "best");
  ASSERT_TRUE(std::regex_search(text, row, std::regex("\\| \\d \\| 8 \\| 4\\.057 \\| [^|]*\\| 3 \\| (\\w+) ")));
  EXPECT_EQ(row[1], "tie");
  ASSERT_TRUE(std::regex_search(text, row, std::regex("\\| \\d \\| 1 \\| 4\\.51 \\| [^|]*\\| 3 \\| (\\w+) ")));
  EXPECT_EQ(row[1], "behind");
  EXPECT_THAT(text, HasSubstr("On the same data: bigram 4.5, entropy rate 0.5, gzip 4.25, unigram 5."));
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
  EXPECT_THAT(text, HasSubstr("eggroll run experiment=grid seed=0 noise.rank=4"));
  EXPECT_THAT(text, HasSubstr("eggroll sweep experiment=grid"));
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
  for (const char* figure : {"effects", "curves", "threshold", "time"}) {
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
  EXPECT_THAT(runs, HasSubstr("\n1,points/0,grid,completed,0,100,1638400,token,4.5,4.5,5,4.5,4.25,"));
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
  EXPECT_THAT(
      markdown(),
      HasSubstr("Ended no better than the unigram model: only frequencies were learned, or less. (runs [2](#run-2))"));
  EXPECT_THAT(markdown(), HasSubstr("all votes were 0. (runs [3](#run-3))"));
}

TEST_F(FindingsTest, ThresholdsAreInDeviationsOfWhatTheyAreHeldAgainst) {
  SyntheticRun run;
  write_synthetic_run(results_ / "a", run);
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(results_ / "a" / "record.json"));
  record["config"]["optimizer"]["residual"] = 0.6;  // a threshold of 2 is 2 * sqrt(1 - 0.36) deviations
  write_plainly(results_ / "a" / "record.json", record.dump());
  write();
  EXPECT_THAT(markdown(), HasSubstr("| the only configuration | 0 | 1.584 | 1.6 | 100 % |"));
}

TEST_F(FindingsTest, RecordsWithoutMetricsStillHaveALeaderboard) {
  fs::create_directories(results_);
  for (uint64_t seed : {0U, 1U}) {
    SyntheticRun run;
    run.seed = seed;
    write_record(results_ / fmt::format("published-{}.json", seed), synthetic_record(run));
  }
  const FindingsSummary summary = write();
  EXPECT_THAT(summary.problems, IsEmpty());
  EXPECT_THAT(markdown(), HasSubstr("| 1 | 4 | 4 to 4 | 2 | best |"));
  EXPECT_THAT(markdown(), Not(HasSubstr("Learning curves")));
}

TEST_F(FindingsTest, WhatIsDamagedIsInTheFindings) {
  write_synthetic_run(results_ / "a", {});
  write_plainly(results_ / "b.json", "{");
  write_plainly(results_ / "c.json", "{}");
  EXPECT_EQ(write().problems.size(), 1U);
  EXPECT_THAT(markdown(), HasSubstr("## What could not be read\n\n- " + std::string(1, '/')));
  EXPECT_THAT(markdown(), HasSubstr("b.json is no whole JSON"));
  EXPECT_THAT(markdown(), HasSubstr("1 files \\*.json hold no run's record"));
}

TEST_F(FindingsTest, NoRunIsAnError) {
  fs::create_directories(results_);
  EXPECT_EQ(message_of([&] { write(); }), "there is no run's record to report on, expected one at least");
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
