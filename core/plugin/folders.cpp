#include "plugin/folders.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "eggroll/error.h"
#include "system/machine.h"

namespace eggroll {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnvironment = "EGGROLL_PLUGIN_PATH";

fs::path absolute(const fs::path& path, const std::string& origin) {
  if (path.empty()) throw Error(origin + " holds an empty name, expected folders; remove it");
  return fs::absolute(path).lexically_normal();
}

void add_environment(std::vector<PluginFolder>& folders) {
  const char* list = std::getenv(kEnvironment);
  if (list == nullptr) return;
  std::istringstream stream(list);
  // An empty entry would mean the current folder.
  for (std::string entry; std::getline(stream, entry, ':');) {
    if (!entry.empty()) folders.push_back({absolute(entry, ""), kEnvironment});
  }
}

void add_installed(std::vector<PluginFolder>& folders) {
  const fs::path here = executable_path().parent_path();
  for (const fs::path& path : {here / "plugins", here.parent_path() / EGGROLL_INSTALL_LIBDIR "/eggroll/plugins",
                               here.parent_path() / "lib/eggroll/plugins"}) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) folders.push_back({path, kBesideExecutable});
  }
}

}  // namespace

std::vector<PluginFolder> plugin_folders(const std::vector<fs::path>& configured) {
  std::vector<PluginFolder> folders;
  for (const fs::path& path : configured) folders.push_back({absolute(path, "plugins.path"), "plugins.path"});
  add_environment(folders);
  add_installed(folders);
  return folders;
}

std::vector<PluginFolder> plugin_folders_of_run(const std::vector<fs::path>& allowed,
                                                const std::vector<fs::path>& configured) {
  std::vector<PluginFolder> folders;
  for (const fs::path& path : allowed) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      throw Error(fmt::format("--plugins is '{}', which {}, expected a folder of plugins; correct it or leave it out",
                              path.string(), fs::exists(path, unknown) ? "is no folder" : "does not exist"));
    }
    folders.push_back({absolute(path, "--plugins"), "--plugins"});
  }
  add_environment(folders);
  add_installed(folders);
  for (const fs::path& path : configured) {
    const fs::path folder = absolute(path, "plugins.path of the run");
    folders.push_back(
        {folder, "plugins.path of the run", "is searched only if you allow it: --plugins " + folder.string()});
  }
  return folders;
}

void require_environment(const std::vector<PluginFolder>& folders) {
  for (const PluginFolder& folder : folders) {
    std::error_code unknown;
    if (folder.origin != kEnvironment || fs::exists(folder.path, unknown) || unknown) continue;
    throw Error(
        fmt::format("{} has '{}', which does not exist, expected folders with *.eggplugin files and colons between "
                    "them; correct or remove it",
                    kEnvironment, folder.path.string()));
  }
}

}  // namespace eggroll
