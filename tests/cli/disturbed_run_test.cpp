// A run is disturbed from outside, while it goes on or between its processes: its data change, its folder goes, another
// process ends it.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

class DisturbedRunTest : public CliTest {
 protected:
  DisturbedRunTest() {
    // Each sentence is another, so that nothing is said about a held-out part that stands in the training part.
    for (uint64_t day = 1; text_.size() < 100'000; ++day) {
      text_ += "On day " + std::to_string(day) + " it was " + std::to_string(day * day % 97) +
               " degrees, and the clock struck " + std::to_string(day * 7919 % 1009) + ". ";
    }
    write_plainly(data_, text_);
  }

  static Arguments arguments(uint64_t steps = 60, uint64_t checkpoint_every = 5) {
    return text_run_with({"train.tokens=8", "train.steps=" + std::to_string(steps),
                          "checkpoint.every=" + std::to_string(checkpoint_every), "eval.every=20", "eval.tokens=256"});
  }

  // Starts a run that would take hours, calls change() when it has made some steps, and waits for its end.
  Result disturbed(const std::function<void()>& change) const {
    Process process(work_, command(arguments(1'000'000)));
    EXPECT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 7; }));
    change();
    return process.wait();
  }

  void expect_goes_on() const {
    write_plainly(data_, text_);
    EXPECT_EQ(stopped({"resume", run_name()}, 5).exit_code, 128 + SIGINT);
    good(eggroll({"replay", run_name()}));
  }

  const fs::path data_ = work_ / "text";
  std::string text_;
};

TEST_F(DisturbedRunTest, WrittenInPlaceItEndsTheRun) {
  const Result result = disturbed([&] {
    std::fstream file(data_, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(1000, 'x');
  });
  expect_one_sentence(result, {"text' was changed while it was in use", "restore it from a copy", "newest checkpoint"});
  EXPECT_EQ(record_in(run_folder()).at("status"), "failed");
  expect_goes_on();
}

// A read beyond the new end of a mapped file gets SIGBUS, and nothing is written after it. The run's second process
// makes no checkpoint, because a checkpoint might see the change first.
TEST_F(DisturbedRunTest, CutShortItEndsTheProcessAndTheRecordStaysRunning) {
  ASSERT_EQ(stopped(arguments(1'000'000), 7).exit_code, 128 + SIGINT);
  const size_t before = lines_in(run_folder());
  Process process(work_, command(arguments(1'000'000, 1'000'000)));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > before + 2; }));
  fs::resize_file(data_, 10);
  expect_one_sentence(process.wait(),
                      {"text' was changed while it was in use", "restore it from a copy", "newest checkpoint"});
  EXPECT_EQ(record_in(run_folder()).at("status"), "running");
  expect_goes_on();
}

// The next checkpoint sees the change. The change comes long before it, while no checkpoint is being written.
TEST_F(DisturbedRunTest, ARemovedFolderEndsTheRun) {
  Process process(work_, command(arguments(1'000'000, 400)));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 2; }));
  const fs::path run = run_folder();
  process.signal(SIGSTOP);
  fs::remove_all(run);
  process.signal(SIGCONT);
  expect_one_sentence(process.wait(), {fs::relative(run, work_).string(), " was removed while it was being written",
                                       "delete its folder to start over"});
  EXPECT_FALSE(fs::exists(run));
}

// The run reads the same bytes after the file's mode changes and after another file takes its name.
TEST_F(DisturbedRunTest, WhatLeavesTheBytesDoesNotEndTheRun) {
  const std::string digest = undisturbed(arguments());
  Process process(work_, command(arguments()));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 7; }));
  fs::permissions(data_, fs::perms::owner_read);
  write_plainly(work_ / "other", "another text");
  fs::rename(work_ / "other", data_);
  good(process.wait());
  expect_completed(run_folder(), digest);
}

// A process that waits for the lock while another ends the run finds it done, and changes nothing.
TEST_F(DisturbedRunTest, ARunThatEndedMeanwhileStaysAsItIs) {
  if (std::system("strace -V > /dev/null 2>&1") != 0) GTEST_SKIP() << "strace is not installed";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string lock = run_folder() / "lock";
  fs::remove_all(run_folder());
  // The one that waits has to wait longer than the other runs.
  const auto microseconds = static_cast<uint64_t>(1e6 * std::max(8.0, 20.0 * took.count()));
  const Arguments late = {"/usr/bin/strace",
                          "-f",
                          "-o",
                          "/dev/null",
                          "-E",
                          "ASAN_OPTIONS=detect_leaks=0",  // it cannot look for them in what is traced
                          "-P",
                          lock,
                          "-e",
                          "trace=fcntl",
                          "-e",
                          "inject=fcntl:delay_enter=" + std::to_string(microseconds)};
  Process waiting(work_, joined(late, command(tiny_run())));
  ASSERT_TRUE(waiting.wait_until([&] { return fs::exists(lock); }));
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string record = read_file(run_folder() / "record.json");
  EXPECT_THAT(good(waiting.wait()).out, HasSubstr("this run is finished already"));
  EXPECT_EQ(read_file(run_folder() / "record.json"), record);
}

// A completed run that is killed while it removes its last old checkpoint keeps no half of it.
TEST_F(DisturbedRunTest, LeftoversOfACompletedRunGo) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const fs::path leftover = run_folder() / "checkpoints" / ".tmp-step-00000010";
  fs::create_directory(leftover);
  write_plainly(leftover / "model.safetensors", "half");
  EXPECT_EQ(eggroll(tiny_run()).exit_code, 0);
  EXPECT_FALSE(fs::exists(leftover));
}

// A dataset that changed under an unfinished run would lead to other weights without a word.
TEST_F(DisturbedRunTest, DataThatChangedAreRefused) {
  EXPECT_EQ(stopped(arguments(1'000'000), 12).exit_code, 128 + SIGINT);
  const std::string record = read_file(run_folder() / "record.json");
  std::string text = text_;
  std::swap(text[0], text[1]);
  write_plainly(data_, text);
  for (const Arguments& again : {arguments(1'000'000), Arguments{"resume", run_name()}}) {
    refuses(again, {"the data have changed since the run in " + run_name() + " began", "restore them",
                    "or remove the folder to begin anew"});
    EXPECT_EQ(read_file(run_folder() / "record.json"), record);
  }
}

}  // namespace
}  // namespace eggroll::test
