// The display of a sweep on a terminal, the end of a sweep when the terminal closes, and the list of its points that
// has begun.
#include "cli/terminal.h"

#include <set>

#include "experiment/freeze.h"
#include "experiment/submission.h"
#include "experiment/sweep_command.h"

namespace eggroll::test {
namespace {

class SweepTerminalTest : public SweepCommandTest {
 protected:
  SweepTerminalTest() { write_experiment("long", "  product: [model.width=16]\n  seeds: 3\n"); }

  // Sweeps points of some minutes each.
  const Arguments command_ = with_own({"sweep", "experiment=long", "train.steps=1000000",
                                       "name=a-name-with-which-the-first-line-is-wider-than-a-terminal-of-80-columns"});
  // Lines of the first point's metrics.
  size_t lines_begun() const {
    const fs::path all = work_ / "results" / "sweeps";
    if (!fs::exists(all) || fs::is_empty(all)) return 0;
    const fs::path begun = fs::directory_iterator(all)->path() / "points";
    return fs::exists(begun) && !fs::is_empty(begun) ? lines_in(fs::directory_iterator(begun)->path()) : 0;
  }
};

TEST_F(SweepTerminalTest, KeysThatTheTerminalEchoesLeaveNothingBehind) {
  Terminal terminal(work_, command_);
  const auto draws = [&] { return count_of(terminal.text(), "a-name-"); };
  ASSERT_TRUE(terminal.wait_until([&] { return draws() > 2 && lines_begun() > 5; })) << terminal.text();
  terminal.type("\x03");
  const size_t seen = draws();
  ASSERT_TRUE(terminal.wait_until([&] { return draws() > seen + 2; }));
  // The row appears at most once; it is missing while a drawing has just begun.
  const std::vector<std::string> rows = terminal.rows();
  for (const std::string text : {"-columns: 0", "0000 "}) {
    EXPECT_LE(std::count_if(rows.begin(), rows.end(),
                            [&](const std::string& row) { return row.find(text) != std::string::npos; }),
              1)
        << text;
  }
  EXPECT_THAT(rows, Not(Contains(HasSubstr("^C"))));
  // The reply to the key is whole, although the name leaves it no room in the first line.
  EXPECT_TRUE(terminal.wait_until([&] {
    const std::vector<std::string> now = terminal.rows();
    return std::count(now.begin(), now.end(), "  asked to stop, no more points begin") == 1;
  })) << terminal.text();
  terminal.type("\x03");
  const Result result = terminal.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.out;
  EXPECT_THAT(terminal.rows(), Contains("0 of 3 points done, 0 failed, 3 left"));
}

TEST_F(SweepTerminalTest, WhatRunsIsSavedWhenTheTerminalCloses) {
  Terminal terminal(work_, command_);
  ASSERT_TRUE(terminal.wait_until([&] { return lines_begun() > 150; })) << terminal.text();
  terminal.close();
  EXPECT_EQ(terminal.wait().exit_code, 128 + SIGHUP);
  const fs::path folder = fs::directory_iterator(work_ / "results" / "sweeps")->path();
  const fs::path begun = fs::directory_iterator(folder / "points")->path();
  EXPECT_EQ(entries_in(folder / "points"), 1U);
  EXPECT_EQ(record_in(begun).at("status"), "interrupted");

  // The row's columns stand below those of the others, although its state is a longer word.
  Arguments points = command_;
  *std::find(points.begin(), points.end(), "sweep") = "points";
  const Result planned = good(Process(work_, points).wait());
  const std::vector<std::string> lines = lines_of(planned.out);
  const std::string state = "at step " + record_in(begun).at("steps").dump();
  EXPECT_GT(state.size(), 10U);
  size_t rows = 0;
  for (; lines.at(rows + 1).starts_with("00"); ++rows) {
    const std::string& line = lines[rows + 1];
    EXPECT_EQ(line.find("width=16,seed=" + std::to_string(rows)), lines[0].find("what")) << planned.out;
    EXPECT_TRUE(rows > 0 || line.find(state) == lines[0].find("state")) << planned.out;
  }
  EXPECT_EQ(rows, 3U);
}

TEST_F(SweepTerminalTest, RowsOfPointsFitTheTerminalAndAreWholeInAPipe) {
  write_experiment("wide",
                   "  product:\n    - model.width=16,32\n    - optimizer.schedule.inverse_time.anneal=1.25,2.5\n"
                   "    - optimizer.alpha=0.25,0.5\n  seeds: 1\n");
  const Arguments points = with_own({"points", "experiment=wide"});
  const Result whole = good(Process(work_, points).wait());
  EXPECT_THAT(whole.out, HasSubstr("anneal=1.25,alpha=0.25,seed=0\n"));
  EXPECT_THAT(whole.out, Not(HasSubstr("...")));
  Terminal terminal(work_, points);
  EXPECT_EQ(terminal.wait().exit_code, 0) << terminal.text();
  std::vector<std::string> rows = terminal.rows();
  EXPECT_THAT(rows[0], EndsWith("  width,anneal,alpha"));
  std::erase_if(rows, [](const std::string& row) { return !row.starts_with("00"); });
  ASSERT_EQ(rows.size(), 8U) << terminal.text();
  EXPECT_THAT(rows[0], EndsWith(" k  -       new    16,1.25,0.25"));
  EXPECT_THAT(rows[7], EndsWith(" k  -       new    32,2.5,0.5"));
}

// The names differ in the middle, where they would be cut.
TEST_F(SweepTerminalTest, RowsOfPointsDifferHoweverNarrowTheTerminal) {
  write_experiment("narrow",
                   "  product:\n    - optimizer=sign_es\n    - model.width=16,32\n    - train.tokens=8,16\n"
                   "    - optimizer.schedule.inverse_time.anneal=1.25000000000001,1.25000000000002\n"
                   "    - optimizer.alpha=0.2500000000000001,0.5\n  seeds: 2\n");
  for (const uint16_t columns : {uint16_t{40}, uint16_t{60}, uint16_t{80}, uint16_t{100}}) {
    Terminal terminal(work_, with_own({"points", "experiment=narrow"}), columns);
    EXPECT_EQ(terminal.wait().exit_code, 0) << terminal.text();
    std::set<std::string> values;
    size_t column = std::string::npos;
    for (const std::string& line : lines_of(terminal.text())) {
      if (line.starts_with("point ")) column = line.find("state") + 7;
      if (line.starts_with("00")) values.insert(line.substr(column));
      EXPECT_TRUE(columns < 80 || !line.starts_with("00") || line.size() <= columns) << line;
    }
    EXPECT_EQ(values.size(), 32U) << terminal.text();
  }
}

TEST_F(SweepTerminalTest, LsHasARowOfTheTerminalForEachPoint) {
  write_experiment("listed",
                   "  product:\n    - model.width=16,32\n    - optimizer.schedule.inverse_time.anneal=1.25,2.5\n"
                   "  seeds: 2\n");
  ASSERT_EQ(sweep("listed").exit_code, 0);
  EXPECT_THAT(eggroll({"ls"}).out, HasSubstr(" sweeps/listed/points/0007-width=32,anneal=2.5,seed=1-"));
  for (const uint16_t columns : {uint16_t{80}, uint16_t{100}}) {
    Terminal terminal(work_, command({"ls"}), columns);
    EXPECT_EQ(terminal.wait().exit_code, 0) << terminal.text();
    const std::vector<std::string> rows = terminal.rows();
    EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const std::string& row) { return !row.empty(); }), 9);
    EXPECT_THAT(rows, Contains(EndsWith(" listed/0007 32,2.5,seed 1")));
  }
}

// `eggroll point` is the command that a cluster's job runs. The cluster may send SIGHUP to any process.
TEST_F(SweepTerminalTest, APointIsSavedAtAHangUp) {
  Sweep sweep = compose_sweep(
      {{folder_ / "configs", EGGROLL_SOURCE_DIR "/configs"}},
      {"experiment=long", "train.steps=1000000", "results.sweeps=" + (work_ / "results" / "sweeps").string()});
  write_sweep(sweep);
  const fs::path plugins = freeze_plugins({{EGGROLL_BIN_DIR "/plugins", "a test"}}, sweep.folder / "plugins");
  const std::string id = write_submission(sweep, {{&sweep.points[0], std::nullopt}}, plugins);
  Process point(work_, command({"point", submission_folder(sweep, id), "0"}));
  ASSERT_TRUE(point.wait_until([&] { return lines_begun() > 5; })) << point.wait().err;
  point.signal(SIGHUP);
  const Result result = point.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGHUP) << result.err;
  EXPECT_EQ(record_in(sweep.folder_of(sweep.points[0]).path).at("status"), "interrupted");
}

}  // namespace
}  // namespace eggroll::test
