// Where plugins are looked for, and in which order.
#ifndef EGGROLL_PLUGIN_FOLDERS_H
#define EGGROLL_PLUGIN_FOLDERS_H

#include <filesystem>
#include <string>
#include <vector>

namespace eggroll {

struct PluginFolder {
  std::filesystem::path path;  // absolute; a folder, or one plugin file
  std::string origin;          // "plugins.path", "EGGROLL_PLUGIN_PATH", "beside the executable", "the command line"
  std::string problem = {};    // filled by the Registry: why nothing could be read here; empty where all is well
};

// configured (plugins.path of the configuration), then EGGROLL_PLUGIN_PATH (colon separated), then the folders beside
// the executable that exist. The current folder is searched only where one of the first two names it.
std::vector<PluginFolder> plugin_folders(const std::vector<std::filesystem::path>& configured);

}  // namespace eggroll

#endif
