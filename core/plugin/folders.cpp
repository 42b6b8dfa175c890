#include "plugin/folders.h"

#include <cstdlib>
#include <sstream>

#include "system/machine.h"

namespace eggroll {

namespace fs = std::filesystem;

std::vector<PluginFolder> plugin_folders(const std::vector<fs::path>& configured) {
  std::vector<PluginFolder> folders;
  for (const fs::path& path : configured) folders.push_back({fs::absolute(path), "plugins.path"});

  if (const char* list = std::getenv("EGGROLL_PLUGIN_PATH")) {
    std::istringstream stream(list);
    // An empty entry would mean the current folder.
    for (std::string entry; std::getline(stream, entry, ':');) {
      if (!entry.empty()) folders.push_back({fs::absolute(entry), "EGGROLL_PLUGIN_PATH"});
    }
  }

  const fs::path here = executable_path().parent_path();
  for (const fs::path& path : {here / "plugins", here.parent_path() / EGGROLL_INSTALL_LIBDIR "/eggroll/plugins",
                               here.parent_path() / "lib/eggroll/plugins"}) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) folders.push_back({path, "beside the executable"});
  }
  return folders;
}

}  // namespace eggroll
