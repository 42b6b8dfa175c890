// Runs, sweeps and searches lose power at random moments and are started again. What they saved is still there, and
// each ends with the weights and files of an undisturbed one. EGGROLL_POWER_CUTS and EGGROLL_DAMAGE_SEED choose the
// campaign; EGGROLL_DAMAGE_KEEP is a folder for what the failed cuts left.
#include <cstdio>
#include <map>
#include <mutex>

#include "damage/campaign.h"
#include "damage/disk.h"
#include "damage/specimens.h"

#ifdef EGGROLL_RECORD_CALLS

namespace eggroll::test {
namespace {

constexpr uint64_t kSecondCuts = 3;  // one trial in this number loses power again when it goes on

// The changes that a command made to the files of its folder.
struct Recorded {
  Disk before;
  std::vector<RecordedCall> calls;
};

struct RecordedSubject {
  Arguments arguments;
  Specimen undisturbed;
  Recorded recorded;
};

class PowerCutTest : public Damage {
 protected:
  PowerCutTest() {
    // Drawing a curve takes longer than such a run, and nobody needs one again.
    fs::create_directories(folder_ / "bin");
    fs::create_symlink("/bin/true", folder_ / "bin" / "gnuplot");
    add("gru", joined(gru(), {"model.context_tables=[{tokens: 2, rows: 64}]", "optimizer.average=0.9",
                              "checkpoint.keep=3", "checkpoint.every=5", "train.steps=60"}));
    const Arguments shortened = {"train.steps=30", "checkpoint.every=10"};
    add("sweep", joined(small_sweep(), shortened));
    add("search", joined(small_search(), shortened));
  }

  void add(const std::string& name, const Arguments& arguments) {
    const fs::path folder = work_ / name;
    fs::create_directories(folder);
    Result result;
    Recorded recorded = record(folder, arguments, folder_ / (name + ".calls"), result);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    Disk after = recorded.before;
    for (const RecordedCall& call : recorded.calls) after.apply(call);
    EXPECT_THAT(after.differences(folder), testing::IsEmpty());
    const bool is_sweep = arguments.front() == "sweep";
    const fs::path home = folder / "results" / (is_sweep ? "sweeps" : "runs");
    Specimen undisturbed{name, folder, fs::relative(fs::directory_iterator(home)->path(), folder), {}, is_sweep,
                         true, {}};
    subjects_.push_back({arguments, std::move(undisturbed), std::move(recorded)});
  }

  Arguments line_of(const Arguments& arguments, const Arguments& environment) const {
    return joined(
        joined({"/usr/bin/env", "PATH=" + (folder_ / "bin").string() + ":" + std::getenv("PATH")}, environment),
        with_own(arguments));
  }

  Recorded record(const fs::path& folder, const Arguments& arguments, const fs::path& recording, Result& result) const {
    Disk before(folder);
    const Arguments environment = {"LD_PRELOAD=" EGGROLL_RECORD_CALLS,
                                   std::string(kRecordedFolder) + "=" + fs::canonical(folder).string(),
                                   std::string(kRecording) + "=" + recording.string()};
    result = Process(folder, line_of(arguments, environment)).wait();
    Recorded recorded{std::move(before), read_recording(recording)};
    fs::remove(recording);
    return recorded;
  }

  // Makes a new folder with the files that a cut of this recording leaves.
  void cut(const RecordedSubject& subject, const Recorded& recorded, const fs::path& folder, TrialDraws& draws,
           std::string& story) {
    const size_t moment = draws.below(recorded.calls.size() + 1);
    Disk disk = recorded.before;
    for (size_t i = 0; i < moment; ++i) disk.apply(recorded.calls[i]);
    story += ", call " + std::to_string(moment) + " of " + std::to_string(recorded.calls.size()) + ": " +
             disk.cut(draws, folder);
    std::vector<std::string> losses = disk.losses(folder);
    const bool says_end = !subject.undisturbed.is_sweep && disk.said().find("weights sha256 ") != std::string::npos;
    const fs::path record = folder / subject.undisturbed.target / "record.json";
    if (says_end && (!fs::exists(record) || record_in(record.parent_path()).at("status") != "completed")) {
      losses.emplace_back("the run said that it has ended");
    }
    const std::lock_guard lock(mutex_);
    ++cuts_;
    EXPECT_THAT(losses, testing::IsEmpty()) << story;
  }

  void try_one(uint64_t trial) {
    TrialDraws draws(seed_, trial);
    const RecordedSubject& subject = subjects_[trial % subjects_.size()];
    const fs::path folder = work_ / "trials" / std::to_string(trial);
    fs::path here = folder / "first";
    std::string story =
        "trial " + std::to_string(trial) + " of seed " + std::to_string(seed_) + ": " + subject.undisturbed.name;
    cut(subject, subject.recorded, here, draws, story);
    if (draws.below(kSecondCuts) == 0) {
      Result first;
      const Recorded again = record(here, subject.arguments, folder / "calls", first);
      expect_good(first, story);
      here = folder / "second";
      cut(subject, again, here, draws, story);
    }
    const char* keep = std::getenv("EGGROLL_DAMAGE_KEEP");
    const fs::path kept =
        fs::path(keep != nullptr ? keep : "") / ("cut-" + std::to_string(seed_) + "-" + std::to_string(trial));
    if (keep != nullptr) {
      fs::remove_all(kept);
      fs::create_directories(kept);
      fs::copy(here, kept, fs::copy_options::recursive);
    }
    const Result result = Process(here, line_of(subject.arguments, {})).wait();
    expect_good(result, story);
    const std::lock_guard lock(mutex_);
    SCOPED_TRACE(story);
    const int before = failures();
    forget_dropped(subject.undisturbed, here);
    expect_undisturbed(subject.undisturbed, here);
    const fs::path log = subject.undisturbed.target / "search.jsonl";
    EXPECT_EQ(bytes_of(here / log), bytes_of(subject.undisturbed.folder / log));
    if (keep != nullptr && result.exit_code == 0 && failures() == before) fs::remove_all(kept);
    fs::remove_all(folder);
  }

  // A search drops the checkpoints of a trial once, when the trial stays behind, and some may stay for ever.
  static void forget_dropped(const Specimen& undisturbed, const fs::path& folder) {
    for (const fs::path& whole : runs_below(undisturbed.folder)) {
      const fs::path run = folder / whole.lexically_relative(undisturbed.folder);
      if (newest_weights(whole).empty()) fs::remove_all(run / "checkpoints");
    }
  }

  static int failures() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

  // It goes on, and its messages are eggroll's own.
  void expect_good(const Result& result, const std::string& story) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(result.signal, 0) << story;
    EXPECT_EQ(result.exit_code, 0) << story << "\n" << result.err;
    EXPECT_EQ(foreign_words(result.err + result.out), "") << story << "\n" << result.err;
    EXPECT_TRUE(result.err.empty() || result.err.starts_with("eggroll: ")) << story << "\n" << result.err;
  }

  const uint64_t seed_ = setting("EGGROLL_DAMAGE_SEED", 1);
  std::vector<RecordedSubject> subjects_;
  std::mutex mutex_;  // guards the result of the test, and the member below
  uint64_t cuts_ = 0;
};

TEST_F(PowerCutTest, WhatWasSavedOutlivesIt) {
  for_each_trial(setting("EGGROLL_POWER_CUTS", 12), [this](uint64_t trial) { try_one(trial); });
  std::printf("%d cuts of", static_cast<int>(cuts_));
  for (const RecordedSubject& subject : subjects_) {
    std::printf(" %s (%d calls)", subject.undisturbed.name.c_str(), static_cast<int>(subject.recorded.calls.size()));
  }
  std::printf("\n");
}

}  // namespace
}  // namespace eggroll::test

#else

TEST(PowerCutTest, WhatWasSavedOutlivesIt) {
  GTEST_SKIP() << "a sanitizer's library has to be loaded before the one that records calls";
}

#endif
