// The surroundings of a command: descriptors that its caller closed, output that cannot be written, limits of the
// system, and files that are links, FIFOs or devices. No command ends by a signal, hangs, or changes a file that is not
// its own.
#include <sys/stat.h>

#include "cli/eggroll_command.h"
#include "record/seal.h"

namespace eggroll::test {
namespace {

using ::testing::AnyOf;

class SurroundingsTest : public CliTest {
 protected:
  // Runs the command in a shell, with these redirections, after the shell command `before`.
  Result by_shell(const Arguments& arguments, const std::string& redirections, const std::string& before = "") const {
    return Process(work_, in_shell(arguments, redirections, before)).wait();
  }

  // Does this as another user, so that no other processes count against the limit and file modes apply.
  Result by_another_user(const Arguments& arguments, const std::string& before = "") const {
    const std::string user = std::to_string(50'000 + ::getpid() % 10'000);
    return Process(work_, joined({"/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"},
                                 in_shell(arguments, "", before)))
        .wait();
  }

  // Returns why the test cannot run as another user, or "". In the latter case it lets that user write where the test
  // works.
  std::string no_other_user() const {
    if (::getuid() != 0) return "another user can be had by root alone";
    fs::permissions(folder_, fs::perms::all);
    fs::permissions(work_, fs::perms::all);
    const Result probe = by_another_user({"--version"});
    return probe.exit_code == 0 ? "" : "another user cannot run the command here: " + probe.err;
  }

  Arguments in_shell(const Arguments& arguments, const std::string& redirections, const std::string& before) const {
    return joined({"/bin/bash", "-c", before + " exec \"$@\" " + redirections, "bash"}, command(arguments));
  }

  // A folder of a run of tiny_run() that has not begun, for files to be put there.
  fs::path empty_run_folder() const {
    EXPECT_EQ(eggroll(tiny_run()).exit_code, 0);
    const fs::path folder = run_folder();
    fs::remove_all(folder);
    fs::create_directory(folder);
    return folder;
  }
};

TEST_F(SurroundingsTest, StandardDescriptorsThatTheCallerClosed) {
  const std::string digest = undisturbed(tiny_run());
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    SCOPED_TRACE(closed);
    const Result result = by_shell(tiny_run(), closed);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(result.exit_code, 0);
    expect_completed(run_folder(), digest);
    EXPECT_THAT(read_file(run_folder() / "lock"), StartsWith("released by pid "));
    EXPECT_THAT(good(eggroll({"replay", run_folder().string()})).out, HasSubstr("equal to the checkpoint"));
    fs::remove_all(runs());
  }
}

// The output fails as in `eggroll run > log` on a full disk. The run itself is not lost.
TEST_F(SurroundingsTest, OutputThatCannotBeWritten) {
  for (const char* errors : {"2>&-", "2>/dev/full"}) {
    const Result refused = by_shell({"run", "nonsense=1"}, errors);
    EXPECT_EQ(refused.signal, 0) << errors;
    EXPECT_EQ(refused.exit_code, 1) << errors;
  }
  const Result full = by_shell(tiny_run(), ">/dev/full");
  expect_one_sentence(full, {"the output could not be written", "free space there or send it elsewhere"});
  expect_completed(run_folder(), undisturbed(tiny_run()));
  const Result limited = by_shell(tiny_run({"seed=1"}), "2>errors", "ulimit -f 0;");
  EXPECT_EQ(limited.signal, 0);
  EXPECT_EQ(limited.exit_code, 1);
}

// A daemon may start the command with SIGCHLD ignored: children would be gone before the command waits for them.
TEST_F(SurroundingsTest, AParentThatIgnoresTheEndOfChildren) {
  const Arguments run = tiny_run({"eval.hook=[/bin/echo,\"{}\"]", "eval.hook_seconds=20"});
  const Result result = by_shell(run, "", "trap '' CHLD;");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// The reader goes away, as in `eggroll run | head -1`: a run goes on, and a command that only prints ends.
TEST_F(SurroundingsTest, APipeThatNobodyReads) {
  const std::string digest = undisturbed(tiny_run());
  const auto unread = [&](const Arguments& arguments) {
    const Result result = by_shell(arguments, ">&4 2>errors", "rm -f pipe; mkfifo pipe; exec 3<>pipe 4>pipe 3<&-;");
    EXPECT_EQ(read_file(work_ / "errors"), "");
    return result;
  };
  const auto expect_done = [](const Result& result) {
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(result.exit_code, 0);
  };
  expect_done(unread(tiny_run()));
  expect_completed(run_folder(), digest);
  expect_done(unread({"resume", run_folder().string()}));
  expect_done(unread({"fork", run_folder().string() + "@30", "train.steps=50", "results.dir=forks"}));
  fs::remove_all(runs());
  expect_done(by_shell(tiny_run(), "> >(head -1 > first) 2>errors", ""));
  expect_completed(run_folder(), digest);
  expect_done(unread(tiny_run({"--multirun", "seed=1,2"})));
  EXPECT_EQ(entries_in(runs()), 3U);
  for (const auto& run : fs::directory_iterator(runs())) EXPECT_EQ(record_in(run).at("status"), "completed");
  expect_done(unread(tiny_sweep()));
  const Result listed = eggroll({"ls", "results/sweeps", "status=completed"});
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 1 + 4) << listed.out;

  EXPECT_EQ(unread({"ls"}).signal, SIGPIPE);
  EXPECT_EQ(unread({"keys"}).signal, SIGPIPE);
}

TEST_F(SurroundingsTest, ThreadsThatCannotBeHad) {
  if (const std::string reason = no_other_user(); !reason.empty()) GTEST_SKIP() << reason;
  const auto with = [&](int processes, const Arguments& more) {
    // AddressSanitizer would look for leaks in a process of its own, which the limit refuses.
    return by_another_user(tiny_run(more),
                           "export ASAN_OPTIONS=detect_leaks=0; ulimit -u " + std::to_string(processes) + ";");
  };
  // The process of the command itself counts against the limit too.
  expect_one_sentence(with(5, {"backend.threads=8"}), {"backend.threads asks for 8 threads and the system gives 5",
                                                       "set backend.threads=5", "ulimit -u"});
  for (const int processes : {1, 2, 3, 8}) {
    const Result result = with(processes, {"backend.threads=8", "seed=" + std::to_string(processes)});
    EXPECT_EQ(result.signal, 0) << processes;
    if (result.exit_code != 0) expect_one_sentence(result, {"ulimit -u"});
  }
  EXPECT_EQ(with(8, {"backend.threads=8", "seed=10"}).exit_code, 0);
  // gnuplot would be the third process.
  const Result undrawn = good(with(2, {"backend.threads=2", "seed=11"}));
  EXPECT_THAT(undrawn.err, HasSubstr("raise the limit on processes (ulimit -u) or wait until others end"));
}

// Memory limits from one at which the loader fails to one at which a run ends. Each refusal names what is short.
TEST_F(SurroundingsTest, MemoryThatCannotBeHad) {
  const auto with = [&](int kilobytes, const Arguments& arguments) {
    return by_shell(arguments, "", "ulimit -v " + std::to_string(kilobytes) + ";");
  };
  if (with(1'000'000, {"--version"}).exit_code != 0) GTEST_SKIP() << "a sanitizer takes more than can be limited";
  size_t refused = 0;
  int kilobytes = 12'000;
  for (; kilobytes <= 120'000; kilobytes += 4'000) {
    SCOPED_TRACE(kilobytes);
    // Below this limit the loader of shared libraries fails, before any code of eggroll runs.
    if (with(kilobytes, {"--version"}).exit_code != 0) continue;
    const Result result = with(kilobytes, tiny_run({"backend.threads=2"}));
    if (result.exit_code == 0) break;
    ++refused;
    expect_one_sentence(result, {"memory"});
    EXPECT_THAT(result.err, AnyOf(HasSubstr("ulimit -v"), HasSubstr("use a smaller population or model")));
  }
  EXPECT_LE(kilobytes, 120'000);
  EXPECT_GE(refused, 1U);
}

// The sentence names the cause and does not say that nothing was found.
TEST_F(SurroundingsTest, FoldersThatMayNotBeRead) {
  if (const std::string reason = no_other_user(); !reason.empty()) GTEST_SKIP() << reason;
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const fs::path run = run_folder();
  fs::permissions(run, fs::perms::none);
  const std::string cure = ": Permission denied; give this user access to it or choose another folder";
  for (const Arguments& arguments : {tiny_run(), Arguments{"resume", run.string()}, Arguments{"replay", run.string()},
                                     Arguments{"sample", run.string()}}) {
    expect_one_sentence(by_another_user(arguments), {fs::relative(run, work_).string() + "/", cure});
  }
  fs::create_directory(work_ / "configs");
  fs::permissions(work_ / "configs", fs::perms::none);
  const Arguments here = {"/usr/bin/setpriv",         "--reuid=65534", "--regid=65534", "--clear-groups",
                          EGGROLL_BIN_DIR "/eggroll", "config"};
  expect_one_sentence(Process(work_, here).wait(), {"cannot read configs/config.yaml" + cure});
}

TEST_F(SurroundingsTest, NamesThatCannotBe) {
  refuses(tiny_run({"results.dir=" + std::string(300, 'x')}), {"File name too long; give a shorter"});
  refuses(tiny_run({"plugins.path=[\"\"]"}), {"plugins.path holds an empty name, expected folders"});
}

TEST_F(SurroundingsTest, ARunFollowsNoLinkAndWaitsForNoFifo) {
  const fs::path folder = empty_run_folder();
  write_plainly(work_ / "precious", "precious");
  for (const char* name : {"lock", "metrics.jsonl", "journal.bin"}) {
    SCOPED_TRACE(name);
    fs::create_symlink(work_ / "precious", folder / name);
    eggroll(tiny_run());
    EXPECT_EQ(read_file(work_ / "precious"), "precious");
    fs::remove_all(folder);
    fs::create_directory(folder);
    ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
    refuses(tiny_run(), {name});
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  fs::create_symlink(work_ / "precious", folder / "lock");
  refuses(tiny_run(), {"/lock: it is a link", "put the file itself there"});
  fs::remove(folder / "lock");
  fs::create_directory(work_ / "elsewhere");
  fs::create_symlink(work_ / "elsewhere", folder / "checkpoints");
  EXPECT_THAT(eggroll(tiny_run()).err, HasSubstr("/checkpoints is a link, and links among results are not followed"));
  EXPECT_TRUE(fs::is_empty(work_ / "elsewhere"));
}

TEST_F(SurroundingsTest, OptionsThatAreFifosOrDevices) {
  fs::create_directories(work_ / "more" / "model");
  ASSERT_EQ(::mkfifo((work_ / "more/model/fifo.yaml").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", work_ / "more/model/endless.yaml");
  refuses({"--config-dir", "more", "config", "model=fifo"}, {"fifo.yaml: it is a FIFO"});
  refuses({"--config-dir", "more", "config", "model=endless"}, {"endless.yaml: it is a device"});
  fs::create_symlink("circle.yaml", work_ / "more/model/circle.yaml");
  refuses({"--config-dir", "more", "config", "model=gruu"}, {"did you mean 'gru'"});
}

TEST_F(SurroundingsTest, WhatAReportDoesNotOpenIsNamed) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  ASSERT_EQ(eggroll(tiny_run({"results.dir=results/other"})).exit_code, 0);
  const fs::path results = work_ / "results";
  fs::create_symlink("circle", results / "circle");
  fs::create_symlink("nowhere", results / "dead");
  fs::create_directory(work_ / "real");
  fs::create_symlink("../real", results / "linked");
  fs::create_symlink("/etc/passwd", results / "passwords.json");
  ASSERT_EQ(::mkfifo((results / "fifo.json").c_str(), 0600), 0);
  const fs::path run = run_folder();
  // A report opens the metrics only if the record has no summary.
  nlohmann::json record = record_in(run);
  record.erase("summary");
  write_plainly(run / "record.json", sealed(record).dump());
  fs::remove(run / "metrics.jsonl");
  ASSERT_EQ(::mkfifo((run / "metrics.jsonl").c_str(), 0600), 0);
  for (const Arguments& arguments :
       {Arguments{"report", "results", "--out", "out"}, Arguments{"export", "results", "--csv", "all.csv"}}) {
    const Result result = good(eggroll(arguments));
    for (const char* problem :
         {"results/circle is a link that leads nowhere", "results/dead is a link that leads nowhere",
          "results/linked is a link, and links among results are not followed", "results/passwords.json is a link",
          "results/fifo.json is no regular file", "metrics.jsonl: it is a FIFO"}) {
      EXPECT_THAT(result.err, HasSubstr(problem));
    }
  }
  // A record may name a file anywhere.
  record["files"]["metrics"] = "/dev/zero";
  write_plainly(run / "record.json", sealed(record).dump());
  EXPECT_THAT(eggroll({"report", "results", "--out", "out"}).err, HasSubstr("/zero is missing"));
}

// A command that runs as root could replace /dev/null by a file.
TEST_F(SurroundingsTest, WhatIsNoFileIsNotReplaced) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  ASSERT_EQ(::mkfifo((work_ / "fifo").c_str(), 0600), 0);
  refuses({"export", "results", "--csv", "fifo"}, {"cannot write fifo: it is a FIFO, expected a regular file"});
  EXPECT_TRUE(fs::is_fifo(work_ / "fifo"));
  fs::create_directory(work_ / "folder");
  refuses({"export", "results", "--csv", "folder"}, {"cannot write folder: Is a directory"});
}

TEST_F(SurroundingsTest, ARunWithoutItsCheckpointsSaysThatItDoesItsStepsAgain) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const fs::path run = run_folder();
  const std::string weights = record_in(run).at("weights_sha256");
  fs::remove_all(run / "checkpoints");
  fs::remove(run / "record.json");
  const Result result = good(eggroll({"resume", run.string()}));
  EXPECT_THAT(result.err, HasSubstr("has a journal and no checkpoint; its steps are done again\n"));
  EXPECT_EQ(record_in(run).at("weights_sha256"), weights);
}

}  // namespace
}  // namespace eggroll::test
