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
  std::string problem = {};    // why nothing is read here, a sentence's end; the Registry fills it in where it is empty
};

// For a configuration that the user composes: configured (its plugins.path), then EGGROLL_PLUGIN_PATH (colon
// separated), then the folders beside the executable that exist. Relative ones are meant from the current folder, which
// is searched only where one of the first two names it.
std::vector<PluginFolder> plugin_folders(const std::vector<std::filesystem::path>& configured);

// For a run's folder, which may be somebody else's: allowed (--plugins), then EGGROLL_PLUGIN_PATH, then beside the
// executable. configured, what the run's own configuration names, is listed with its problem: to load a plugin is to
// run its code, and only the user allows that.
std::vector<PluginFolder> plugin_folders_of_run(const std::vector<std::filesystem::path>& allowed,
                                                const std::vector<std::filesystem::path>& configured);

}  // namespace eggroll

#endif
