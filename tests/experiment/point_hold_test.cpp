#include "experiment/point_hold.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "record/run_lock.h"
#include "record/scratch.h"

namespace eggroll::test {
namespace {

class PointHoldTest : public ScratchTest {};

TEST_F(PointHoldTest, HasOneOwner) {
  EXPECT_FALSE(PointHold::is_taken(folder_));
  {
    const std::optional<PointHold> first = PointHold::take(folder_);
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(PointHold::is_taken(folder_));
    EXPECT_FALSE(PointHold::take(folder_).has_value());
  }
  EXPECT_FALSE(PointHold::is_taken(folder_));
  EXPECT_TRUE(PointHold::take(folder_).has_value());
}

TEST_F(PointHoldTest, OfADeadRunnerIsFree) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<PointHold> hold = PointHold::take(folder_);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_NE(read_file(folder_ / "held"), "");
  EXPECT_TRUE(PointHold::take(folder_).has_value());
}

// Another machine shares the folder but not its locks.
TEST_F(PointHoldTest, OfAnotherMachineHoldsWhileItBeats) {
  write_plainly(folder_ / "held", "pid 17 on host far-away, crc afe51bd8\n");
  EXPECT_TRUE(PointHold::is_taken(folder_));
  EXPECT_FALSE(PointHold::take(folder_).has_value());
  const timespec long_ago[2] = {{::time(nullptr) - 2 * PointHold::kStaleSeconds, 0},
                                {::time(nullptr) - 2 * PointHold::kStaleSeconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "held").c_str(), long_ago, 0), 0);
  const std::optional<PointHold> hold = PointHold::take(folder_);
  ASSERT_TRUE(hold.has_value());
  struct stat before {};
  ASSERT_EQ(::stat((folder_ / "held").c_str(), &before), 0);
  EXPECT_GE(before.st_mtim.tv_sec, ::time(nullptr) - 5);
}

TEST_F(PointHoldTest, WhatAPowerCutLeavesIsNobodys) {
  for (const std::string& left :
       {std::string(9, '\0'), std::string("pid 17 on host far-aw"), std::string("pid 17 on host far-\0\0\0\0\n", 24)}) {
    write_plainly(folder_ / "held", left);
    EXPECT_FALSE(PointHold::is_taken(folder_)) << left;
    EXPECT_TRUE(PointHold::take(folder_).has_value()) << left;
  }
}

TEST_F(PointHoldTest, BeatsRenewItsTime) {
  const std::optional<PointHold> hold = PointHold::take(folder_);
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "held").c_str(), long_ago, 0), 0);
  hold->beat();
  struct stat after {};
  ASSERT_EQ(::stat((folder_ / "held").c_str(), &after), 0);
  EXPECT_GE(after.st_mtim.tv_sec, ::time(nullptr) - 5);
}

// Its runner has died, and the run goes on.
TEST_F(PointHoldTest, ARunAtWorkHoldsItsPoint) {
  { const auto hold = PointHold::take(folder_); }
  {
    const RunLock lock(folder_);
    EXPECT_TRUE(PointHold::is_taken(folder_));
  }
  EXPECT_FALSE(PointHold::is_taken(folder_));
}

}  // namespace
}  // namespace eggroll::test
