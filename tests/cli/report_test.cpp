// The commands report, compare and export, on runs that `eggroll run` made.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

class ReportTest : public CliTest {
 protected:
  // Makes four runs: two widths, each with two seeds.
  void make_runs() const {
    for (const char* seed : {"seed=0", "seed=1"}) {
      for (const char* width : {"model.width=16", "model.width=32"}) {
        good(eggroll(tiny_run({seed, width, "monitor.every=20"})));
      }
    }
  }
};

TEST_F(ReportTest, FindingsOfRunsOfOneCommand) {
  make_runs();
  EXPECT_EQ(good(eggroll({"report", "results"})).out,
            "4 runs; findings in results/report/findings.html and results/report/findings.md\n");
  const std::string text = read_file(work_ / "results" / "report" / "findings.md");
  EXPECT_THAT(text, HasSubstr("# Findings: results\n"));
  EXPECT_THAT(text, HasSubstr("## runs on count"));
  EXPECT_THAT(text, HasSubstr("4 runs: 4 completed. 2 configurations, 2 seeds."));
  EXPECT_THAT(text, HasSubstr("| # | model.width | bits |"));
  EXPECT_THAT(text, HasSubstr("### Saturation"));
  EXPECT_THAT(text, HasSubstr("eggroll run experiment=count"));
  // The same runs give the same report, and a report is not taken for a run.
  EXPECT_EQ(eggroll({"report", "results", "--out", "again"}).exit_code, 0);
  EXPECT_EQ(read_file(work_ / "again" / "runs.csv"), read_file(work_ / "results" / "report" / "runs.csv"));
}

TEST_F(ReportTest, APublishedPageIsMadeAnewInItsPlace) {
  make_runs();
  EXPECT_EQ(eggroll({"report", "results", "--out", "results"}).exit_code, 0);
  const std::string page = read_file(work_ / "results" / "findings.md");
  const std::string table = read_file(work_ / "results" / "runs.csv");
  write_plainly(work_ / "results" / "runs.csv", "");
  const Result again = eggroll({"report", "results"});
  EXPECT_EQ(again.out, "4 runs; findings in results/findings.html and results/findings.md\n");
  EXPECT_EQ(read_file(work_ / "results" / "findings.md"), page);
  EXPECT_EQ(read_file(work_ / "results" / "runs.csv"), table);
  EXPECT_FALSE(fs::exists(work_ / "results" / "report"));
}

TEST_F(ReportTest, NotesBesideTheRunsAndAboveThemComeFirst) {
  ASSERT_EQ(eggroll(tiny_run({"seed=0"})).exit_code, 0);
  write_plainly(work_ / "report-notes.md", "Of all reports.\n");
  write_plainly(work_ / "results" / "report-notes.md", "Two settings\ndiffer.\n\n\nThe second *note*.\n");
  ASSERT_EQ(eggroll({"report", "results"}).exit_code, 0);
  EXPECT_THAT(read_file(work_ / "results" / "report" / "findings.md"),
              HasSubstr("# Findings: results\n\nNote: Two settings differ.\n\nNote: The second \\*note\\*.\n\n"
                        "Note: Of all reports.\n\n"));
}

TEST_F(ReportTest, ComparisonAndExport) {
  make_runs();
  std::vector<fs::path> runs(fs::directory_iterator(this->runs()), fs::directory_iterator());
  EXPECT_THAT(good(eggroll({"compare", runs[0].string(), runs[1].string()})).out, HasSubstr("final bits: "));
  const Result same = eggroll({"compare", runs[0].string(), runs[0].string()});
  EXPECT_THAT(same.out, HasSubstr("configuration, plugins, machine and data are the same\n"));
  EXPECT_THAT(same.out, HasSubstr("weights: equal, to the bit, in 1 of 1 pair\n"));
  write_plainly(work_ / "all.csv.tmp", "mine");
  EXPECT_THAT(good(eggroll({"export", "results", "--csv", "all.csv", "--tensorboard", "tb"})).out,
              HasSubstr("164 lines of 4 runs in all.csv\n"));
  const std::string csv = read_file(work_ / "all.csv");
  EXPECT_EQ(read_file(work_ / "all.csv.tmp"), "mine");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 41);
}

TEST_F(ReportTest, RunsAndSweepsAreFoundByTheirNames) {
  good(eggroll(tiny_sweep()));
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string run = run_folder().filename();
  const std::string hash = record_in(run_folder()).at("config_hash").get<std::string>().substr(0, 8);
  EXPECT_THAT(good(eggroll({"compare", run, hash})).out,
              HasSubstr("A results/runs/" + run + "\nB results/runs/" + run + "\n"));
  EXPECT_THAT(eggroll({"compare", hash, "swept"}).out, HasSubstr("\nB results/sweeps/swept\n"));
  EXPECT_THAT(eggroll({"report", "swept"}).out, HasSubstr("findings in results/sweeps/swept/report/findings.html"));
  EXPECT_THAT(eggroll({"report", hash}).out, HasSubstr("1 runs; findings in results/runs/" + run + "/report/"));
  EXPECT_THAT(eggroll({"export", "swept", "--csv", "x.csv"}).out, HasSubstr(" lines of 4 runs in x.csv"));
  EXPECT_THAT(eggroll({"export", "sweeps/swept", "--csv", "x.csv"}).out, HasSubstr(" lines of 4 runs in x.csv"));
  const std::string table = eggroll({"ls", "swept"}).out;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  for (const Arguments& words : {Arguments{"report", ""}, Arguments{"export", "", "--csv", "x.csv"},
                                 Arguments{"serve", ""}, Arguments{"ls", ""}, Arguments{"compare", "", "swept"}}) {
    refuses(words, {"'' does not exist, expected a folder of runs"});
  }
  // A run of a sweep's name makes the name ambiguous; the folders are not.
  fs::create_directories(work_ / "results" / "copies");
  fs::copy(run_folder(), work_ / "results" / "copies" / "swept", fs::copy_options::recursive);
  refuses({"report", "swept"},
          {"'swept' may mean any of 2 runs and sweeps: results/copies/swept, results/sweeps/swept"});
  EXPECT_EQ(eggroll({"report", "results/sweeps/swept"}).exit_code, 0);
}

TEST_F(ReportTest, BadInputIsOneSentence) {
  refuses({"report", "none"}, {"'none' does not exist, expected a folder of runs", "eggroll ls"});
  fs::create_directories(work_ / "empty");
  refuses({"report", "empty"}, {"found no record of a run to report on"});
  EXPECT_FALSE(fs::exists(work_ / "empty" / "report"));
  refuses({"compare", "empty", "empty"}, {"A has no record of a run to compare"});
  refuses({"export", "empty"}, {"expected --csv FILE or --tensorboard FOLDER"});
  refuses({"export", "empty", "--csv", "x.csv"}, {"no run has metrics to export"});
}

TEST_F(ReportTest, ARecordThatNestsDeepIsNamedAndTheRestReported) {
  make_runs();
  const fs::path run = fs::directory_iterator(runs())->path();
  std::string record = read_file(run / "record.json");
  write_plainly(run / "record.json", record.insert(record.find("\"config\": ") + 10, deep_json() + ", \"was\": "));
  write_plainly(work_ / "results" / "sweep.json", "{\"name\": \"x\", \"claims\": " + deep_json() + "}");
  write_plainly(work_ / "results" / "other.json", deep_json());
  for (const Arguments& arguments :
       {Arguments{"report", "results", "--out", "out"}, Arguments{"export", "results", "--csv", "all.csv"},
        Arguments{"compare", "results", "results"}}) {
    SCOPED_TRACE(arguments.front());
    const Result result = good(eggroll(arguments));
    for (const char* name : {"/record.json has more than 100 levels", "results/sweep.json has more than 100 levels",
                             "results/other.json has more than 100 levels"}) {
      EXPECT_THAT(result.err, HasSubstr(name));
    }
    EXPECT_THAT(result.out, HasSubstr("3 runs"));
  }
  refuses({"resume", run.string()}, {"/record.json has more than 100 levels"});
}

}  // namespace
}  // namespace eggroll::test
