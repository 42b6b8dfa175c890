#include "system/file_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "record/scratch.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

class SystemFilesTest : public ScratchTest {
 protected:
  Descriptor open_file(int flags = O_RDWR | O_CREAT) const {
    return Descriptor(::open((folder_ / "file").c_str(), flags | O_CLOEXEC, 0666));
  }
};

TEST_F(SystemFilesTest, BringsFilesAndFoldersToTheDisk) {
  const Descriptor file = open_file();
  ASSERT_EQ(::write(file.get(), "abc", 3), 3);
  EXPECT_EQ(sync_to_disk(file.get()), 0);
  EXPECT_EQ(sync_data_to_disk(file.get()), 0);
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(sync_to_disk(folder.get()), 0);
  errno = 0;
  EXPECT_EQ(sync_to_disk(-1), -1);
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_EQ(sync_data_to_disk(-1), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(SystemFilesTest, APipeIsNotInherited) {
  std::array<int, 2> ends{};
  ASSERT_EQ(private_pipe(ends), 0);
  const Descriptor out(ends[0]);
  const Descriptor in(ends[1]);
  ASSERT_EQ(::write(in.get(), "x", 1), 1);
  char got = 0;
  EXPECT_EQ(::read(out.get(), &got, 1), 1);
  EXPECT_EQ(got, 'x');
  for (const int end : ends) EXPECT_EQ(::fcntl(end, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(SystemFilesTest, LocksAreOfAnOpenFile) {
  const Descriptor one = open_file();
  const Descriptor other = open_file();
  const struct flock lock = whole_file();
  ASSERT_EQ(::fcntl(one.get(), kSetLockOfOpenFile, &lock), 0);
  // The asker is the same process; a lock that belongs to the process would let it in.
  struct flock asked = lock;
  ASSERT_EQ(::fcntl(other.get(), kGetLockOfOpenFile, &asked), 0);
  EXPECT_EQ(asked.l_type, F_WRLCK);
  EXPECT_EQ(::fcntl(other.get(), kSetLockOfOpenFile, &lock), -1);
  { const Descriptor closed_again = open_file(O_RDWR); }
  EXPECT_EQ(::fcntl(other.get(), kSetLockOfOpenFile, &lock), -1);
}

TEST_F(SystemFilesTest, KnowsWhenBytesChanged) {
  const Descriptor file = open_file();
  const timespec times[2] = {{1, 2}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(::futimens(file.get(), times), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_EQ(changed_ns(status), 1'700'000'000'123'456'789);
}

}  // namespace
}  // namespace eggroll::test
