// Help, the lists of groups and keys, and what a command line that cannot be read is answered with.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

TEST_F(CliTest, WithoutArgumentsItHelps) {
  const std::string help = said(Process(work_, {EGGROLL_BIN_DIR "/eggroll"}).wait());
  EXPECT_THAT(help, AllOf(HasSubstr("Usage: eggroll [OPTIONS] SUBCOMMAND"), HasSubstr("eggroll keys")));
  EXPECT_EQ(help, eggroll({"--help"}).out);
  EXPECT_EQ(help, eggroll({"help"}).out);
  EXPECT_THAT(eggroll({"-V"}).out, StartsWith("eggroll "));
  EXPECT_EQ(eggroll({"-V"}).out, eggroll({"--version"}).out);
}

TEST_F(CliTest, HelpDescribesACommand) {
  for (const char* command : {"run", "eval", "keys", "compare"}) {
    const Result help = good(eggroll({"help", command}));
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: eggroll ") + command + " "));
    EXPECT_EQ(help.out, eggroll({command, "--help"}).out);
  }
  refuses({"help", "rnu"}, {"unknown command 'rnu'", "did you mean 'run'?"});
}

// Usage lines have one word that no line end may part.
TEST_F(CliTest, HelpListsEachCommandAndFitsATerminalOf80Columns) {
  const std::string all = eggroll({"help"}).out;
  Arguments commands = {"help"};
  for (const std::string& line :
       lines_of(Process(work_, {EGGROLL_BIN_DIR "/eggroll", "complete", "help", ""}).wait().out)) {
    commands.push_back(line.substr(0, line.find('\t')));
  }
  EXPECT_GE(commands.size(), 20U);
  for (const std::string& command : commands) {
    EXPECT_THAT(all, HasSubstr("\n  " + command + " "));
    const std::string help = eggroll({"help", command}).out;
    EXPECT_THAT(help, HasSubstr("Usage: "));
    for (const std::string& line : lines_of(help)) EXPECT_LE(line.size(), 80U) << command << ": " << line;
  }
}

TEST_F(CliTest, AnUnknownOptionGetsASuggestion) {
  refuses({"run", "--multirn"}, {"unknown option '--multirn'", "did you mean '--multirun'?"});
  refuses({"sweep", "--job=2"}, {"unknown option '--job'", "did you mean '--jobs'?"});
  refuses({"run", "--config-dri", "x"}, {"did you mean '--config-dir'?", "eggroll run --help"});
  refuses({"--versoin"}, {"unknown option '--versoin'", "did you mean '--version'?"});
  refuses({"eval", "x", "--frobnicate"}, {"unknown option '--frobnicate' (see eggroll eval"});
}

TEST_F(CliTest, KeysListsGroupsOptionsAndKeys) {
  const std::string all = eggroll({"keys"}).out;
  for (const char* group : {"\nbackend\n", "\nexperiment\n", "\nmodel\n", "\noptimizer\n"}) {
    EXPECT_THAT(all, HasSubstr(group));
  }
  EXPECT_THAT(all, AllOf(HasSubstr("es_adagrad es_adamw es_sgd sign_es"), HasSubstr("checkpoint monitor stop")));

  const Result optimizer = good(eggroll({"keys", "optimizer"}));
  EXPECT_THAT(optimizer.out, AllOf(HasSubstr("optimizer=sign_es   (chosen)\n    A weight moves by one"),
                                   HasSubstr("optimizer=es_sgd\n    Momentum on the vote"),
                                   HasSubstr("\noptimizer.alpha=1.0\n    level of the test at the first step\n")));
  const std::string adam = eggroll({"keys", "optimizer", "optimizer=es_adamw"}).out;
  EXPECT_THAT(adam, AllOf(HasSubstr("optimizer=es_adamw   (chosen)"), HasSubstr("optimizer.beta1=")));

  EXPECT_EQ(eggroll({"keys", "train.steps", "train.steps=7"}).out, "train.steps=7\n    at least 1\n");
  EXPECT_EQ(eggroll({"keys", "stop.tokens"}).out, "stop.tokens=null\n    member tokens (at least 1)\n");
  // A comment goes on in the next lines, and is wrapped.
  EXPECT_THAT(
      eggroll({"keys", "eval.warmup"}).out,
      StartsWith("eval.warmup=0\n    tokens before its part that each stream reads and does not score, so that\n"));
  EXPECT_THAT(eggroll({"keys", "eval.warmup"}).out, HasSubstr("models without a"));
  refuses({"keys", "modl"}, {"'modl' is no group and no key", "did you mean 'model'?"});
  refuses({"keys", "train."}, {"'train.' is no group and no key"});
  refuses({"keys", "train.stepz"}, {"'train.stepz' is no group and no key", "did you mean 'train.steps'?"});
}

TEST_F(CliTest, KeysJoinsTheCommentsOfAKey) {
  fs::create_directories(work_ / "configs" / "optimizer");
  write_plainly(work_ / "configs" / "optimizer" / "mine.yaml",
                "# The heading is of the file.\n"
                "name: sign_es    # behind\n"
                "\n"
                "# not of a key\n"
                "\n"
                "# above,\n"
                "# in two lines\n"
                "alpha: 1.0       # behind,\n"
                "                 # and below\n"
                "residual: \"a # b\" # behind, in a column of its own,\n"
                "                 # and below\n"
                "# above the section\n"
                "schedule:        # behind the section\n"
                "  # above the key\n"
                "  kind: cosine\n"
                "  both: {a: 1, b: 2} # of both\n"
                "average: null    # at the end\n"
                "                 # of the file\n");
  const std::string out = eggroll({"keys", "optimizer", "optimizer=mine"}).out;
  EXPECT_THAT(out, HasSubstr("optimizer=mine   (chosen)\n    The heading is of the file.\n"));
  EXPECT_THAT(out, EndsWith("\noptimizer.name=sign_es\n    behind\n"
                            "optimizer.alpha=1.0\n    above, in two lines behind, and below\n"
                            "optimizer.residual=\"a # b\"\n    behind, in a column of its own, and below\n"
                            "optimizer.schedule\n    above the section behind the section\n"
                            "optimizer.schedule.kind=cosine\n    above the key\n"
                            "optimizer.schedule.both\n    of both\n"
                            "optimizer.schedule.both.a=1\noptimizer.schedule.both.b=2\n"
                            "optimizer.average=null\n    at the end of the file (0.5 to 0.99999)\n"));
}

}  // namespace
}  // namespace eggroll::test
