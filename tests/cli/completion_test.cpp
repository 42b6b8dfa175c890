// Completion in real shells, and the manual page through man.
#include <algorithm>

#include "cli/terminal.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompletionTest : public CliTest {
 protected:
  CompletionTest() {
    // As a shell sees it: a command on the path, in a folder with configurations.
    fs::create_directory(work_ / "bin");
    fs::create_symlink(EGGROLL_BIN_DIR "/eggroll", work_ / "bin" / "eggroll");
    for (const char* folder : {"configs", "experiments"}) {
      fs::create_directory_symlink(fs::path(EGGROLL_SOURCE_DIR) / folder, work_ / folder);
    }
  }

  // What the words, the last of which is to be completed, may become.
  std::vector<std::string> completed(const Arguments& words) const {
    return candidates(said(Process(work_, joined({(work_ / "bin" / "eggroll").string(), "complete"}, words)).wait()));
  }
  // Without what is said of each behind a tab.
  static std::vector<std::string> candidates(const std::string& text) {
    std::vector<std::string> found = lines_of(text);
    for (std::string& line : found) line.resize(std::min(line.find('\t'), line.size()));
    return found;
  }

  // In a shell's environment of its own.
  Arguments in_home(const Arguments& words) const {
    return joined({"/usr/bin/env", "PATH=" + (work_ / "bin").string() + ":/usr/bin:/bin", "HOME=" + work_.string()},
                  words);
  }
  // What a shell's own script prints.
  std::string shell(const std::string& name, const Arguments& options, const std::string& script) const {
    return good(Process(work_, in_home(joined(joined({name}, options), {"-c", script}))).wait()).out;
  }
  static bool is_installed(const std::string& program) { return fs::exists("/usr/bin/" + program); }
};

TEST_F(CompletionTest, OffersCommandsOptionsGroupsAndKeys) {
  EXPECT_THAT(completed({"re"}), ElementsAre("replay", "report", "resume"));
  EXPECT_THAT(completed({"help", "ev"}), ElementsAre("eval"));
  EXPECT_THAT(completed({"--ver"}), ElementsAre("--version"));
  EXPECT_THAT(completed({"sweep", "--j"}), ElementsAre("--jobs"));
  EXPECT_THAT(completed({"points", "--j"}), ElementsAre("--json"));
  EXPECT_THAT(completed({"run", "mod"}), ElementsAre("model.", "model="));
  EXPECT_THAT(completed({"run", "model=g"}), ElementsAre("model=gru", "model=gru_tables"));
  EXPECT_THAT(completed({"run", "seed=1", "train.st"}), ElementsAre("train.steps="));
  EXPECT_THAT(completed({"run", "optimizer=es_adamw", "optimizer.beta"}),
              ElementsAre("optimizer.beta1=", "optimizer.beta2="));
  EXPECT_THAT(completed({"run", "optimizer.schedule.p"}), ElementsAre("optimizer.schedule.plateau."));
  EXPECT_THAT(completed({"run", "experiment=tables"}), ElementsAre("experiment=tables", "experiment=tables_gpu"));
  EXPECT_THAT(completed({"run", "+train.st"}), ElementsAre("+train.steps="));
  EXPECT_THAT(completed({"run", "++optimizer.schedule.p"}), ElementsAre("++optimizer.schedule.plateau."));
  EXPECT_THAT(completed({"sweep", "~mod"}), ElementsAre("~model.", "~model="));
  EXPECT_THAT(completed({"run", "+with=zero"}), ElementsAre("+with=zero_head"));
  EXPECT_THAT(completed({"keys", "mon"}), ElementsAre("monitor"));
  EXPECT_THAT(completed({"eval", "x", "--weights", ""}), ElementsAre("average", "weights"));
  EXPECT_THAT(completed({"eval", "x", "--checkpoint", "b"}), ElementsAre("best"));
  EXPECT_THAT(completed({"ls", "status=f"}), ElementsAre("status=failed"));
  EXPECT_THAT(completed({"new", "m"}), ElementsAre("model"));
  EXPECT_THAT(completed({"fork", "x", "train.st"}), ElementsAre("train.steps="));
  // The command takes no more words.
  EXPECT_THAT(completed({"help", "run", ""}), IsEmpty());
  EXPECT_THAT(completed({"--config-dir", EGGROLL_SOURCE_DIR "/configs", "run", "noise=c"}),
              ElementsAre("noise=counter"));
  // Files are the shell's.
  EXPECT_THAT(completed({"eval", "x", "--data", ""}), IsEmpty());
  EXPECT_THAT(completed({"frobnicate", ""}), IsEmpty());
  EXPECT_THAT(completed({"run", "a=b=c", "model.width=3"}), IsEmpty());
  EXPECT_THAT(completed({""}), AllOf(Contains("run"), Contains("ls"), Contains("completion")));
}

TEST_F(CompletionTest, OffersRuns) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  EXPECT_THAT(completed({"eval", "count-"}), ElementsAre(run_folder().filename().string()));
  EXPECT_THAT(completed({"eval", "other"}), IsEmpty());
  const std::string run = run_folder().filename().string();
  EXPECT_THAT(completed({"fork", run + "@"}), AllOf(Contains(run + "@last"), Contains(run + "@best"),
                                                    Contains(testing::MatchesRegex(run + "@[1-9][0-9]*"))));
  fs::create_directories(work_ / "results" / "sweeps" / "count-grid");
  write_plainly(work_ / "results" / "sweeps" / "count-grid" / "points.jsonl", "");
  EXPECT_THAT(completed({"report", "count-"}), ElementsAre(run_folder().filename().string(), "count-grid"));
  EXPECT_THAT(completed({"compare", "x", "count-g"}), ElementsAre("count-grid"));
}

// A shell that completes must not see an error.
TEST_F(CompletionTest, IsSilentWhereThereIsNoConfiguration) {
  fs::remove(work_ / "configs");
  said(Process(work_ / "bin", {(work_ / "bin" / "eggroll").string(), "complete", "run", "mod"}).wait());
}

TEST_F(CompletionTest, Bash) {
  const auto in_bash = [&](const std::string& line) {
    return lines_of(
        shell("bash", {"--norc"},
              "source <(eggroll completion bash); complete -p eggroll > /dev/null || exit 1; COMP_LINE='" + line +
                  "'; COMP_POINT=${#COMP_LINE}; _eggroll 2> /dev/null; printf '%s\\n' \"${COMPREPLY[@]}\""));
  };
  EXPECT_THAT(in_bash("eggroll re"), ElementsAre("replay", "report", "resume"));
  // readline replaces what is behind the last '='.
  EXPECT_THAT(in_bash("eggroll run model=g"), ElementsAre("gru", "gru_tables"));
  EXPECT_THAT(in_bash("eggroll run seed=1 train.st"), ElementsAre("train.steps="));
  EXPECT_THAT(in_bash("eggroll help "), AllOf(Contains("run"), Contains("eval")));
}

// A folder of results may be somebody else's, and its names anything.
TEST_F(CompletionTest, BashRunsNoNameOfAFolder) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const fs::path run = run_folder();
  const std::vector<std::string> names = {"aa$(touch PWN)", "ab`touch PWN`", "ac;touch PWN;", "ad>PWN", "ae 'b'"};
  for (const std::string& name : names) fs::copy(run, runs() / name, fs::copy_options::recursive);
  fs::copy(run, runs() / "af\ntouch PWN", fs::copy_options::recursive);
  EXPECT_THAT(completed({"tag", "af"}), IsEmpty()) << "a line cannot hold it";
  Terminal terminal(work_, in_home({"TERM=dumb", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i"}));
  const auto shows = [&](const std::string& text, size_t times = 1) {
    return terminal.wait_until([&] { return count_of(terminal.text(), text) >= times; });
  };
  ASSERT_TRUE(shows("ready> "));
  terminal.type("source <(eggroll completion bash); echo sour''ced\n");
  ASSERT_TRUE(shows("sourced"));
  for (size_t i = 0; i < names.size(); ++i) {
    terminal.type("eggroll tag " + names[i].substr(0, 2) + "\t");
    ASSERT_TRUE(shows(names[i].substr(0, 2) + "\\")) << terminal.text();
    terminal.type(" tag-" + std::to_string(i) + " && echo ta''gged\n");
    ASSERT_TRUE(shows("\ntagged", i + 1)) << terminal.text();
  }
  terminal.type("exit\n");
  terminal.wait();
  EXPECT_FALSE(fs::exists(work_ / "PWN")) << terminal.text();
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_THAT(read_file(runs() / names[i] / "labels.json"), HasSubstr("tag-" + std::to_string(i))) << names[i];
  }
}

TEST_F(CompletionTest, Zsh) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  // What the line editor would be given: the completion system itself needs a terminal.
  const auto in_zsh = [&](const std::string& words, int current) {
    return lines_of(shell("zsh", {"-f"},
                          "compdef() { defined=$*; }\n"
                          "compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- \"$@\"; }\n"
                          "_files() { print files; }; compset() { print cut; }; eval \"$(eggroll completion zsh)\"\n"
                          "[[ $defined == '_eggroll eggroll' ]] || exit 1\nwords=(" +
                              words + "); CURRENT=" + std::to_string(current) + "; _eggroll"));
  };
  EXPECT_THAT(in_zsh("eggroll re", 2), ElementsAre("replay", "report", "resume"));
  EXPECT_THAT(in_zsh("eggroll run mod", 3), ElementsAre("model.", "model="));
  EXPECT_THAT(in_zsh("eggroll run model=g", 3), ElementsAre("model=gru", "model=gru_tables"));
  EXPECT_THAT(in_zsh("eggroll eval x --data ''", 5), ElementsAre("cut", "files"));
}

TEST_F(CompletionTest, Fish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto in_fish = [&](const std::string& line) {
    return candidates(shell("fish", {"--no-config"}, "eggroll completion fish | source; complete -C '" + line + "'"));
  };
  EXPECT_THAT(in_fish("eggroll re"), ElementsAre("replay", "report", "resume"));
  EXPECT_THAT(in_fish("eggroll run model=g"), ElementsAre("model=gru", "model=gru_tables"));
  EXPECT_THAT(in_fish("eggroll eval x --data ex"), Contains(StartsWith("experiments")));
  EXPECT_THAT(in_fish("eggroll run dataset.path=ex"), Contains(StartsWith("dataset.path=experiments")));
}

TEST_F(CompletionTest, RefusesAnotherShell) {
  refuses({"completion", "tcsh"}, {"unknown shell 'tcsh'", "expected bash, zsh or fish"});
}

TEST_F(CompletionTest, TheManualPageIsOneForMan) {
  if (!is_installed("man")) GTEST_SKIP() << "man is not installed";
  write_plainly(work_ / "eggroll.1", good(eggroll({"man"})).out);
  const std::string shown =
      said(Process(work_, {"/usr/bin/env", "MANWIDTH=80", "LC_ALL=C.UTF-8", "MAN_KEEP_FORMATTING=", "man", "--warnings",
                           "-P", "cat", "-l", "eggroll.1"})
               .wait());
  EXPECT_THAT(shown, AllOf(HasSubstr("EGGROLL(1)"), HasSubstr("eggroll sample"), HasSubstr("--top-k"),
                           HasSubstr("--json"), HasSubstr("Continue an interrupted run"), Not(HasSubstr("\\-"))));
}

}  // namespace
}  // namespace eggroll::test
