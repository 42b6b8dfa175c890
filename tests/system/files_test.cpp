#include "system/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "record/scratch.h"

namespace eggroll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class FilesTest : public ScratchTest {};

// For a forked child: files may not grow beyond this.
void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_F(FilesTest, WritesReplacesAndReadsBytes) {
  const auto path = folder_ / "file";
  const std::string bytes("a\0b\n", 4);
  write_atomically(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_atomically(path, [](const WriteBytes& write) {
    for (const char* part : {"new", "", " text"}) write(part);
  });
  EXPECT_EQ(read_file(path), "new text");
  EXPECT_EQ(entries_in(folder_), 1U);
}

TEST_F(FilesTest, WritesAllBytesOrSaysWhyNot) {
  const std::string bytes(100, 'x');
  {
    const Descriptor file = open_regular(folder_ / "file", O_WRONLY | O_CREAT, "write", Links::kRefused);
    EXPECT_EQ(write_all(file.get(), ""), 0);
    EXPECT_EQ(write_all(file.get(), bytes), 0);
    EXPECT_EQ(write_all(file.get(), "y"), 0);
  }
  EXPECT_EQ(read_file(folder_ / "file"), bytes + "y");
  const Descriptor reader = open_regular(folder_ / "file", O_RDONLY, "read", Links::kRefused);
  EXPECT_EQ(write_all(reader.get(), bytes), EBADF);
  const std::string error = in_child([&] {
    limit_file_size(60);
    const Descriptor file = open_regular(folder_ / "short", O_WRONLY | O_CREAT, "write", Links::kRefused);
    return std::to_string(write_all(file.get(), bytes));
  });
  EXPECT_EQ(error, std::to_string(EFBIG)) << "the first write is short";
}

TEST_F(FilesTest, ThePathsInAFolderAreSorted) {
  for (const char* name : {"b", "c", ".a"}) write_plainly(folder_ / name, "");
  std::filesystem::create_directory(folder_ / "a");
  EXPECT_THAT(paths_in(folder_), ElementsAre(folder_ / ".a", folder_ / "a", folder_ / "b", folder_ / "c"));
  EXPECT_TRUE(paths_in(folder_ / "a").empty());
  EXPECT_TRUE(paths_in(folder_ / "b").empty()) << "a file";
  EXPECT_TRUE(paths_in(folder_ / "none").empty());
}

TEST_F(FilesTest, ReadsAFileOfSeveralChunks) {
  std::string bytes(3'000'001, 'x');
  bytes.back() = 'y';
  write_atomically(folder_ / "file", bytes);
  EXPECT_EQ(read_file(folder_ / "file"), bytes);
  EXPECT_EQ(sha256_file(folder_ / "file"), sha256_hex(bytes));
}

TEST_F(FilesTest, OverwritesWhatAKilledWriteLeft) {
  write_plainly(folder_ / ".file.tmp", "half of something longer");
  write_atomically(folder_ / "file", "whole");
  EXPECT_EQ(read_file(folder_ / "file"), "whole");
  EXPECT_EQ(entries_in(folder_), 1U);
}

TEST_F(FilesTest, AFileSizeLimitKeepsTheOldFileAndRemovesTheTemporary) {
  const auto path = folder_ / "file";
  write_atomically(path, "old");
  const std::string text = in_child([&] {
    limit_file_size(100);
    return message_of([&] { write_atomically(path, std::string(101, 'x')); });
  });
  EXPECT_EQ(text, "cannot write " + path.string() +
                      ": File too large; raise the file size limit (ulimit -f) or choose a disk that takes larger "
                      "files, then run the same command again");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries_in(folder_), 1U);
}

TEST_F(FilesTest, AFullDiskIsNamedWithItsFreeSpaceAndTheCure) {
  const auto path = folder_ / "file";
  EXPECT_THAT(
      file_error("write", path, ENOSPC).what(),
      MatchesRegex("cannot write .*/file: No space left on device with [0-9]+\\.[0-9] MB free on that disk; free "
                   "some space or choose a folder on another disk, then run the same command again"));
}

TEST_F(FilesTest, FilesAmongResultsAreRegularAndNoLinks) {
  const auto path = folder_ / "file";
  write_plainly(folder_ / "other", "other");
  const auto refusals = [&] {
    return std::vector<std::string>{
        message_of([&] { AppendFile{path}; }), message_of([&] { read_file(path, Links::kRefused); }),
        message_of([&] { read_part(path, 0, 10); }), message_of([&] { read_end(path, 10); })};
  };
  std::filesystem::create_symlink(folder_ / "other", path);
  for (const std::string& text : refusals()) EXPECT_THAT(text, HasSubstr("file: it is a link"));
  EXPECT_EQ(read_file(path), "other");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("file", path);
  EXPECT_THAT(message_of([&] { read_file(path); }), HasSubstr("remove the links that lead in a circle"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string& text : refusals())
    EXPECT_THAT(text, HasSubstr("file: it is a FIFO, expected a regular file"));
  EXPECT_THAT(message_of([&] { sha256_file(path); }), HasSubstr("it is a FIFO"));
  EXPECT_THAT(message_of([&] { read_file("/dev/zero"); }), HasSubstr("it is a device"));
  EXPECT_THAT(message_of([&] { AppendFile("/dev/full"); }), HasSubstr("it is a device"));
}

TEST_F(FilesTest, ReadsPartsOfLongFiles) {
  const auto path = folder_ / "file";
  write_plainly(path, "one\ntwo\nthree\n");
  EXPECT_EQ(read_part(path, 0, 3), "one");
  EXPECT_EQ(read_part(path, 4, 100), "two\nthree\n");
  EXPECT_EQ(read_part(path, 100, 10), "");
  EXPECT_EQ(read_end(path, 100), "one\ntwo\nthree\n");
  EXPECT_EQ(read_end(path, 9), "three\n");
  EXPECT_EQ(read_end(path, 3), "ee\n");
}

TEST_F(FilesTest, OtherFailuresNameThePathAndTheCure) {
  EXPECT_EQ(message_of([&] { write_atomically(folder_ / "none" / "file", "x"); }),
            "cannot write " + (folder_ / "none" / "file").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
  EXPECT_EQ(message_of([&] { read_file(folder_ / "none"); }),
            "cannot read " + (folder_ / "none").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
  EXPECT_EQ(message_of([&] { read_file(folder_); }),
            "cannot read " + folder_.string() + ": Is a directory; give the path of a file, not of a folder");
  EXPECT_EQ(message_of([&] { sha256_file(folder_ / "none"); }),
            "cannot read " + (folder_ / "none").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
  std::filesystem::create_directories(folder_ / "taken" / "inner");
  EXPECT_EQ(
      message_of([&] { write_atomically(folder_ / "taken", "x"); }),
      "cannot write " + (folder_ / "taken").string() + ": Is a directory; give the path of a file, not of a folder");
  EXPECT_EQ(entries_in(folder_), 1U);
  for (const int error : {ENOLCK, ENOTSUP}) {
    EXPECT_THAT(file_error("lock", "held", error).what(),
                EndsWith("; its file system cannot do this: choose a folder on another one"));
  }
}

TEST_F(FilesTest, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  write_atomically(folder_ / "file", "x");
  ::umask(before);
  struct stat facts {};
  ASSERT_EQ(::stat((folder_ / "file").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST_F(FilesTest, AppendsContinuesAndTruncates) {
  const auto path = folder_ / "log";
  {
    AppendFile file(path);
    EXPECT_EQ(file.size(), 0U);
    file.append("one\n");
    file.append("two\n");
    file.flush();
    EXPECT_EQ(file.size(), 8U);
  }
  AppendFile file(path);
  EXPECT_EQ(file.size(), 8U);
  file.truncate_to(4);
  file.append("three\n");
  EXPECT_EQ(read_file(path), "one\nthree\n");
  EXPECT_EQ(message_of([&] { file.truncate_to(11); }),
            "cannot cut " + path.string() + " to 11 bytes: it has 10; restore it from a copy");
}

TEST_F(FilesTest, ABlobThatDoesNotFitLeavesNothingBehind) {
  const auto path = folder_ / "log";
  const std::string text = in_child([&] {
    limit_file_size(100);
    AppendFile file(path);
    file.append(std::string(60, 'a'));
    const std::string message = message_of([&] { file.append(std::string(60, 'b')); });
    file.append(std::string(40, 'c'));  // there is room again
    return message;
  });
  EXPECT_THAT(text, HasSubstr("cannot write " + path.string() + ": File too large; raise the file size limit"));
  EXPECT_EQ(read_file(path), std::string(60, 'a') + std::string(40, 'c'));
}

TEST_F(FilesTest, AFileThatIsRemovedIsMissed) {
  AppendFile file(folder_ / "file");
  file.append("a");
  file.flush();
  std::filesystem::remove(folder_ / "file");
  file.append("b");
  EXPECT_EQ(message_of([&] { file.flush(); }),
            (folder_ / "file").string() +
                " was removed while it was being written; restore it from a copy or delete "
                "its folder to start over");
}

// Known answers of FIPS 180-2.
TEST_F(FilesTest, Sha256) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 digest;
  digest.update("a");
  digest.update("bc");
  EXPECT_EQ(digest.hex(), sha256_hex("abc"));
}

}  // namespace
}  // namespace eggroll
