// `eggroll new` copies a template, for a backend also the sources of `reference`, or says why not.
#include "plugin/scaffold.h"

#include <gtest/gtest.h>

#include <string>

#include "abi_support.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = EGGROLL_SOURCE_DIR;

class NewPlugin : public testing::TestWithParam<std::string> {};

TEST_P(NewPlugin, ReplacesTheNameInFilesAndContents) {
  const std::string& kind = GetParam();
  const ScratchFolder folder;
  const fs::path made = folder.path() / "deep" / "my_thing";
  new_plugin(kind, "my_thing", made, kSource);

  EXPECT_NE(read_file(made / "CMakeLists.txt").find("eggroll_add_plugin(my_thing KIND " + kind + " SOURCES "),
            std::string::npos);
  const fs::path source = made / (kind == "backend" ? "plugin.cpp" : "my_thing.cpp");
  EXPECT_NE(read_file(source).find("(\"my_thing\", "), std::string::npos);
  EXPECT_NE(read_file(made / "configs" / kind / "my_thing.yaml").find("\nname: my_thing\n"), std::string::npos);
  EXPECT_NE(read_file(made / "README.md").find("# my_thing"), std::string::npos);
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(made)) {
    EXPECT_EQ(entry.path().string().find("template_name"), std::string::npos) << entry.path();
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(read_file(entry.path()).find("template_name"), std::string::npos) << entry.path();
    EXPECT_EQ(read_file(entry.path()).find("\"reference\""), std::string::npos) << entry.path();
  }
  EXPECT_GE(files, 4U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NewPlugin, testing::Values("backend", "model", "optimizer"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

TEST(Scaffold, ABackendHasTheSourcesOfTheReferenceBackend) {
  const ScratchFolder folder;
  const fs::path made = folder.path() / "my_thing";
  new_plugin("backend", "my_thing", made, kSource);

  const fs::path reference = kSource / "plugins/backends/reference";
  for (const char* source : {"session.h", "session.cpp", "ops.cpp", "rule.cpp"}) {
    EXPECT_EQ(read_file(made / source), read_file(reference / source)) << source;
  }
  EXPECT_EQ(read_file(made / "CMakeLists.txt").find("eggroll_backend_common"), std::string::npos);
}

TEST(Scaffold, RefusesWhatIsNoName) {
  const ScratchFolder folder;
  for (const std::string name : {"", "Mine", "my-model", "9lives", "_mine", "mine_", "my__model", "auto", "../up"}) {
    EXPECT_EQ(
        message_of([&] { new_plugin("model", name, folder.path() / "new", kSource); }),
        "the plugin's name is '" + name +
            "', expected lower_snake such as my_model: a-z first, then a-z, 0-9 and single underscores between, at "
            "most 64, not auto");
  }
  EXPECT_NE(
      message_of([&] { new_plugin("model", std::string(65, 'a'), folder.path() / "new", kSource); }).find("at most 64"),
      std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "new"));
}

TEST(Scaffold, RefusesAnUnknownKind) {
  const ScratchFolder folder;
  EXPECT_EQ(message_of([&] { new_plugin("modell", "mine", folder.path() / "new", kSource); }),
            "there is no template for plugins of the kind 'modell', expected a kind that has one: backend, model, "
            "optimizer");
}

TEST(Scaffold, LeavesAnExistingFolderAlone) {
  const ScratchFolder folder;
  write_plainly(folder.path() / "mine", "precious");
  EXPECT_EQ(message_of([&] { new_plugin("model", "mine", folder.path(), kSource); }),
            folder.path().string() + " exists already; give another folder or remove it");
  EXPECT_EQ(read_file(folder.path() / "mine"), "precious");
}

TEST(Scaffold, SaysWhereTemplatesAreMissing) {
  const ScratchFolder folder;
  const fs::path none = folder.path() / "none";
  const auto expect_missing = [&](const std::string& kind, const char* place) {
    EXPECT_EQ(message_of([&] { new_plugin(kind, "mine", folder.path() / "new", none); }),
              "the template folder " + (none / place).string() + " does not exist; install Eggroll again");
  };
  expect_missing("model", "tools/template/model");
  expect_missing("backend", "plugins/backends/reference");
}

TEST(Scaffold, SaysWhereItCannotWrite) {
  const ScratchFolder folder;
  write_plainly(folder.path() / "file", "a file");
  const fs::path made = folder.path() / "file" / "mine";
  EXPECT_EQ(message_of([&] { new_plugin("model", "mine", made, kSource); }),
            "cannot write " + made.string() + ": Not a directory; choose a folder that you may write to");
}

}  // namespace
}  // namespace eggroll
