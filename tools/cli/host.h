// The parts that every command needs: the places of configurations and plugins, and a set-up from overrides or from a
// run folder.
#ifndef EGGROLL_TOOLS_CLI_HOST_H
#define EGGROLL_TOOLS_CLI_HOST_H

#include <filesystem>
#include <string>
#include <vector>

#include "config/compose.h"
#include "plugin/registry.h"
#include "train/run_folder.h"

namespace eggroll {

using Overrides = std::vector<std::string>;

struct HostOptions {
  std::vector<std::filesystem::path> config_dirs;  // --config-dir, in order
};

// The folders with configurations: the given ones, ./configs (which need not exist), the installed ones. Throws Error
// if none has a config.yaml.
ConfigSearch config_search(const HostOptions& options);

// Throws Error if an override has several values. The cures in its sentence begin with `first`. If one of the
// values is also wrong, the sentence says that instead.
void require_one_value_each(const ConfigSearch& search, const std::vector<std::string>& overrides,
                            const std::string& first = "");

// Finds, checks and probes plugins: the configuration's plugins.path, EGGROLL_PLUGIN_PATH, beside the executable.
Registry find_plugins(const ConfigNode& config);

// Does the same to list them, so that a missing folder of EGGROLL_PLUGIN_PATH is no error but has its problem.
Registry list_plugins(const ConfigNode& config);

// The folders that find_plugins() searches. Throws Error if plugins.path or EGGROLL_PLUGIN_PATH names a missing one, or
// plugins.path a file.
std::vector<PluginFolder> plugin_folders_of(const ConfigNode& config);

// Does the same for the configuration in a run's folder, whose plugins.path is not searched. allowed: folders that the
// user named.
Registry find_plugins_of_run(const ConfigNode& config, const std::vector<std::filesystem::path>& allowed);

// The lines of the comment that a file begins with; "" if there is no comment, or no file.
std::string heading_comment(const std::filesystem::path& file);

// The folder of the running executable.
std::filesystem::path executable_folder();

// The resolved configuration kept in a run folder.
ConfigNode run_config(const RunFolder& folder);

// The new paths of a run's files; empty for a file that has not moved.
struct MovedData {
  std::string path;
  std::string valid_path;
  std::string vocabulary;
  const char* path_option = "--data";  // the command's option for `path`
};

// The run's configuration with these files and absolute paths. Throws Error if a file is given for a key that the run
// does not have.
ConfigNode with_data(ConfigNode config, const MovedData& moved);

// Throws Error if the file that this key of the run's dataset names does not exist.
void require_file(const ConfigNode& config, const std::string& key, const MovedData& moved = {});

}  // namespace eggroll

#endif
