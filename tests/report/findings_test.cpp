// What findings say of claims, configurations, texts and axes.
#include "report/findings_fixture.h"

#include <cstdlib>

namespace eggroll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace eggroll
