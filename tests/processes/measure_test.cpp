// tools/measure_processes, and the model of results/findings/processes-scaling that reads what it writes.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class MeasureTest : public CliTest {
 protected:
  MeasureTest() {
    fs::create_directories(finding_.parent_path());
    fs::create_directories(folder_ / "results" / "0.1");
    fs::copy(kResults / "findings" / "processes-scaling", finding_, fs::copy_options::recursive);
    fs::copy(kResults / "0.1" / "gru-population-h200.csv", folder_ / "results" / "0.1" / "gru-population-h200.csv");
  }

  Result python(const Arguments& arguments) const {
    Arguments all = {"/usr/bin/env", "python3"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Process(work_, all).wait();
  }
  Result measure(const Arguments& arguments) const {
    Arguments all = {EGGROLL_SOURCE_DIR "/tools/measure_processes", "--eggroll", EGGROLL_BIN_DIR "/eggroll"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return python(all);
  }
  static bool can_run() {
    return std::system("python3 -c 0 2>/dev/null") == 0 && std::system("gnuplot --version >/dev/null 2>&1") == 0;
  }

  static inline const fs::path kResults = EGGROLL_SOURCE_DIR "/results";
  const fs::path finding_ = folder_ / "results" / "findings" / "processes-scaling";
};

TEST_F(MeasureTest, ItsTablesAreWhatTheModelReads) {
  if (!can_run()) GTEST_SKIP() << "python3 or gnuplot is not here";
  const fs::path out = finding_ / "measured" / "tiny";
  const Result measured =
      measure({"--out", out.string(), "--processes", "2", "--population", "64", "--steps", "3", "--replay-steps", "5",
               "backend=reference", "backend.threads=1", "model.layers=1", "model.width=8", "train.tokens=2"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto lines = [&](const char* table) {
    const std::string text = read_file(out / table);
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  EXPECT_EQ(lines("pieces.csv"), 3 * (3 + 2 * 3));  // three populations alone, and two copies of each
  EXPECT_EQ(lines("shared.csv") % 6, 0);            // two populations, by one way of updating or more
  EXPECT_GT(lines("shared.csv"), 0);
  EXPECT_EQ(lines("replay.csv"), 3);
  EXPECT_GT(lines("gather.csv"), 0);

  const Result modelled = python({(finding_ / "model.py").string()});
  ASSERT_EQ(modelled.exit_code, 0) << modelled.err;
  EXPECT_THAT(read_file(finding_ / "tables.md"), HasSubstr("| tiny | 2 | rebuilt | 128 | "));
}

TEST_F(MeasureTest, TheModelWritesTheTablesThatAreKept) {
  if (!can_run()) GTEST_SKIP() << "python3 or gnuplot is not here";
  for (const char* table : {"tables.md", "curves.csv", "simulation.csv", "check.csv"}) fs::remove(finding_ / table);
  const Result modelled = python({(finding_ / "model.py").string()});
  ASSERT_EQ(modelled.exit_code, 0) << modelled.err;
  for (const char* table : {"tables.md", "curves.csv", "simulation.csv", "check.csv"}) {
    EXPECT_EQ(read_file(finding_ / table), read_file(kResults / "findings" / "processes-scaling" / table)) << table;
  }
}

TEST_F(MeasureTest, RefusesWhatItCannotMeasure) {
  if (!can_run()) GTEST_SKIP() << "python3 or gnuplot is not here";
  const std::string out = (work_ / "out").string();
  const auto expect_refused = [&](const Arguments& arguments, const std::string& sentence) {
    const Result result = measure(arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, "measure_processes: " + sentence + "\n");
  };
  expect_refused({"--out", out, "--processes", "3", "--population", "64"},
                 "--population is 64 and --processes 3, expected at least 2 processes and a multiple of 96 members, "
                 "which all of 1 "
                 "to 3 processes can share evenly");
  expect_refused({"--out", finding_.string()}, finding_.string() + " holds files already; name a new folder");
  const Result wrong = measure({"--out", out, "--processes", "2", "model.widht=8"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, StartsWith("measure_processes: a run of "));
  EXPECT_THAT(wrong.err, HasSubstr("model.widht"));
  EXPECT_EQ(std::count(wrong.err.begin(), wrong.err.end(), '\n'), 1);
}

}  // namespace
}  // namespace eggroll::test
