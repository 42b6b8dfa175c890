#include "train/kept_checkpoints.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <set>

#include "record/checkpoint_samples.h"

namespace eggroll {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class KeptCheckpointsTest : public CheckpointTest {};

TEST_F(KeptCheckpointsTest, KeepsTheNewestAndFindsTheLatest) {
  EXPECT_EQ(latest_checkpoint(folder_), std::nullopt);
  for (const uint64_t step : {5U, 90U, 100U, 123456789U}) save_checkpoint(folder_, sample(step), 3);
  EXPECT_EQ(names(), "step-00000090 step-00000100 step-123456789");
  EXPECT_EQ(latest_checkpoint(folder_), checkpoints() / "step-123456789");
  save_checkpoint(folder_, sample(7), 1);  // the one just saved stays, whatever its step
  EXPECT_EQ(names(), "step-00000007");
  EXPECT_EQ(message_of([&] { save_checkpoint(folder_, sample(8), 0); }),
            "checkpoints to keep are 0, expected at least 1; correct the setting");
}

TEST_F(KeptCheckpointsTest, KeepsThatOfTheBestEvaluationBesideTheNewest) {
  EXPECT_FALSE(best_checkpoint(folder_).has_value());
  std::vector<egg_evaluation> evaluations = {{0, 10, 4}, {1, 90, 100}};  // of 4 tokens: more bits each
  const auto save = [&](uint64_t step, int64_t loss) {
    evaluations.push_back({step, loss, 100});
    Checkpoint checkpoint = sample(step);
    checkpoint.evaluations = evaluations;
    save_checkpoint(folder_, checkpoint, 2);
  };
  save(10, 70);
  save(20, 60);
  save(30, 60);
  EXPECT_EQ(names(), "step-00000020 step-00000030");
  save(40, 65);
  save(50, 61);
  EXPECT_EQ(names(), "step-00000020 step-00000040 step-00000050");
  const auto best = best_checkpoint(folder_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->folder, checkpoints() / "step-00000020");
  EXPECT_EQ(best->step, 20U);
  EXPECT_EQ(best->best_step, 20U);
  evaluations.push_back({55, 50, 100});  // no checkpoint was saved after it
  save(60, 59);
  EXPECT_EQ(names(), "step-00000050 step-00000060");
  EXPECT_EQ(best_checkpoint(folder_)->step, 60U);
  EXPECT_EQ(best_checkpoint(folder_)->best_step, 55U);
  write_plainly(checkpoints() / "step-00000060" / "checkpoint.json", "{}");
  EXPECT_THAT(message_of([&] { best_checkpoint(folder_); }), HasSubstr("checkpoint.json"));
}

TEST_F(KeptCheckpointsTest, HasNoBestWhereNoneWasEvaluated) {
  Checkpoint checkpoint = sample(3);
  checkpoint.evaluations = {{0, 5, 10}, {3, 5, 0}};
  save_checkpoint(folder_, checkpoint, 2);
  EXPECT_FALSE(best_checkpoint(folder_).has_value());
}

TEST_F(KeptCheckpointsTest, WhatAKillLeavesIsNeverTakenForACheckpoint) {
  save_checkpoint(folder_, sample(10), 3);
  // Leftovers of a kill during a save, and during the removal of an old checkpoint.
  std::filesystem::copy(checkpoints() / "step-00000010", checkpoints() / ".tmp-20");
  std::filesystem::copy(checkpoints() / "step-00000010", checkpoints() / ".tmp-step-00000005");
  std::filesystem::create_directory(checkpoints() / "step-00000099");
  std::filesystem::create_directory(checkpoints() / "step-x");
  EXPECT_EQ(latest_checkpoint(folder_), checkpoints() / "step-00000010");
  save_checkpoint(folder_, sample(20), 3);
  EXPECT_EQ(names(), "step-00000010 step-00000020 step-00000099 step-x");
  expect_equal(load_checkpoint(checkpoints() / "step-00000020"), sample(20));
}

TEST_F(KeptCheckpointsTest, AKillAtAnyInstantLeavesTheCheckpointBeforeOrTheOneAfter) {
  uint64_t last = 0;
  for (unsigned milliseconds = 1; milliseconds < 40; milliseconds += 3) {
    save_checkpoint(folder_, sample(++last), 2);
    const pid_t child = ::fork();
    if (child == 0) {
      for (uint64_t step = last + 1;; ++step) save_checkpoint(folder_, sample(step), 2);
    }
    ::usleep(milliseconds * 1000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto latest = latest_checkpoint(folder_);
    ASSERT_TRUE(latest.has_value());
    const Checkpoint loaded = load_checkpoint(*latest);
    EXPECT_GE(loaded.step, last);
    expect_equal(loaded, sample(loaded.step));
    last = loaded.step;
  }
}

TEST_F(KeptCheckpointsTest, SavingAStepAgainKeepsAGoodOneAndReplacesADamagedOne) {
  const auto path = save_checkpoint(folder_, sample(10), 3);
  Checkpoint later = sample(10);
  later.counters["seconds"] = 99.0;
  save_checkpoint(folder_, later, 3);
  EXPECT_EQ(load_checkpoint(path).counters["seconds"], 1.5);
  write_plainly(path / "states.safetensors", "damaged");
  save_checkpoint(folder_, later, 3);
  expect_equal(load_checkpoint(path), later);
  std::filesystem::remove(path / "checkpoint.json");
  save_checkpoint(folder_, sample(10), 3);
  expect_equal(load_checkpoint(path), sample(10));
  EXPECT_EQ(names(), "step-00000010");
}

TEST_F(KeptCheckpointsTest, AFullDiskLosesNothing) {
  save_checkpoint(folder_, sample(10), 1);
  std::set<std::string> failed;
  for (rlim_t size = 0; failed.count("") == 0; size += 100) {  // each file in turn is the first one that does not fit
    const std::string text = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{size, size};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
      return message_of([&] { save_checkpoint(folder_, sample(20), 1); });
    });
    if (text.empty()) {
      failed.insert("");
      continue;
    }
    const std::string head = "cannot write " + (checkpoints() / ".tmp-20").string() + "/";
    const std::string tail =
        ": File too large; raise the file size limit (ulimit -f) or choose a disk that takes larger files, then run "
        "the "
        "same command again";
    ASSERT_THAT(text, AllOf(StartsWith(head), EndsWith(tail)));
    failed.insert(text.substr(head.size(), text.size() - head.size() - tail.size()));
    EXPECT_EQ(names(), "step-00000010");
    expect_equal(load_checkpoint(checkpoints() / "step-00000010"), sample(10));
  }
  EXPECT_THAT(failed, ::testing::IsSupersetOf({"model.safetensors", "checkpoint.json", ""}));
  EXPECT_EQ(names(), "step-00000020");
}

TEST_F(KeptCheckpointsTest, ATensorThatCannotBeReadLeavesTheCheckpointBefore) {
  save_checkpoint(folder_, sample(10), 1);
  const auto message_with = [&](const std::function<std::string_view()>& read) {
    CheckpointTensors tensors;
    tensors.weights = {{{"good", TensorType::kI8, {1, 1}}, [] { return std::string_view("a"); }},
                       {{"w", TensorType::kI8, {1, 2}}, read}};
    tensors.states = {{"states", TensorType::kI8, {0, 0}}, [] { return std::string_view(); }};
    return message_of([&] { save_checkpoint(folder_, sample(20), tensors, 1); });
  };
  EXPECT_EQ(message_with([]() -> std::string_view { throw Error("the device is lost; restart it"); }),
            "the device is lost; restart it");
  EXPECT_EQ(message_with([] { return std::string_view("a"); }),
            "tensor 'w' has 1 bytes, expected 2 from its shape; report this as a bug");
  EXPECT_EQ(names(), "step-00000010");
  EXPECT_EQ(message_with([] { return std::string_view("ab"); }), "");
  EXPECT_EQ(names(), "step-00000020");
}

TEST_F(KeptCheckpointsTest, WhatCannotBeRemovedIsAWarning) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  const std::string text = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return std::string("no other user");
    std::string warnings;
    const auto warn = [&](const std::string& warning) { warnings += warning + "\n"; };
    save_checkpoint(folder_, sample(10), 1, warn);
    std::filesystem::permissions(checkpoints() / "step-00000010", std::filesystem::perms::owner_read);
    save_checkpoint(folder_, sample(20), 1, warn);
    const bool is_kept = has_leftovers(folder_);
    std::filesystem::permissions(checkpoints() / ".tmp-step-00000010", std::filesystem::perms::owner_all);
    remove_leftovers(folder_, warn);
    return warnings + (is_kept && !has_leftovers(folder_) ? "kept, then removed" : "");
  });
  EXPECT_THAT(text, StartsWith("an old checkpoint stays: cannot remove "));
  EXPECT_THAT(text, EndsWith("\nkept, then removed"));
  EXPECT_EQ(names(), "step-00000020");
}

}  // namespace
}  // namespace eggroll
