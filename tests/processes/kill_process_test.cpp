// A process that is killed ends the whole job soon, with its number; the next job goes on from the last checkpoint.
#include <random>

#include "processes/shared_run.h"

namespace eggroll::test {
namespace {

class KillProcessTest : public SharedRunTest {};

TEST_F(KillProcessTest, TenTimesKilledTheRunEndsWithTheSameWeights) {
  const Arguments run = gru({"train.steps=200"});
  const std::string digest = undisturbed(run);
  std::mt19937 random(20261122);
  for (int kill = 0; kill < 10; ++kill) {
    const int processes = 2 + kill % 3;
    const size_t victim = random() % static_cast<size_t>(processes);
    const size_t lines = random() % 30 + 1;
    const size_t before = lines_in(run_folder());
    Process process(work_, shared(processes, run));
    ASSERT_TRUE(process.wait_until([&] {
      if (run_folder().empty() || !fs::exists(run_folder() / "record.json")) return false;
      const size_t now = lines_in(run_folder());
      return now < before || now >= before + lines || (before == 0 && now >= lines);
    })) << process.wait().err;
    const pid_t pid = pids_of(process, processes)[victim];
    ASSERT_GT(pid, 0);
    ::kill(pid, SIGKILL);
    const Result result = process.wait();
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.out + result.err, HasSubstr("rank " + std::to_string(victim)));
  }
  good(run_shared(2, run));
  expect_completed(run_folder(), digest);
}

}  // namespace
}  // namespace eggroll::test
