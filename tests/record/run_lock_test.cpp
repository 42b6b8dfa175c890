#include "record/run_lock.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

#include "record/scratch.h"

namespace eggroll {
namespace {

class RunLockTest : public ScratchTest {};

std::string owner(pid_t pid) {
  std::array<char, 256> host{};
  EXPECT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  return "pid " + std::to_string(pid) + " on host " + host.data();
}

TEST_F(RunLockTest, NamesItsOwnerInTheFile) {
  const RunLock lock(folder_);
  EXPECT_EQ(read_file(folder_ / "lock"), owner(::getpid()) + "\n");
}

TEST_F(RunLockTest, ASecondProcessIsRefused) {
  const RunLock lock(folder_);
  const std::string expected = folder_.string() + " is in use by " + owner(::getpid()) +
                               "; wait until it ends or stop it, then run the same command again";
  EXPECT_EQ(in_child([&] { return message_of([&] { RunLock second(folder_); }); }), expected);
}

TEST_F(RunLockTest, TheSameProcessIsRefusedTwiceAndThenFree) {
  {
    const RunLock lock(folder_);
    const std::string expected = folder_.string() + " is in use by " + owner(::getpid()) +
                                 "; wait until it ends or stop it, then run the same command again";
    EXPECT_EQ(message_of([&] { RunLock second(folder_); }), expected);
    EXPECT_EQ(message_of([&] { RunLock second(folder_); }), expected);
  }
  EXPECT_EQ(message_of([&] { RunLock again(folder_); }), "");
}

TEST_F(RunLockTest, TheLockOfADeadOwnerIsFree) {
  // The child holds the lock and ends without releasing it.
  const std::string before = in_child([&] {
    new RunLock(folder_);
    return read_file(folder_ / "lock");
  });
  EXPECT_THAT(before, ::testing::StartsWith("pid "));
  EXPECT_NE(before, owner(::getpid()) + "\n");
  const RunLock lock(folder_);
  EXPECT_EQ(read_file(folder_ / "lock"), owner(::getpid()) + "\n");
}

TEST_F(RunLockTest, AnOwnerThatHasNotYetWrittenItsNameIsAnotherProcess) {
  const RunLock lock(folder_);
  write_plainly(folder_ / "lock", "");
  EXPECT_EQ(message_of([&] { RunLock second(folder_); }),
            folder_.string() +
                " is in use by another process; wait until it ends or stop it, then run the same command "
                "again");
}

TEST_F(RunLockTest, AMissingFolderIsNamed) {
  EXPECT_EQ(message_of([&] { RunLock lock(folder_ / "none"); }),
            "cannot lock " + (folder_ / "none" / "lock").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
}

}  // namespace
}  // namespace eggroll
