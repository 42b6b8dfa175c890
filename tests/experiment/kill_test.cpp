// A sweep whose runners are killed at random and started again: every point ends once, with the weights of a sweep that
// nothing disturbed.
#include "experiment/sweep_command.h"

namespace eggroll::test {
namespace {

constexpr size_t kPoints = 36;

class SweepKillTest : public SweepCommandTest {
 protected:
  SweepKillTest() {
    write_experiment("many", "  seeds: 6\n  product:\n    - model.width=8,16,32\n    - train.population=32,64\n");
  }

  std::chrono::milliseconds moment() { return std::chrono::milliseconds(50 + random_() % 350); }

  // Every finished record must be as it was when it was first seen.
  void remember_finished() {
    for (const auto& [folder, bytes] : finished_records("many")) {
      const auto [place, is_new] = finished_.emplace(folder, bytes);
      EXPECT_EQ(place->second, bytes) << folder << " was written again";
    }
  }

  void expect_whole() {
    const Result last = good(sweep("many", {"--jobs", "2"}));
    EXPECT_THAT(last.out, HasSubstr("36 of 36 points done, 0 failed, 0 left"));
    remember_finished();
    EXPECT_EQ(finished_.size(), kPoints);
    for (const auto& entry : fs::directory_iterator(points("many"))) {
      // The line is missing if a kill came between the record and the last line.
      EXPECT_LE(count_of(read_file(entry.path() / "log.txt"), "weights sha256"), 1U) << entry.path();
      EXPECT_EQ(steps_in(entry.path()), each_step_once(40)) << entry.path();
    }
    EXPECT_EQ(sweep("many", {"--jobs", "2", "results.sweeps=undisturbed"}).exit_code, 0);
    EXPECT_EQ(weights("many"), weights("many", "undisturbed"));
    EXPECT_EQ(weights("many").size(), kPoints);
  }

  std::mt19937 random_{20261122};
  std::map<std::string, std::string> finished_;
};

TEST_F(SweepKillTest, TenTimesKilledEveryPointEndsOnce) {
  for (int kill = 0; kill < 10; ++kill) {
    Process runner(work_, with_own({"sweep", "experiment=many", "--jobs", "2"}));
    std::this_thread::sleep_for(moment());
    runner.signal(SIGKILL);
    runner.wait();
    remember_finished();
  }
  EXPECT_LT(finished_.size(), kPoints);
  expect_whole();
}

TEST_F(SweepKillTest, TwoRunnersAtOnceShareThePoints) {
  for (int kill = 0; kill < 10; ++kill) {
    Process first(work_, with_own({"sweep", "experiment=many"}));
    Process second(work_, with_own({"sweep", "experiment=many"}));
    std::this_thread::sleep_for(moment());
    (kill % 2 == 0 ? first : second).signal(SIGKILL);
    std::this_thread::sleep_for(moment() / 4);
    (kill % 2 == 0 ? second : first).signal(SIGKILL);
    first.wait();
    second.wait();
    remember_finished();
  }
  Process first(work_, with_own({"sweep", "experiment=many"}));
  Process second(work_, with_own({"sweep", "experiment=many"}));
  const Result one = first.wait();
  const Result two = second.wait();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  expect_whole();
}

TEST_F(SweepKillTest, TheFirstInterruptDrainsTheSecondSaves) {
  Process runner(work_, with_own({"sweep", "experiment=many", "train.steps=4000"}));
  ASSERT_TRUE(runner.wait_until([&] {
    return fs::exists(points("many")) && !fs::is_empty(points("many")) && lines_in(point("many", "0000-")) > 5;
  }));
  runner.signal_and_wait(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // in which nothing happens
  EXPECT_EQ(record_in(point("many", "0000-")).at("status"), "running");
  runner.signal(SIGINT);
  const Result stopped = runner.wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
  EXPECT_THAT(stopped.out, HasSubstr("0 of 36 points done, 0 failed, 36 left\nstopped; the same command goes on"));
  EXPECT_EQ(record_in(point("many", "0000-")).at("status"), "interrupted");
  EXPECT_EQ(std::distance(fs::directory_iterator(points("many")), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace eggroll::test
