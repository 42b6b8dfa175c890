// `eggroll new` copies a template, or says why not.
#include "plugin/scaffold.h"

#include <gtest/gtest.h>

#include <string>

#include "abi_support.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

const fs::path kTemplates = fs::path(EGGROLL_SOURCE_DIR) / "tools" / "template";

class NewPlugin : public testing::TestWithParam<std::string> {};

TEST_P(NewPlugin, ReplacesTheNameInFilesAndContents) {
  const std::string& kind = GetParam();
  const TemporaryFolder folder;
  const fs::path made = folder.path() / "deep" / "my_thing";
  new_plugin(kind, "my_thing", made, kTemplates);

  EXPECT_NE(text_of(made / "CMakeLists.txt").find("eggroll_add_plugin(my_thing KIND " + kind + " SOURCES my_thing.cpp"),
            std::string::npos);
  EXPECT_NE(text_of(made / "my_thing.cpp").find("(\"my_thing\", "), std::string::npos);
  EXPECT_NE(text_of(made / "configs" / kind / "my_thing.yaml").find("\nname: my_thing\n"), std::string::npos);
  EXPECT_NE(text_of(made / "README.md").find("# my_thing"), std::string::npos);
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(made)) {
    EXPECT_EQ(entry.path().string().find("template_name"), std::string::npos) << entry.path();
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(text_of(entry.path()).find("template_name"), std::string::npos) << entry.path();
  }
  EXPECT_GE(files, 4U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NewPlugin, testing::Values("backend", "model", "optimizer"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

TEST(Scaffold, RefusesWhatIsNoName) {
  const TemporaryFolder folder;
  for (const std::string name : {"", "Mine", "my-model", "9lives", "_mine", "mine_", "my__model", "auto", "../up"}) {
    EXPECT_EQ(
        error_of([&] { new_plugin("model", name, folder.path() / "new", kTemplates); }),
        "the plugin's name is '" + name +
            "', expected lower_snake such as my_model: a-z first, then a-z, 0-9 and single underscores between, at "
            "most 64, not auto");
  }
  EXPECT_NE(error_of([&] {
              new_plugin("model", std::string(65, 'a'), folder.path() / "new", kTemplates);
            }).find("at most 64"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "new"));
}

TEST(Scaffold, RefusesAnUnknownKind) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { new_plugin("modell", "mine", folder.path() / "new", kTemplates); }),
            "there is no template for plugins of the kind 'modell', expected a kind that has one: backend, model, "
            "optimizer");
}

TEST(Scaffold, LeavesAnExistingFolderAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "mine") << "precious";
  EXPECT_EQ(error_of([&] { new_plugin("model", "mine", folder.path(), kTemplates); }),
            folder.path().string() + " exists already; give another folder or remove it");
  EXPECT_EQ(text_of(folder.path() / "mine"), "precious");
}

TEST(Scaffold, SaysWhereTemplatesAreMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(
      error_of([&] { new_plugin("model", "mine", folder.path() / "new", folder.path() / "none"); }),
      "the template folder " + (folder.path() / "none" / "model").string() + " does not exist; install Eggroll again");
}

TEST(Scaffold, SaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "a file";
  const fs::path made = folder.path() / "file" / "mine";
  EXPECT_EQ(error_of([&] { new_plugin("model", "mine", made, kTemplates); }),
            "cannot write " + made.string() + ": Not a directory; choose a folder that you may write to");
}

}  // namespace
}  // namespace eggroll
