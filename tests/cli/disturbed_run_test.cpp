// A run is disturbed from outside, while it goes on or between its processes: its data change, another process ends it,
// bits of its files flip.
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

  Arguments arguments(uint64_t steps = 60, uint64_t checkpoint_every = 5) const {
    return {"run",
            "experiment=plain",
            "dataset.path=text",
            "model.width=8",
            "train.population=16",
            "train.members_per_stream=8",
            "train.tokens=8",
            "train.steps=" + std::to_string(steps),
            "checkpoint.every=" + std::to_string(checkpoint_every),
            "eval.every=20",
            "eval.tokens=256",
            "backend=reference",
            "backend.threads=1"};
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
    const fs::path run = run_folder();
    Process process(work_, command({"resume", run.string()}));
    const size_t before = lines_in(run);
    EXPECT_TRUE(process.wait_until([&] { return lines_in(run) > before + 5; }));
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGINT);
    EXPECT_EQ(eggroll({"replay", run.string()}).exit_code, 0);
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
  {
    Process begun(work_, command(arguments(1'000'000)));
    ASSERT_TRUE(begun.wait_until([&] { return lines_in(run_folder()) > 7; }));
    begun.signal(SIGINT);
    ASSERT_EQ(begun.wait().exit_code, 128 + SIGINT);
  }
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
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
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
  Arguments late = {"/usr/bin/strace",
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
  const Arguments run = command(tiny_run());
  late.insert(late.end(), run.begin(), run.end());
  Process waiting(work_, late);
  ASSERT_TRUE(waiting.wait_until([&] { return fs::exists(lock); }));
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string record = read_file(run_folder() / "record.json");
  const Result result = waiting.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("this run is finished already"));
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

// Bits that flip in the files of a run are refused by name, or change nothing.
TEST_F(DisturbedRunTest, AFlippedBitInAnyFileIsRefusedOrHarmless) {
  const std::string digest = undisturbed(tiny_run({"train.steps=120"}));
  {
    Process process(work_, command(tiny_run({"train.steps=120"})));
    ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 25; }));
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGINT);
  }
  const fs::path run = run_folder();
  const fs::path kept = folder_ / "kept";
  fs::copy(run, kept, fs::copy_options::recursive);
  for (const char* name : {"config.yaml", "record.json", "metrics.jsonl", "lock"}) {
    const std::string whole = read_file(run / name);
    for (int i = 1; i <= 6; ++i) {
      std::string flipped = whole;
      const size_t at = whole.size() * static_cast<size_t>(i) / 7;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      write_plainly(run / name, flipped);
      const Result result = eggroll({"resume", run.string()});
      if (result.exit_code == 0) {
        // A lock's bytes say nothing, and the last digit of a long number may be another of the same number.
        const bool is_lock = name == std::string("lock");
        EXPECT_TRUE(is_lock || nlohmann::json::parse(flipped) == nlohmann::json::parse(whole)) << name;
        expect_completed(run, digest);
      } else {
        expect_one_sentence(result, {name});
      }
      fs::remove_all(run);
      fs::copy(kept, run, fs::copy_options::recursive);
    }
  }
}

}  // namespace
}  // namespace eggroll::test
