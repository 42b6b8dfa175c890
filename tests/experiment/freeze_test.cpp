// The files that a sweep copies before it begins.
#include "experiment/freeze.h"

#include <gmock/gmock.h>

#include "record/scratch.h"

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

TEST_F(FreezeTest, WhatAKilledCopyLeftGoes) {
  fs::create_directories(folder_ / "frozen" / ".tmp");
  write_plainly(folder_ / "frozen" / ".tmp" / "a.eggplugin", "half");
  EXPECT_THAT(frozen({folder_ / "one"}), UnorderedElementsAre("a.eggplugin", "b.eggplugin"));
  EXPECT_EQ(entries_in(folder_ / "frozen"), 1U);
}

}  // namespace
}  // namespace eggroll::test
