// What every command needs: where configurations and plugins are, and a set-up from overrides or from a run folder.
#ifndef EGGROLL_TOOLS_CLI_HOST_H
#define EGGROLL_TOOLS_CLI_HOST_H

#include <filesystem>
#include <string>
#include <vector>

#include "config/compose.h"
#include "plugin/registry.h"
#include "train/run_folder.h"

namespace eggroll {

struct HostOptions {
  std::vector<std::filesystem::path> config_dirs;  // --config-dir, in order
};

// Folders with configurations: the given ones, ./configs, the installed ones; those that exist. Error if there is none.
ConfigSearch config_search(const HostOptions& options);

// Finds, checks and probes plugins: the configuration's plugins.path, EGGROLL_PLUGIN_PATH, beside the executable.
Registry find_plugins(const ConfigNode& config);

// The folders where those are looked for. Throws Error where plugins.path names one that is not there.
std::vector<PluginFolder> plugin_folders_of(const ConfigNode& config);

// The same for the configuration in a run's folder, whose plugins.path is not followed; allowed: folders that the user
// named.
Registry find_plugins_of_run(const ConfigNode& config, const std::vector<std::filesystem::path>& allowed);

// "59s", "3m20s", "2h05m".
std::string duration_text(double seconds);

// The folder of the running executable.
std::filesystem::path executable_folder();

// A folder that a command was given: Error unless it is a run's.
RunFolder existing_run(const std::filesystem::path& path);

// The resolved configuration kept in a run folder.
ConfigNode run_config(const RunFolder& folder);

// The present places of a run's files, if they have moved; else empty.
struct MovedData {
  std::string path;
  std::string valid_path;
  std::string vocabulary;
};

// The run's configuration with these files and absolute paths. Throws Error if a file is given for a key that the run
// does not have.
ConfigNode with_data(ConfigNode config, const MovedData& moved);

// Throws Error where the file that this key of the run's dataset names is not there.
void require_file(const ConfigNode& config, const std::string& key);

}  // namespace eggroll

#endif
