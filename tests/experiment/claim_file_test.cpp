#include "experiment/claim_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "record/scratch.h"

namespace eggroll::test {
namespace {

class ClaimFileTest : public ScratchTest {};

TEST_F(ClaimFileTest, HasOneOwner) {
  EXPECT_FALSE(ClaimFile::is_taken(folder_));
  {
    const std::optional<ClaimFile> first = ClaimFile::take(folder_);
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(ClaimFile::is_taken(folder_));
    EXPECT_FALSE(ClaimFile::take(folder_).has_value());
  }
  EXPECT_FALSE(ClaimFile::is_taken(folder_));
  EXPECT_TRUE(ClaimFile::take(folder_).has_value());
}

TEST_F(ClaimFileTest, OfADeadRunnerIsFree) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<ClaimFile> claim = ClaimFile::take(folder_);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_NE(read_file(folder_ / "claim"), "");
  EXPECT_TRUE(ClaimFile::take(folder_).has_value());
}

// Another machine shares the folder but not its locks.
TEST_F(ClaimFileTest, OfAnotherMachineHoldsWhileItBeats) {
  write_plainly(folder_ / "claim", "far-away 17\n");
  EXPECT_TRUE(ClaimFile::is_taken(folder_));
  EXPECT_FALSE(ClaimFile::take(folder_).has_value());
  const timespec long_ago[2] = {{::time(nullptr) - 2 * ClaimFile::kStaleSeconds, 0},
                                {::time(nullptr) - 2 * ClaimFile::kStaleSeconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "claim").c_str(), long_ago, 0), 0);
  const std::optional<ClaimFile> claim = ClaimFile::take(folder_);
  ASSERT_TRUE(claim.has_value());
  struct stat before {};
  ASSERT_EQ(::stat((folder_ / "claim").c_str(), &before), 0);
  EXPECT_GE(before.st_mtim.tv_sec, ::time(nullptr) - 5);
}

TEST_F(ClaimFileTest, BeatsRenewItsTime) {
  const std::optional<ClaimFile> claim = ClaimFile::take(folder_);
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "claim").c_str(), long_ago, 0), 0);
  claim->beat();
  struct stat after {};
  ASSERT_EQ(::stat((folder_ / "claim").c_str(), &after), 0);
  EXPECT_GE(after.st_mtim.tv_sec, ::time(nullptr) - 5);
}

}  // namespace
}  // namespace eggroll::test
