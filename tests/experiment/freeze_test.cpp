// The files that a sweep copies before it begins.
#include "experiment/freeze.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "record/scratch.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class FreezeTest : public ScratchTest {
 protected:
  FreezeTest() {
    for (const char* name : {"one", "other"}) fs::create_directories(folder_ / name);
    write_plainly(folder_ / "one" / "a.eggplugin", "a");
    write_plainly(folder_ / "one" / "b.eggplugin", "b");
    write_plainly(folder_ / "other" / "a.eggplugin", "another");
  }
  std::vector<std::string> frozen(const std::vector<fs::path>& paths) const {
    std::vector<PluginFolder> folders;
    for (const fs::path& path : paths) folders.push_back({path, "a test"});
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(freeze_plugins(folders, folder_ / "frozen"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

// The folder of an installed executable may be listed twice.
TEST_F(FreezeTest, AFolderThatIsListedTwiceIsCopiedOnce) {
  fs::create_directory_symlink(folder_ / "one", folder_ / "link");
  EXPECT_THAT(frozen({folder_ / "one", folder_ / "one", folder_ / "link"}),
              UnorderedElementsAre("a.eggplugin", "b.eggplugin"));
}

TEST_F(FreezeTest, TwoFilesOfOneNameAreBothCopied) {
  EXPECT_THAT(frozen({folder_ / "one", folder_ / "other"}),
              UnorderedElementsAre("a.eggplugin", "b.eggplugin", "1-a.eggplugin"));
}

// All that lies there is loaded.
TEST_F(FreezeTest, WhatNobodyCopiedIsRefused) {
  const std::vector<PluginFolder> folders = {{folder_ / "one", "a test"}};
  const fs::path into = folder_ / "frozen";
  const fs::path copies = freeze_plugins(folders, into);
  EXPECT_EQ(freeze_plugins(folders, into), copies);
  require_frozen(copies);

  write_plainly(copies / "c.eggplugin", "c");
  const std::string cure = "; delete the folder " + copies.string() + " and run again to have it copied anew";
  EXPECT_EQ(message_of([&] { freeze_plugins(folders, into); }),
            (copies / "c.eggplugin").string() + " is no copy of the launch, expected the copies alone" + cure);
  EXPECT_EQ(message_of([&] { require_frozen(copies); }),
            copies.string() + " holds other files than a launch copied there; run its sweep again");
  fs::remove(copies / "c.eggplugin");

  fs::remove(copies / "a.eggplugin");
  fs::create_symlink(folder_ / "one" / "a.eggplugin", copies / "a.eggplugin");
  const std::string link = (copies / "a.eggplugin").string() + " is no file, expected the copies of a launch alone";
  EXPECT_EQ(message_of([&] { freeze_plugins(folders, into); }), link + cure);
  EXPECT_EQ(message_of([&] { require_frozen(copies); }), link + cure);

  fs::rename(copies, folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", copies);
  EXPECT_THAT(message_of([&] { freeze_plugins(folders, into); }), testing::HasSubstr("link"));
  EXPECT_THAT(message_of([&] { require_frozen(copies); }), testing::HasSubstr("link"));
}

TEST_F(FreezeTest, WhatAKilledLaunchLeftIsRemoved) {
  const fs::path into = folder_ / "frozen";
  for (const char* half : {".tmp", "0123456789ab.tmp4711"}) {
    fs::create_directories(into / half);
    write_plainly(into / half / "a.eggplugin", "half");
  }
  const fs::path copies = freeze_plugins({{folder_ / "one", "a test"}}, into);
  EXPECT_EQ(paths_in(into), std::vector<fs::path>{copies});
}

// As on a full disk, it says which call failed, and leaves nothing behind.
TEST_F(FreezeTest, ACopyThatFailsLeavesNothingAndSaysWhy) {
  const rlimit small{4, RLIM_INFINITY};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_NE(std::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = message_of([&] { freeze_plugins({{folder_ / "other", "a test"}}, folder_ / "frozen"); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(said, testing::HasSubstr("File too large"));
  EXPECT_EQ(paths_in(folder_ / "frozen"), std::vector<fs::path>{});
}

}  // namespace
}  // namespace eggroll::test
