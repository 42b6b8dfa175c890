// The commands' output on a terminal: progress, escapes of control characters, and the end of a command when the
// terminal closes.
#include "cli/terminal.h"

#include <fmt/format.h>

namespace eggroll::test {
namespace {

using ::testing::SizeIs;

class TerminalTest : public CliTest {
 protected:
  // Long enough for its progress to be shown several times.
  static Arguments longer_run(const Arguments& more = {}) {
    return joined(tiny_run({"train.steps=100000", "eval.every=1000", "checkpoint.every=1000"}), more);
  }

  // The rows with progress of a run that has shown it several times and is then interrupted by a key.
  std::vector<std::string> progress_rows(uint16_t columns) const {
    fs::remove_all(runs());
    Terminal terminal(work_, command(longer_run()), columns);
    EXPECT_TRUE(terminal.wait_until(
        [&] { return count_of(terminal.text(), "\rstep ") + count_of(terminal.text(), "\033[Kstep ") > 3; }));
    terminal.type("\x03");
    const Result result = terminal.wait();
    EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.out;
    std::vector<std::string> rows;
    for (const std::string& row : terminal.rows()) {
      if (row.starts_with("step ")) rows.push_back(row);
    }
    EXPECT_THAT(terminal.rows(), Contains(StartsWith("interrupted after ")));
    return rows;
  }
};

TEST_F(TerminalTest, ARunKeepsToOneLine) {
  for (const uint16_t columns : {uint16_t{60}, uint16_t{80}}) {
    const std::vector<std::string> rows = progress_rows(columns);
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_THAT(rows[0], AllOf(HasSubstr("/100000  ["), HasSubstr(" left  loss "), Not(HasSubstr("member tokens/s"))));
    if (columns == 80) {
      EXPECT_THAT(rows[0], HasSubstr("  held-out "));
    }
  }
  const std::vector<std::string> wide = progress_rows(200);
  ASSERT_THAT(wide, SizeIs(1));
  EXPECT_THAT(wide[0], HasSubstr(" member tokens/s"));
}

TEST_F(TerminalTest, ARunThatEndsEarlyEndsItsLine) {
  Terminal terminal(work_, command(longer_run({"stop.seconds=1"})));
  EXPECT_EQ(terminal.wait().exit_code, 0);
  EXPECT_THAT(terminal.rows(), Contains(StartsWith("step ")));
  EXPECT_THAT(terminal.rows(), Contains(StartsWith("held-out ")));
}

// The sentence of an error has a line of its own, too.
TEST_F(TerminalTest, ARunThatFailsEndsItsLine) {
  Terminal terminal(work_, command(longer_run()));
  ASSERT_TRUE(terminal.wait_until([&] { return terminal.text().find("step ") != std::string::npos; }));
  fs::remove_all(run_folder() / "checkpoints");
  write_plainly(run_folder() / "checkpoints", "no folder");
  EXPECT_EQ(terminal.wait().exit_code, 1);
  EXPECT_THAT(terminal.rows(), Contains(StartsWith("eggroll: ")));
}

TEST_F(TerminalTest, ARunWhoseTerminalClosesIsSaved) {
  Terminal terminal(work_, command(longer_run()));
  ASSERT_TRUE(terminal.wait_until([&] { return terminal.text().find("step ") != std::string::npos; }));
  terminal.close();
  const Result result = terminal.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGHUP);
  EXPECT_EQ(record_in(run_folder()).at("status"), "interrupted");
}

TEST_F(TerminalTest, ASampleObeysNoBytesOfTheText) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += static_cast<char>('a' + i % 7);
  write_plainly(work_ / "text", text);
  good(eggroll({"run", "experiment=plain", "dataset.path=text", "model.width=16", "train.population=32",
                "train.steps=1", "eval.tokens=512", "backend=reference", "backend.threads=1"}));
  const Arguments sample = {"sample",        run_folder(), "--count",  "50",
                            "--temperature", "3",          "--prompt", "\033[31m\xff caf\xc3\xa9\n\t"};
  EXPECT_THAT(good(eggroll(sample)).out, StartsWith("\033[31m\xff caf\xc3\xa9\n\t"));
  const Result shown = good(Terminal(work_, command(sample)).wait());
  EXPECT_THAT(shown.out, StartsWith("\\x1b[31m\\xff caf\xc3\xa9\r\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\033")));
  EXPECT_THAT(eggroll({"sample", "--help"}).out, HasSubstr("broken UTF-8"));
}

}  // namespace
}  // namespace eggroll::test
