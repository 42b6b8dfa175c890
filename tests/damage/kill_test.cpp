// Runs and sweeps are killed at random moments, with standard descriptors open or closed, and started again. They end
// with the weights and files of an undisturbed one. EGGROLL_KILLS and EGGROLL_DAMAGE_SEED choose the campaign.
#include <cstdio>
#include <map>
#include <mutex>

#include "damage/campaign.h"
#include "damage/specimens.h"

namespace eggroll::test {
namespace {

constexpr uint64_t kCombinations = 8;  // stdin, stdout and stderr, each open or closed
constexpr uint64_t kMostKills = 4;     // for one run or sweep

std::string redirections(uint64_t combination) {
  constexpr std::array<const char*, 3> kClosed = {" <&-", " >&-", " 2>&-"};
  std::string all;
  for (size_t i = 0; i < kClosed.size(); ++i) all += (combination >> i & 1) != 0 ? kClosed[i] : "";
  return all;
}

struct Subject {
  std::string name;
  Arguments arguments;
  Specimen undisturbed;
  double seconds = 0;  // how long the undisturbed one took
};

class KillTest : public Damage {
 protected:
  KillTest() {
    for (const auto& [name, arguments] :
         {std::pair{"gru", gru()}, std::pair{"former", transformer()}, std::pair{"sweep", small_sweep()}}) {
      const auto begin = std::chrono::steady_clock::now();
      Specimen undisturbed = make(name, arguments, 0);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      subjects_.push_back({name, arguments, std::move(undisturbed), took.count()});
    }
  }

  // Starts the subject in the folder, or goes on with it.
  Arguments line_of(const Subject& subject, const fs::path& folder, uint64_t combination, TrialDraws& draws) const {
    const fs::path run = folder / subject.undisturbed.target;
    const bool resumes = !subject.undisturbed.is_sweep && fs::exists(run / "record.json") && draws.below(2) == 0;
    const Arguments words = with_own(resumes ? Arguments{"resume", subject.undisturbed.target} : subject.arguments);
    return joined({"/bin/bash", "-c", "exec \"$@\"" + redirections(combination), "bash"}, words);
  }

  // The combination with the fewest kills so far.
  uint64_t next_combination() {
    const std::lock_guard lock(mutex_);
    return static_cast<uint64_t>(std::min_element(combinations_.begin(), combinations_.end()) - combinations_.begin());
  }

  void try_one(uint64_t trial) {
    TrialDraws draws(seed_, trial);
    const Subject& subject = subjects_[trial % subjects_.size()];
    const fs::path folder = work_ / "trials" / std::to_string(trial);
    fs::create_directories(folder);
    std::string story = subject.name;
    // The moments are drawn so that, on average, the kills divide the subject's time into equal parts.
    const uint64_t kills = 1 + draws.below(kMostKills);
    const double longest = subject.seconds * 2.0 / static_cast<double>(kills + 1);
    for (uint64_t kill = 0; kill < kills; ++kill) {
      const uint64_t combination = next_combination();
      const double moment = draws.share() * longest;
      Process process(folder, line_of(subject, folder, combination, draws));
      std::this_thread::sleep_for(std::chrono::duration<double>(moment));
      process.signal(SIGKILL);
      const Result result = process.wait();
      story += ", after " + std::to_string(moment) + " s" + redirections(combination);
      const std::lock_guard lock(mutex_);
      if (result.signal != SIGKILL) {
        ++late_;
        EXPECT_EQ(result.exit_code, 0) << story << "\n" << result.err;
        break;  // it has finished before the kill
      }
      ++made_;
      ++kills_[subject.name];
      ++combinations_[combination];
    }
    const Result last = Process(folder, line_of(subject, folder, draws.below(kCombinations), draws)).wait();
    const std::lock_guard lock(mutex_);
    SCOPED_TRACE("trial " + std::to_string(trial) + " of seed " + std::to_string(seed_) + ": " + story);
    EXPECT_EQ(last.signal, 0);
    EXPECT_EQ(last.exit_code, 0) << last.err;
    expect_undisturbed(subject.undisturbed, folder);
    fs::remove_all(folder);
  }

  const uint64_t seed_ = setting("EGGROLL_DAMAGE_SEED", 1);
  std::vector<Subject> subjects_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, uint64_t> kills_;
  std::array<uint64_t, kCombinations> combinations_{};  // number of kills
  uint64_t late_ = 0;                                   // number of kills after the end
  std::atomic<uint64_t> made_ = 0;
};

TEST_F(KillTest, WhatWasKilledEndsAsIfItWasNot) {
  const uint64_t wanted = setting("EGGROLL_KILLS", 16);
  for_each_trial(10 * wanted, [&](uint64_t trial) {
    if (made_ < wanted) try_one(trial);
  });
  for (const auto& [name, count] : kills_) std::printf("%s: %d kills\n", name.c_str(), static_cast<int>(count));
  std::printf("%d tries came too late; kills by what was closed:\n", static_cast<int>(late_));
  for (uint64_t i = 0; i < kCombinations; ++i) {
    std::printf("%6d %s\n", static_cast<int>(combinations_[i]), i == 0 ? " nothing" : redirections(i).c_str());
  }
  EXPECT_GE(made_, wanted) << "the moments are too late to kill anything";
  if (wanted >= 2 * kCombinations) {
    EXPECT_THAT(combinations_, testing::Each(testing::Ge(1U)));
  }
}

}  // namespace
}  // namespace eggroll::test
