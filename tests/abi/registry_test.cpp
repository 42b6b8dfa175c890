// Every file seen has a verdict and a reason.
#include "plugin/registry.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <string>

#include "abi_support.h"
#include "plugin/folders.h"
#include "record/environment.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kRebuild = "; rebuild the plugin against this version";

// PATH stands for the file. Plugins that cannot run here say so; all others are rejected.
TEST(Registry, ABrokenPluginHasAVerdictAndAReason) {
  const std::vector<std::pair<std::string, std::string>> reasons = {
      {"wrong_magic",
       "PATH: its egg_plugin is no plugin descriptor (it begins with 0x12345678, expected 0x47474531); build it "
       "with eggroll_add_plugin"},
      {"wrong_major", "PATH: built for plugin ABI 7.11, this host accepts 0.11" + kRebuild},
      {"newer_minor", "PATH: built for plugin ABI 0.12, this host accepts 0.11" + kRebuild},
      {"short_struct", "PATH: its descriptor has 16 bytes, but that of ABI 0.11 has 88" + kRebuild},
      {"no_symbol", "PATH: exports no symbol egg_plugin; build it with eggroll_add_plugin"},
      {"undefined_symbol",
       "PATH: cannot be loaded (undefined symbol: found_nowhere); rebuild it for this machine with every library "
       "that it needs"},
      {"not_a_library",
       "PATH: cannot be loaded (file too short); rebuild it for this machine with every library that it needs"},
      {"wrong_spec",
       "PATH: model 'wrong_spec' follows the op set and noise of specification 0123456789abcdef, expected this "
       "host's, " +
           hex64(EGG_SPEC_HASH) + kRebuild},
      {"wrong_kind",
       "PATH: its kind is 4, expected 0 (backend), 1 (model), 2 (optimizer) or 3 (processes); fix the plugin"},
      {"wrong_name", "PATH: its name is 'Wrong-Name', expected lower_snake other than auto; fix the plugin"},
      {"no_name", "PATH: its name, version or build is missing; fix the plugin"},
      {"short_table",
       "PATH: model 'short_table' has an interface table of 8 bytes, but that of ABI 0.11 has 16" + kRebuild},
      {"null_function",
       "PATH: model 'null_function' lacks parts that a plugin must have: close, program; fix the plugin"},
      {"cannot_run", "backend 'cannot_run' cannot run here: needs avx512vnni; this CPU reports avx2 f16c"},
      {"cannot_say", "backend 'cannot_say' cannot run here: it gave no reason"},
      {"throws_in_probe",
       "PATH: backend 'throws_in_probe' threw an exception across the plugin seam: no driver; fix the plugin"},
      {"crashes_in_constructor", "PATH: ended the process that loaded it with SIGSEGV; fix or remove it"},
      {"crashes_in_probe",
       "PATH: model 'crashes_in_probe' ended the process that probed it with SIGABRT; fix or remove it"},
      {"exits_in_constructor", "PATH: ended the process that loaded it with exit code 0; fix or remove it"},
      {"exits_in_probe",
       "PATH: model 'exits_in_probe' ended the process that probed it with exit code 7; fix or remove it"},
      {"hangs_in_constructor",
       "plugin 'hangs_in_constructor' has not returned from its constructors within 1 s; fix or remove PATH"},
      {"hangs_in_probe", "plugin 'hangs_in_probe' has not returned from probe within 1 s; fix or remove PATH"}};
  for (const auto& [name, reason] : reasons) {
    SCOPED_TRACE(name);
    const Registry registry = registry_of({name});
    ASSERT_EQ(registry.files().size(), 1U);
    const PluginFile& file = registry.files().front();
    EXPECT_EQ(file.path, plugin_path(name));
    EXPECT_EQ(file.verdict, name.starts_with("cannot_") ? Verdict::kCannotRun : Verdict::kRejected);
    EXPECT_EQ(file.reason, std::regex_replace(reason, std::regex("PATH"), file.path.string()));
    EXPECT_EQ(file.score, 0);
  }
}

TEST(Registry, ReadsTheDescriptorOfAGoodPlugin) {
  const Registry registry = registry_of({"c_model"});
  ASSERT_EQ(registry.files().size(), 1U);
  const PluginFile& file = registry.files().front();
  EXPECT_EQ(file.verdict, Verdict::kAccepted);
  EXPECT_EQ(file.reason, "");
  EXPECT_EQ(file.kind, EGG_KIND_MODEL);
  EXPECT_EQ(file.name, "c_model");
  EXPECT_EQ(file.who(), "model 'c_model'");
  EXPECT_EQ(file.version, "1.0");
  EXPECT_EQ(file.build, "by hand");
  EXPECT_EQ(file.abi, "0.11");
  EXPECT_EQ(file.spec_hash, EGG_SPEC_HASH);
  EXPECT_EQ(file.score, 1);
}

bool is_loaded(const std::string& name) {
  void* library = dlopen(plugin_path(name).c_str(), RTLD_NOLOAD | RTLD_NOW);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

// Plugins that end their process are named, and the others work, in whatever order they lie. The test's own process
// loads only the chosen plugin.
TEST(Registry, LoadsNothingHereButWhatIsChosen) {
  const std::vector<std::string> names = {"crashes_in_constructor", "c_model",         "crashes_in_probe",
                                          "exits_in_probe",         "hangs_in_probe",  "quick",
                                          "exits_in_constructor",   "throws_in_probe", "slow"};
  const Registry registry = registry_of(names);
  ASSERT_EQ(registry.files().size(), names.size());
  std::vector<std::string> accepted;
  for (const PluginFile& file : registry.files()) {
    if (file.verdict == Verdict::kAccepted) accepted.push_back(file.name);
  }
  EXPECT_THAT(accepted, ElementsAre("c_model", "quick", "slow"));
  for (const std::string& name : names) EXPECT_FALSE(is_loaded(name)) << name;

  EXPECT_NE(registry.choose(EGG_KIND_BACKEND, "auto").descriptor, nullptr);
  for (const std::string& name : names) EXPECT_EQ(is_loaded(name), name == "quick") << name;
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_MODEL, "crashes_in_constructor"); }), registry.files()[0].reason);
}

// A file is probed once, and its verdict holds for every registry of the process.
TEST(Registry, AsksAFileOnce) {
  const ScratchFolder folder;
  const fs::path copy = folder.path() / "c_model.eggplugin";
  fs::copy_file(plugin_path("c_model"), copy);
  EXPECT_EQ(Registry({{copy, "plugins.path"}}).files().front().verdict, Verdict::kAccepted);
  fs::remove(copy);
  fs::copy_file(plugin_path("wrong_magic"), copy);
  const Registry again({{copy, "plugins.path"}});
  EXPECT_EQ(again.files().front().verdict, Verdict::kAccepted);
  // A file that is loaded is checked again.
  EXPECT_THAT(message_of([&] { again.choose(EGG_KIND_MODEL, "c_model"); }),
              testing::StartsWith(copy.string() + ": its egg_plugin is no plugin descriptor"));
}

// A plugin may do anything to the process that tries it: the verdicts on the files after it stay the same.
TEST(Registry, APluginSpoilsNoOther) {
  const std::string wrote = ": wrote into memory that is not its own when it was tried; fix or remove it";
  const std::string crashed = ": ended the process that loaded it with SIGSEGV; fix or remove it";
  for (const auto& [name, reason] : std::map<std::string, std::string>{
           {"writes_to_descriptors", ""}, {"lowers_limits", ""}, {"leaves_a_child", crashed}, {"scribbles", wrote}}) {
    SCOPED_TRACE(name);
    const ScratchFolder folder;
    for (const std::string& file : {name, std::string("unfinished"), std::string("ramp")}) {
      const std::string numbered = (file == name ? "0_" : "1_") + file + ".eggplugin";
      fs::copy_file(plugin_path(file), folder.path() / numbered);
    }
    // The files of a build are tried in one process first, all others apart.
    for (const char* origin : {"plugins.path", kBesideExecutable}) {
      const ScratchFolder copy;  // a file is probed only once
      fs::copy(folder.path(), copy.path());
      const Registry registry({{copy.path(), origin}}, kTestLimit);
      ASSERT_EQ(registry.files().size(), 3U);
      const PluginFile& first = registry.files()[0];
      EXPECT_EQ(first.reason, reason.empty() ? "" : first.path.string() + reason);
      EXPECT_EQ(registry.files()[1].reason, "");
      EXPECT_EQ(registry.files()[2].reason, "");
      EXPECT_EQ(registry.choose(EGG_KIND_OPTIMIZER, "ramp").file.name, "ramp");
    }
  }
}

TEST(Registry, AFileForAnotherProcessorIsCalledThat) {
  const ScratchFolder folder;
  const fs::path foreign = folder.path() / "foreign.eggplugin";
  std::string bytes = read_file(plugin_path("ramp"));
  bytes[18] = static_cast<char>(bytes[18] + 1);  // the machine of an ELF file
  write_plainly(foreign, bytes);
  const Registry registry({{folder.path(), "plugins.path"}}, kTestLimit);
  EXPECT_EQ(registry.files().at(0).reason,
            foreign.string() + ": is built for another processor; rebuild it for this machine");
}

TEST(Registry, PassesOnWhatAPluginSaysOfItselfAsPrintableLines) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Registry registry = registry_of({"shouts"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const PluginFile& file = registry.files().front();
  EXPECT_EQ(file.verdict, Verdict::kAccepted);
  EXPECT_EQ(file.version, "1.0\xef\xbf\xbd[31m and more");
  EXPECT_EQ(file.build, "by hand\xef\xbf\xbd");
}

TEST(Registry, RejectsBothOfTwoPluginsWithOneName) {
  const Registry registry = registry_of({"twin_two", "twin_one"});
  ASSERT_EQ(registry.files().size(), 2U);
  const std::string one = plugin_path("twin_one").string();
  const std::string two = plugin_path("twin_two").string();
  EXPECT_EQ(registry.files()[0].verdict, Verdict::kRejected);
  EXPECT_EQ(registry.files()[0].reason, two + ": model 'twin' is in " + one + " too; remove all but one");
  EXPECT_EQ(registry.files()[1].verdict, Verdict::kRejected);
  EXPECT_EQ(registry.files()[1].reason, one + ": model 'twin' is in " + two + " too; remove all but one");
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_MODEL, "twin"); }), registry.files()[1].reason);

  EXPECT_EQ(registry_of({"twin_two"}).files().front().verdict, Verdict::kAccepted);
}

TEST(Registry, CountsAFileSeenThroughTwoFoldersOnce) {
  const ScratchFolder folder;
  fs::create_directory_symlink(plugin_path("c_model").parent_path(), folder.path() / "linked");
  fs::create_directory(folder.path() / "other");
  fs::create_symlink(plugin_path("c_model"), folder.path() / "other" / "c_model.eggplugin");
  const Registry registry({{plugin_path("c_model").parent_path(), "plugins.path"},
                           {folder.path() / "linked", "plugins.path"},
                           {folder.path() / "other", "plugins.path"}});
  ASSERT_EQ(registry.files().size(), 1U);
  EXPECT_EQ(registry.files().front().path, plugin_path("c_model"));
  EXPECT_EQ(registry.files().front().verdict, Verdict::kAccepted);
  EXPECT_EQ(registry.folders().size(), 2U);
}

TEST(Registry, ReadsFoldersInOrderAndFilesByName) {
  const ScratchFolder folder;
  for (const char* name : {"twin_one", "no_program", "c_model"}) {
    fs::copy_file(plugin_path(name), folder.path() / (std::string(name) + ".eggplugin"));
  }
  write_plainly(folder.path() / "c_model.so", "no plugin by its name");
  const Registry registry({{plugin_path("ramp"), "the command line"}, {folder.path(), "plugins.path"}});
  std::vector<std::string> names;
  for (const PluginFile& file : registry.files()) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("ramp", "c_model", "no_program", "twin"));
}

TEST(Registry, SaysWhichFoldersItCouldNotRead) {
  const ScratchFolder folder;
  const Registry registry({{folder.path() / "missing", "plugins.path"}, {folder.path(), "EGGROLL_PLUGIN_PATH"}});
  ASSERT_EQ(registry.folders().size(), 2U);
  EXPECT_EQ(registry.folders()[0].path, folder.path() / "missing");
  EXPECT_EQ(registry.folders()[0].origin, "plugins.path");
  EXPECT_EQ(registry.folders()[0].problem, "does not exist");
  EXPECT_EQ(registry.folders()[1].origin, "EGGROLL_PLUGIN_PATH");
  EXPECT_EQ(registry.folders()[1].problem, "");
  EXPECT_THAT(registry.files(), IsEmpty());
}

TEST(Registry, RejectsWhatIsNoFile) {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "a_folder.eggplugin");
  fs::create_symlink("nowhere", folder.path() / "dangling.eggplugin");
  const Registry registry({{folder.path(), "plugins.path"}});
  ASSERT_EQ(registry.files().size(), 2U);
  EXPECT_EQ(registry.files()[0].reason,
            (folder.path() / "a_folder.eggplugin").string() + ": not a readable file; remove it");
  EXPECT_EQ(registry.files()[1].reason,
            (folder.path() / "dangling.eggplugin").string() + ": not a readable file; remove it");
}

TEST(PluginFolders, AreConfigurationThenEnvironmentThenBesideTheExecutable) {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "plugins";
  fs::create_directories(beside);
  ASSERT_EQ(setenv("EGGROLL_PLUGIN_PATH", "/first::/second:mine/../other", 1), 0);
  const std::vector<PluginFolder> folders = plugin_folders({"/configured"});
  ASSERT_EQ(unsetenv("EGGROLL_PLUGIN_PATH"), 0);

  ASSERT_GE(folders.size(), 5U);
  EXPECT_EQ(folders[0].path, "/configured");
  EXPECT_EQ(folders[0].origin, "plugins.path");
  EXPECT_EQ(folders[1].path, "/first");
  EXPECT_EQ(folders[1].origin, "EGGROLL_PLUGIN_PATH");
  EXPECT_EQ(folders[2].path, "/second");
  EXPECT_EQ(folders[3].path, fs::current_path() / "other");
  EXPECT_EQ(folders[4].path, beside);
  EXPECT_EQ(folders[4].origin, "beside the executable");
  for (const PluginFolder& folder : folders) EXPECT_NE(folder.path, fs::current_path());
}

TEST(PluginFolders, OfARunAreNotThoseThatItsConfigurationNames) {
  ASSERT_EQ(setenv("EGGROLL_PLUGIN_PATH", "/mine", 1), 0);
  const std::vector<PluginFolder> folders = plugin_folders_of_run({"/"}, {"/theirs"});
  ASSERT_EQ(unsetenv("EGGROLL_PLUGIN_PATH"), 0);

  ASSERT_GE(folders.size(), 3U);
  EXPECT_EQ(folders[0].path, "/");
  EXPECT_EQ(folders[0].origin, "--plugins");
  EXPECT_EQ(folders[1].path, "/mine");
  EXPECT_EQ(folders.back().path, "/theirs");
  EXPECT_EQ(folders.back().origin, "plugins.path of the run");
  EXPECT_EQ(folders.back().problem, "is searched only if you allow it: --plugins /theirs");
  for (size_t i = 0; i + 1 < folders.size(); ++i) EXPECT_EQ(folders[i].problem, "");
}

}  // namespace
}  // namespace eggroll
