// A disk without space, and a limit on the size of files: the command fails with one sentence and every file stays
// readable. With space, the same command goes on to the weights of an undisturbed run.
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

class FullDiskTest : public CliTest {
 protected:
  // Checks what a run that could not write has left behind.
  void expect_nothing_half_written() const {
    if (run_folder().empty()) return;
    if (fs::exists(run_folder() / "record.json")) {
      const nlohmann::json record = record_in(run_folder());
      EXPECT_THAT(record.at("status"), testing::AnyOf("running", "failed"));
    }
    const std::vector<uint64_t> steps = steps_in(run_folder());
    EXPECT_TRUE(steps.empty() || steps == each_step_once(steps.size() - 1)) << testing::PrintToString(steps);
    for (const auto& entry : fs::recursive_directory_iterator(run_folder())) {
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("tmp")));
    }
  }

  void expect_goes_on(const std::string& digest) const {
    good(eggroll(tiny_run()));
    expect_completed(run_folder(), digest);
    fs::remove_all(runs());
  }
};

// Limits from one that forbids every file to one that forbids only the largest.
TEST_F(FullDiskTest, ALimitOnFileSizes) {
  const std::string digest = undisturbed(tiny_run());
  size_t refused = 0;
  for (const rlim_t limit : {0U, 64U, 500U, 1500U, 3000U, 4500U, 6000U, 8000U}) {
    SCOPED_TRACE(limit);
    const Result result = eggroll(tiny_run(), limit);
    EXPECT_EQ(result.signal, 0);  // SIGXFSZ
    if (result.exit_code == 0) {
      expect_completed(run_folder(), digest);
      fs::remove_all(runs());
      continue;
    }
    ++refused;
    expect_one_sentence(result, {"cannot write results/runs/", "File too large",
                                 "raise the file size limit (ulimit -f)", "run the same command again"});
    expect_nothing_half_written();
    expect_goes_on(digest);
  }
  EXPECT_GE(refused, 5U);
}

// A file system of 256 KiB in a mount namespace of this process's own.
TEST_F(FullDiskTest, ADiskWithoutSpace) {
  const std::string digest = undisturbed(tiny_run());
  const fs::path disk = work_ / "results";
  fs::create_directory(disk);
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  size_t refused = 0;
  for (const uint64_t free_pages : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 10U, 12U}) {
    SCOPED_TRACE(free_pages);
    struct statvfs space {};
    ASSERT_EQ(::statvfs(disk.c_str(), &space), 0);
    const uint64_t filler = (space.f_bavail - std::min<uint64_t>(space.f_bavail, free_pages)) * space.f_bsize;
    write_plainly(disk / "filler", std::string(filler, 'x'));
    const Result result = eggroll(tiny_run());
    if (result.exit_code != 0) {
      ++refused;
      expect_one_sentence(result, {"results/runs", "No space left on device",
                                   "free some space or choose a folder on another disk", "run the same command again"});
      expect_nothing_half_written();
    }
    fs::remove(disk / "filler");
    expect_goes_on(digest);
  }
  EXPECT_GE(refused, 6U);
  ::umount(disk.c_str());
}

}  // namespace
}  // namespace eggroll::test
