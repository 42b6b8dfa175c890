#include "report/findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "record/run_lock.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> matches_of(const std::string& text, const char* pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

class FindingsTest : public ScratchTest {
 protected:
  // Three ranks of a perturbation with three seeds: ranks 4 and 8 are not told apart, rank 1 is behind; and a point for
  // each way to end.
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
      const fs::path folder = results_ / "points" / std::to_string(run.point++);
      write_synthetic_run(folder, run);
      if (status == RunStatus::kRunning) at_work_.emplace(folder);
    }
    const nlohmann::ordered_json sweep = {{"name", "grid"},     {"question", "Which rank?"},
                                          {"claims", claims},   {"axes", {{"noise.rank", {"1", "4", "8"}}}},
                                          {"seeds", {0, 1, 2}}, {"points", 15}};
    write_plainly(results_ / "sweep.json", sealed(sweep).dump());
  }

  FindingsSummary write() { return write_findings(collect({results_}), "ranks", out_); }
  std::string markdown() const { return read_file(out_ / "findings.md"); }
  std::string page() const { return read_file(out_ / "findings.html"); }

  std::optional<RunLock> at_work_;  // of the run that is running
  const fs::path results_ = folder_ / "results";
  const fs::path out_ = folder_ / "out";
};

TEST_F(FindingsTest, ClaimsAreAnsweredInALineEach) {
  write_sweep();
  const FindingsSummary summary = write();
  EXPECT_THAT(summary.problems, IsEmpty());
  // Intervals of the differences by SciPy 1.10.1: -0.5594 to -0.3606, -0.1451 to 0.1584, 0.3386 to 0.5681. By hand, for
  // with two degrees of freedom p is 1 - t / sqrt(2 + t^2): 0.0025105, 0.86755 and 0.0034424.
  EXPECT_THAT(
      summary.answers,
      ElementsAre(
          "Confirmed: Rank 4 beats rank 1. Mean difference -0.4600 (95 % interval -0.5594 to -0.3606, 3 pairs); "
          "survives Holm's correction over 3 claims (p 0.0025, corrected 0.0075).",
          "Undecided: Rank 8 beats rank 4. Mean difference 0.0067 (95 % interval -0.1451 to 0.1584, 3 pairs).",
          "Refuted: Rank 1 beats rank 8. Mean difference 0.4533 (95 % interval 0.3386 to 0.5681, 3 pairs); "
          "survives Holm's correction over 3 claims (p 0.0034, corrected 0.0075)."));
  EXPECT_THAT(markdown(),
              HasSubstr("\n3 claims. Each verdict uses the 95 % interval of its claim alone. A verdict survives"));
  EXPECT_THAT(markdown(), HasSubstr("| survives (p 0.0025, corrected 0.0075) |"));
  for (const std::string& answer : summary.answers)
    EXPECT_THAT(markdown(), HasSubstr("- " + answer + " (runs [")) << answer;
}

// Every run twice is no more evidence than every run once.
TEST_F(FindingsTest, CopiesOfRunsChangeNoTableAndNoVerdict) {
  write_sweep();
  const std::vector<std::string> answers = write().answers;
  std::map<std::string, std::string> tables;
  for (const auto& entry : fs::directory_iterator(out_ / "tables")) tables[entry.path()] = read_file(entry.path());
  EXPECT_THAT(tables, SizeIs(4));  // claims, leaderboard, comparison and effects
  EXPECT_THAT(markdown(), Not(HasSubstr("repeat")));
  fs::copy(results_ / "points", results_ / "copies", fs::copy_options::recursive);
  EXPECT_EQ(write().answers, answers);
  for (const auto& [file, text] : tables) EXPECT_EQ(read_file(file), text) << file;
  EXPECT_THAT(markdown(),
              HasSubstr("26 runs of 7 configurations were made, with seeds 0, 1, 2 and 3. 13 runs repeat the "
                        "configuration and the seed of another run, and do not count again. The backend"));
  EXPECT_THAT(markdown(), HasSubstr("15 points planned, 26 runs: "));
  const std::string csv = read_file(out_ / "runs.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 26);
}

TEST_F(FindingsTest, TheLeaderboardNamesWhatIsNotToldApart) {
  write_sweep();
  write();
  const std::string text = markdown();
  EXPECT_THAT(
      text,
      HasSubstr(
          "The best is rank=4: 4.050 (95 % interval 3.926 to 4.174, 3 seeds). 1 other is not told apart from it."));
  EXPECT_THAT(text, HasSubstr("| 1 | 4 | 4.050 | 3.926 to 4.174 | 3 | 4.000 | 4.100 | 1.64 M |"));
  EXPECT_THAT(text, HasSubstr("| 3 | 20 | 4.110 | none | 1 | 4.110 | 4.110 |"));  // the run that was stopped early
  EXPECT_THAT(text, HasSubstr("1 of these runs was stopped early."));
  EXPECT_THAT(text, HasSubstr("On the same data: bigram 4.5, entropy rate 0.5, gzip 4.25, unigram 5."));
}

TEST_F(FindingsTest, WhatIsKnownOfATextIsSaid) {
  write_sweep();
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr("windows")));
  EXPECT_THAT(read_file(out_ / "runs.csv"), Not(HasSubstr("kneser_ney")));
  SyntheticRun run;
  run.point = 100;
  run.axes = {{"noise.rank", "2"}};
  run.overlap = 0.015625;
  write_synthetic_run(results_ / "points" / "100", run);
  write();
  EXPECT_THAT(markdown(), HasSubstr("On the same data: Kneser-Ney of 4 bytes 3, bigram 4.5, entropy rate 0.5, gzip "
                                    "4.25, unigram 5, xz 4."));
  EXPECT_THAT(markdown(), HasSubstr(" with 24,832 int8 parameters; a checkpoint takes 127 KiB. "));
  EXPECT_THAT(markdown(), HasSubstr("Of the held-out part's windows of 64 bytes, 1.56 % occur in the training part. "));
  EXPECT_THAT(markdown(), Not(HasSubstr("split the data by distinct documents")));
  const std::string table = read_file(out_ / "runs.csv");
  EXPECT_THAT(table, HasSubstr(",error,parameters,checkpoint_bytes,xz,ppmd,kneser_ney,kneser_ney_bytes,"
                               "counting_seconds,overlap_32,overlap_64,"));
  EXPECT_THAT(table, HasSubstr(",24832,130000,4,,3,4,0.5,0.75,0.015625,"));
  EXPECT_THAT(table, HasSubstr(",24832,,,,,,,,,")) << "the others say nothing of it";

  run.overlap = 0.5;
  write_synthetic_run(results_ / "points" / "100", run);
  write();
  EXPECT_THAT(markdown(), HasSubstr("- 50.0 % of the held-out part's windows of 64 bytes occur in the training part"));
}

// The order follows the bits of the weights. The average's bits stand beside them, if any run has an average.
TEST_F(FindingsTest, TheAverageOfTheWeightsHasAColumnOfItsOwn) {
  write_sweep();
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr("of the average")));
  EXPECT_THAT(read_file(out_ / "runs.csv"), Not(HasSubstr("average")));
  SyntheticRun run;
  run.point = 100;
  run.axes = {{"noise.rank", "2"}};
  run.final_bits = 5.0;
  for (const double bits : {3.5, 3.75}) {
    run.average_bits = bits;
    write_synthetic_run(results_ / "points" / std::to_string(run.point++), run);
    ++run.seed;
  }
  write();
  const std::string text = markdown();
  EXPECT_THAT(text, HasSubstr(" The weights' average has a column of its own; all other columns are of the weights."));
  EXPECT_THAT(text, HasSubstr("| lowest | highest | final bits of the average | member tokens/s | runs |"));
  EXPECT_THAT(text, testing::ContainsRegex("\\| 2 \\| 5\\.000 \\| [^|]* \\| 2 \\| 5\\.000 "
                                           "\\| 5\\.000 \\| 3\\.625 \\| "));
  EXPECT_THAT(text, testing::ContainsRegex("\\| 4 \\| 4\\.050 \\| [^|]* \\| 3 \\| 4\\.000 "
                                           "\\| 4\\.100 \\|  *\\| "));
  EXPECT_THAT(text, HasSubstr("| final bits | final bits of the average | member tokens/s | update rate |"));
  EXPECT_THAT(text, HasSubstr(" | completed | 5.000 | 3.500 | "));
  EXPECT_THAT(text, HasSubstr(" | completed | 4.000 |  | "));
  const std::string table = read_file(out_ / "runs.csv");
  EXPECT_THAT(table, HasSubstr(",error,average_final_bits,average_newest_bits,"));
  EXPECT_THAT(table, HasSubstr(",3.75,3.75,"));
}

TEST_F(FindingsTest, AHooksNumberIsAClaimsMetricAndAColumn) {
  SyntheticRun run;
  run.claims = {{{"says", "Rank 4 scores higher."},
                 {"metric", "hook.score"},
                 {"compare", {{"axis", "noise.rank"}, {"value", 4}, {"with", 1}}},
                 {"expect", "higher"}},
                {{"says", "Nobody knows."},
                 {"metric", "hook.other"},
                 {"compare", {{"axis", "noise.rank"}, {"value", 4}, {"with", 1}}},
                 {"expect", "higher"}}};
  for (const int rank : {1, 4}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      run.axes = {{"noise.rank", std::to_string(rank)}};
      run.seed = seed;
      run.score = rank + 0.125 * static_cast<double>(seed * seed) * rank;
      write_synthetic_run(results_ / std::to_string(run.point++), run);
    }
  }
  const FindingsSummary summary = write();
  EXPECT_THAT(summary.answers,
              ElementsAre(testing::StartsWith("Confirmed: Rank 4 scores higher. Mean difference 3.625"),
                          testing::StartsWith("Undecided: Nobody knows. No pair of runs that ended has this figure")));
  const std::string table = read_file(out_ / "runs.csv");
  EXPECT_THAT(table, HasSubstr(",error,hook.score,axis.noise.rank,"));
  EXPECT_THAT(table, HasSubstr(",,6,4"));  // the newest score, not the mean
}

// An interval over several pairs of one seed would be narrower than the number of seeds allows.
TEST_F(FindingsTest, EffectsAreOverSeeds) {
  SyntheticRun run;
  for (uint64_t seed = 0; seed < 2; ++seed) {
    run.seed = seed;
    for (const char* width : {"32", "64"}) {
      for (const char* rank : {"1", "4"}) {
        run.axes = {{"model.width", width}, {"noise.rank", rank}};
        run.final_bits = 4.0 + (*rank == '4' ? 0.5 + 0.1 * static_cast<double>(seed) : 0.0);
        write_synthetic_run(results_ / std::to_string(run.point++), run);
      }
    }
  }
  write();
  // Two seeds have the differences 0.5 and 0.6, and each difference occurs twice.
  EXPECT_THAT(markdown(), HasSubstr("| noise.rank | 4 | 1 | 0.550 | -0.085 to 1.185 | 2 | 4 | no difference shown |"));
}

TEST_F(FindingsTest, AxesOfSeveralKeysAreLabelledShortly) {
  SyntheticRun run;
  for (const char* rank : {"1", "4"}) {
    run.axes = {};
    run.final_bits += 0.1;
    RunRecord record = synthetic_record(run);
    record.sweep->axes = {{"noise.rank+noise.sigma_shift", {{"noise.rank", rank}, {"noise.sigma_shift", "6"}}}};
    fs::create_directories(results_ / rank);
    write_atomically(results_ / rank / "metrics.jsonl", synthetic_metrics(run));
    write_record(results_ / rank / "record.json", record);
  }
  write();
  EXPECT_THAT(markdown(), HasSubstr("The best is rank=1 sigma\\_shift=6: 4.1 (1 seed, no interval)"));
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "install gnuplot-nox to draw figures";
  EXPECT_THAT(read_file(out_ / "plots" / "grid-effects.svg"),
              HasSubstr("rank 4, sigma shift 6 against rank 1, sigma shift 6"));
  EXPECT_THAT(read_file(out_ / "plots" / "grid-curves.svg"), HasSubstr("1. rank 1, sigma shift 6"));
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

// Where votes are masked, the share of all weights says little of the votes: a step reads few rows.
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
