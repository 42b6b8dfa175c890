// Where plugins are looked for, and in which order.
#ifndef EGGROLL_PLUGIN_FOLDERS_H
#define EGGROLL_PLUGIN_FOLDERS_H

#include <filesystem>
#include <string>
#include <vector>

namespace eggroll {

// The origin of the folders that a build or a package fills.
constexpr const char* kBesideExecutable = "beside the executable";

struct PluginFolder {
  std::filesystem::path path;  // absolute; a folder, or one plugin file
  std::string origin;          // "plugins.path", "EGGROLL_PLUGIN_PATH", "beside the executable", "the command line"
  std::string problem = {};    // why nothing is read here, a sentence's end; the Registry fills it in where it is empty
};

// For a configuration that the user composes: configured (its plugins.path), then EGGROLL_PLUGIN_PATH (separated by
// colons), then those folders beside the executable that exist. A relative folder is relative to the current folder,
// which itself is searched only if one of the first two names it.
std::vector<PluginFolder> plugin_folders(const std::vector<std::filesystem::path>& configured);

// For a run's folder, which somebody else may have made: allowed (--plugins), then EGGROLL_PLUGIN_PATH, then the
// folders beside the executable. configured: what the run's own configuration names. It is listed with its problem and
// not read, because loading a plugin runs its code, and only the user may allow that.
std::vector<PluginFolder> plugin_folders_of_run(const std::vector<std::filesystem::path>& allowed,
                                                const std::vector<std::filesystem::path>& configured);

// Throws Error if EGGROLL_PLUGIN_PATH names a folder of these that does not exist.
void require_environment(const std::vector<PluginFolder>& folders);

}  // namespace eggroll

#endif
