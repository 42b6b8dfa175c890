#include "record/run_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "record/lock_owner.h"
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
  EXPECT_THAT(read_file(folder_ / "lock"), ::testing::StartsWith(owner(::getpid()) + ", crc "));
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
  EXPECT_THAT(before, ::testing::Not(::testing::StartsWith(owner(::getpid()) + ",")));
  const RunLock lock(folder_);
  EXPECT_THAT(read_file(folder_ / "lock"), ::testing::StartsWith(owner(::getpid()) + ", crc "));
}

// A program that the owner was starting has the owner's files until it begins.
TEST_F(RunLockTest, TheLockOfADeadOwnerIsWaitedForWhileItsChildHasIt) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    new RunLock(folder_);
    if (::fork() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(RunLock::is_taken(folder_));
  EXPECT_EQ(message_of([&] { RunLock lock(folder_); }), "");
}

TEST_F(RunLockTest, ALineThatIsNotWholeKeepsNobodyOut) {
  write_plainly(folder_ / "metrics.jsonl", "");
  const std::string whole = "pid 7 on host elsewhere, crc fe65893b\n";
  write_plainly(folder_ / "lock", whole);
  ASSERT_TRUE(RunLock::is_taken(folder_));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write_plainly(folder_ / "lock", flipped);
    EXPECT_FALSE(RunLock::is_taken(folder_)) << flipped;
    write_plainly(folder_ / "lock", whole.substr(0, bit / 8));
    EXPECT_FALSE(RunLock::is_taken(folder_)) << whole.substr(0, bit / 8);
  }
}

TEST_F(RunLockTest, AnOwnerThatHasNotYetWrittenItsNameIsAnotherProcess) {
  const RunLock lock(folder_);
  write_plainly(folder_ / "lock", "");
  EXPECT_EQ(message_of([&] { RunLock second(folder_); }),
            folder_.string() +
                " is in use by another process; wait until it ends or stop it, then run the same command "
                "again");
}

TEST_F(RunLockTest, SaysWhetherItIsTakenAndTakesNothing) {
  EXPECT_FALSE(RunLock::is_taken(folder_ / "none"));
  EXPECT_FALSE(RunLock::is_taken(folder_));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "lock"));
  {
    const RunLock lock(folder_);
    EXPECT_TRUE(RunLock::is_taken(folder_));
    EXPECT_EQ(in_child([&] { return std::string(RunLock::is_taken(folder_) ? "taken" : "free"); }), "taken");
    EXPECT_THAT(read_file(folder_ / "lock"), ::testing::StartsWith(owner(::getpid()) + ", crc "));
  }
  EXPECT_FALSE(RunLock::is_taken(folder_));
  std::filesystem::remove(folder_ / "lock");
  std::filesystem::create_symlink("elsewhere", folder_ / "lock");
  EXPECT_TRUE(RunLock::is_taken(folder_)) << "nobody knows";
}

// Machines may share a folder without seeing each other's locks.
TEST_F(RunLockTest, AnotherMachineHoldsItForAsLongAsItWrites) {
  write_plainly(folder_ / "lock", "pid 7 on host elsewhere, crc fe65893b\n");
  EXPECT_FALSE(RunLock::is_taken(folder_));
  write_plainly(folder_ / "metrics.jsonl", "");
  EXPECT_TRUE(RunLock::is_taken(folder_));
  std::filesystem::last_write_time(folder_ / "metrics.jsonl",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(6));
  EXPECT_FALSE(RunLock::is_taken(folder_));
  // A clock that is ahead does not hold a run for ever.
  std::filesystem::last_write_time(folder_ / "metrics.jsonl",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::minutes(6));
  EXPECT_FALSE(RunLock::is_taken(folder_));
  // One of this machine has died, whatever it wrote before.
  LockOwner dead = LockOwner::this_process();
  dead.text = owner(7);
  ASSERT_TRUE(write_owner(Descriptor(::open((folder_ / "lock").c_str(), O_RDWR | O_TRUNC)).get(), dead));
  write_plainly(folder_ / "metrics.jsonl", "");
  EXPECT_FALSE(RunLock::is_taken(folder_));
}

TEST_F(RunLockTest, WhatAnotherMachineHoldsIsNotTaken) {
  const std::string owner_far_away = "pid 7 on host elsewhere, crc fe65893b\n";
  write_plainly(folder_ / "lock", owner_far_away);
  write_plainly(folder_ / "metrics.jsonl", "");
  EXPECT_EQ(message_of([&] { RunLock lock(folder_); }),
            folder_.string() +
                " is in use by pid 7 on host elsewhere; wait until it ends or stop it, then run the same "
                "command again (if it was killed: when metrics.jsonl is 300 s old)");
  EXPECT_EQ(read_file(folder_ / "lock"), owner_far_away);
  std::filesystem::last_write_time(folder_ / "metrics.jsonl",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(6));
  EXPECT_EQ(message_of([&] { RunLock lock(folder_); }), "");
  // It has given the lock back, or its copy has lost it.
  write_plainly(folder_ / "metrics.jsonl", "");
  for (const std::string& text : {std::string("released by pid 7 on host elsewhere, crc 9bbee786\n"), std::string(),
                                  std::string("pid 7 on host elsewhere\n")}) {
    write_plainly(folder_ / "lock", text);
    EXPECT_FALSE(RunLock::is_taken(folder_));
    EXPECT_EQ(message_of([&] { RunLock lock(folder_); }), "");
  }
}

TEST_F(RunLockTest, TheFileSaysThatItWasHeld) {
  EXPECT_FALSE(RunLock::was_held(folder_));
  {
    const RunLock lock(folder_);
    EXPECT_TRUE(RunLock::was_held(folder_));
  }
  EXPECT_THAT(read_file(folder_ / "lock"), ::testing::StartsWith("released by " + owner(::getpid()) + ", crc "));
  EXPECT_TRUE(RunLock::was_held(folder_));
  for (const char* other : {"", "pip", "{}", "released"}) {
    write_plainly(folder_ / "lock", other);
    EXPECT_FALSE(RunLock::was_held(folder_)) << other;
  }
}

// As eggroll rm does: whoever waits with the old file in its hand must not believe that it holds the run.
TEST_F(RunLockTest, AFolderThatIsRenamedTakesItsLockAlong) {
  const std::filesystem::path run = folder_ / "run";
  std::filesystem::create_directory(run);
  const RunLock lock(run);
  std::filesystem::rename(run, folder_ / "removed");
  std::filesystem::create_directory(run);
  EXPECT_EQ(message_of([&] { RunLock newcomer(run); }), "");
  EXPECT_THAT(message_of([&] { RunLock again(folder_ / "removed"); }), ::testing::HasSubstr("is in use by"));
}

TEST_F(RunLockTest, AMissingFolderIsNamed) {
  EXPECT_EQ(message_of([&] { RunLock lock(folder_ / "none"); }),
            "cannot lock " + (folder_ / "none" / "lock").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
}

}  // namespace
}  // namespace eggroll
