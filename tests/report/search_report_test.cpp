// The report of a search: its trials in order, the importance of settings, and parallel coordinates.
#include <gmock/gmock.h>

#include <regex>

#include "record/scratch.h"
#include "report/findings.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SearchReportTest : public ScratchTest {
 protected:
  // Twelve trials: their width decides their bits, their fitness nothing. Four go on once, one of them twice; one
  // fails.
  void write_trials() {
    SyntheticRun run;
    run.sweep = "hunt";
    run.seed = 100;
    for (uint64_t trial = 0; trial < 12; ++trial) {
      const uint64_t width = 8 + 4 * (trial % 6);
      run.axes = {{"model.width", std::to_string(width)}, {"fitness.name", trial % 4 < 2 ? "sign" : "zscore"}};
      run.final_bits = 4.0 - 0.01 * static_cast<double>(width) + 0.0001 * static_cast<double>(trial);
      run.trial = TrialRecord{trial, trial == 5 ? 2U : trial % 6 > 3 ? 1U : 0U};
      run.steps = run.trial->rung == 2 ? 90 : run.trial->rung == 1 ? 30 : 10;
      run.status = trial == 7 ? RunStatus::kFailed : run.trial->rung == 2 ? RunStatus::kCompleted : RunStatus::kStopped;
      write_synthetic_run(folder_ / "hunt" / "points" / std::to_string(run.point++), run);
    }
  }
  std::string report() const {
    write_findings(collect({folder_ / "hunt"}), "hunt", folder_ / "out");
    return read_file(folder_ / "out" / "findings.md");
  }
};

TEST_F(SearchReportTest, TrialsThatWentOnComeFirstAndFailedOnesLast) {
  write_trials();
  const std::string page = report();
  EXPECT_THAT(page, HasSubstr("12 trials of a search."));
  EXPECT_THAT(page, HasSubstr("| 1 | 5 | 2 | 90 | 3.720 | 28 | sign |"));
  EXPECT_THAT(page, HasSubstr("| 2 | 11 | 1 | 30 | 3.721 | 28 | zscore |"));
  EXPECT_THAT(page, HasSubstr("| 12 | 7 | 0 | 10 | failed | 12 | zscore |"));
  // Trials of other lengths are no leaderboard.
  EXPECT_THAT(page, Not(HasSubstr("### Leaderboard")));
}

TEST_F(SearchReportTest, TheSettingThatDecidesIsImportant) {
  write_trials();
  const std::string page = report();
  std::smatch width;
  std::smatch fitness;
  ASSERT_TRUE(std::regex_search(page, width, std::regex(R"(\| model.width \| ([0-9.]+) % \| ([^|]+) \|)")));
  ASSERT_TRUE(std::regex_search(page, fitness, std::regex(R"(\| fitness.name \| ([0-9.]+) % \|)")));
  EXPECT_GT(std::stod(width[1]), 60.0);
  EXPECT_LT(std::stod(fitness[1]), 20.0);
  EXPECT_EQ(width[2], "24, 28");
  EXPECT_LT(width.position(), fitness.position());
}

TEST_F(SearchReportTest, EachTrialIsALineAcrossTheSettings) {
  write_trials();
  report();
  const std::string script = read_file(folder_ / "out" / "plots" / "hunt-coordinates.gp");
  EXPECT_THAT(script, HasSubstr("'ended after 90 steps'"));
  // Width 28 of 8 to 28 is on top, `sign` is the lower of two names, and the first place is on top.
  EXPECT_THAT(script, HasSubstr("$group2 << END\n0 1.0000\n1 0.0000\n2 1.0000\n\nEND\n"));
  EXPECT_TRUE(is_there(folder_ / "out" / "plots" / "hunt-coordinates.svg"));
}

}  // namespace
}  // namespace eggroll
