// eggroll run --monitor: what it prints, and which parts in colour.
#include "cli/terminal.h"

namespace eggroll::test {
namespace {

class MonitorCommand : public CliTest {
 protected:
  // Lines that begin a table.
  static std::vector<std::string> tables(const std::string& text) {
    std::vector<std::string> steps;
    for (size_t at = 0; (at = text.find("monitor, step ", at)) != std::string::npos; ++at) {
      steps.push_back(text.substr(at + 14, text.find_first_of("\r\n", at) - at - 14));
    }
    return steps;
  }

  static nlohmann::json look_of_last_line(const fs::path& run) {
    return nlohmann::json::parse(lines_of(read_file(run / "metrics.jsonl")).back()).at("monitor");
  }

  // The command's output on a terminal of its own; the command must succeed. no_color: the variable NO_COLOR; null: not
  // set.
  std::string on_terminal(const char* no_color, const Arguments& arguments) const {
    Arguments words = {"/usr/bin/env", "-u", "NO_COLOR"};
    if (no_color != nullptr) words.push_back(std::string("NO_COLOR=") + no_color);
    return good(Terminal(work_, joined(words, command(arguments))).wait()).out;
  }
};

TEST_F(MonitorCommand, ShowsALookAtEveryEvaluation) {
  const Result result = good(eggroll(tiny_run({"--monitor"})));
  EXPECT_EQ(tables(result.out), (std::vector<std::string>{"10", "20", "30", "40"}));
  EXPECT_THAT(result.out, HasSubstr("\nmonitor, step 10\n"));
  EXPECT_THAT(result.out, HasSubstr("\nlayer0 "));
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
  const nlohmann::json record = record_in(run_folder());
  EXPECT_EQ(record.at("monitor").at("step"), 40);
  EXPECT_EQ(record.at("monitor").at("verdicts"), look_of_last_line(run_folder()).at("verdicts"));
  EXPECT_EQ(record.at("config").at("monitor").at("every"), 10);
  EXPECT_EQ(record.at("weights_sha256"), undisturbed(tiny_run()));
  const std::string script = EGGROLL_SOURCE_DIR "/tests/record/validate_record.py";
  const Result valid =
      Process(work_, {"/usr/bin/env", "python3", script, (run_folder() / "record.json").string()}).wait();
  if (valid.exit_code == 2 || valid.exit_code == 127) GTEST_SKIP() << "python3 with jsonschema is not here";
  EXPECT_EQ(valid.exit_code, 0) << valid.err;
}

TEST_F(MonitorCommand, ShowsAsOftenAsTheConfigurationSays) {
  const Result shown = eggroll(tiny_run({"--monitor", "monitor.every=25"}));
  EXPECT_EQ(tables(shown.out), (std::vector<std::string>{"25", "40"}));
  // Without --monitor the run makes its looks but prints none.
  const Result quiet = eggroll(tiny_run({"monitor.every=25", "seed=1", "results.dir=quiet"}));
  EXPECT_EQ(tables(quiet.out), std::vector<std::string>{});
  EXPECT_TRUE(look_of_last_line(fs::directory_iterator(work_ / "quiet")->path()).is_object());
}

TEST_F(MonitorCommand, ResumeShowsItToo) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const fs::path run = run_folder();
  EXPECT_FALSE(record_in(run).contains("monitor"));
  fs::remove(run / "record.json");
  fs::remove_all(run / "checkpoints" / "step-00000040");
  const Result result = good(eggroll({"resume", run.string(), "--monitor"}));
  EXPECT_EQ(tables(result.out), std::vector<std::string>{"40"});
  EXPECT_EQ(record_in(run).at("monitor").at("step"), 40);
}

// The progress line gives way to the table and follows below it.
TEST_F(MonitorCommand, InColourOnATerminal) {
  const Arguments arguments = tiny_run({"--monitor", "model.gain=127", "model.init_std=64", "train.steps=10"});
  const std::string coloured = on_terminal(nullptr, arguments);
  EXPECT_THAT(coloured, HasSubstr("\r\033[Kmonitor, step 10\r\n"));
  EXPECT_THAT(coloured, HasSubstr("\033[31m! "));
  EXPECT_THAT(coloured, HasSubstr("\r\033[Kstep 10/10  [########]  0s left  loss "));
  fs::remove_all(runs());
  const std::string plain = on_terminal("1", arguments);
  EXPECT_THAT(plain, HasSubstr("\r\n! "));
  EXPECT_THAT(plain, Not(HasSubstr("\033[31m")));
  fs::remove_all(runs());
  // NO_COLOR counts only if it is not empty: no-color.org
  EXPECT_THAT(on_terminal("", arguments), HasSubstr("\033[31m"));
}

TEST_F(MonitorCommand, RefusesWhatItCannotDo) {
  refuses(tiny_run({"monitor.every=-1"}), {"monitor.every is -1, expected an integer of at least 0"});
  refuses(tiny_run({"+monitor.evry=5"}), {"unknown key 'monitor.evry'"});
}

}  // namespace
}  // namespace eggroll::test
