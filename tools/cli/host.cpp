#include "cli/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "data/tokens.h"
#include "eggroll/error.h"
#include "eggroll/spec.h"
#include "record/environment.h"
#include "record/record.h"
#include "system/files.h"
#include "system/machine.h"
#include "train/identity.h"

namespace eggroll {
namespace fs = std::filesystem;

std::string heading_comment(const fs::path& file) {
  std::istringstream lines(is_there(file) ? read_file(file) : "");
  std::string comment;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) comment += line + "\n";
  return comment;
}

void require_one_value_each(const ConfigSearch& search, const std::vector<std::string>& overrides,
                            const std::string& first) {
  const std::vector<std::string> single = expand_sweeps(search, overrides).front();
  const auto several = std::mismatch(overrides.begin(), overrides.end(), single.begin()).first;
  if (several == overrides.end()) return;
  compose(search, single);
  throw parse_override(*several).wrong(several_values(first));
}

fs::path executable_folder() { return executable_path().parent_path(); }

ConfigSearch config_search(const HostOptions& options) {
  ConfigSearch search;
  for (const fs::path& folder : options.config_dirs) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
      throw Error(fmt::format("--config-dir {} is no folder, expected one with configuration files", folder.string()));
    }
    search.config_dirs.push_back(folder);
  }
  // ./experiments lies beside it, and is read where there is no ./configs too.
  search.config_dirs.emplace_back("configs");
  const fs::path installed = executable_folder() / "../share/eggroll/configs";
  std::error_code failure;
  if (fs::is_directory(installed, failure)) search.config_dirs.push_back(installed);
  const bool found = std::any_of(search.config_dirs.begin(), search.config_dirs.end(),
                                 [](const fs::path& folder) { return is_there(folder / "config.yaml"); });
  if (!found) {
    throw Error(
        "no config.yaml was found, expected it in ./configs, an installed share/eggroll/configs or a --config-dir; "
        "run from the repository's top folder or give --config-dir");
  }
  return search;
}

static std::vector<PluginFolder> listed_folders_of(const ConfigNode& config) {
  std::vector<fs::path> folders;
  for (const ConfigNode& entry : config.at("plugins.path").list()) {
    const fs::path& folder = folders.emplace_back(absolute_path(entry.text()));
    std::error_code unknown;
    if (folder.empty() || fs::is_directory(folder, unknown)) continue;
    throw wrong(entry.source(),
                fmt::format("plugins.path has '{}', which {}, expected a folder with *.eggplugin files; correct or "
                            "remove it",
                            folder.string(), is_there(folder) ? "is no folder" : "does not exist"));
  }
  return plugin_folders(folders);
}

std::vector<PluginFolder> plugin_folders_of(const ConfigNode& config) {
  std::vector<PluginFolder> folders = listed_folders_of(config);
  require_environment(folders);
  return folders;
}

Registry find_plugins(const ConfigNode& config) { return Registry(plugin_folders_of(config)); }

Registry list_plugins(const ConfigNode& config) { return Registry(listed_folders_of(config)); }

Registry find_plugins_of_run(const ConfigNode& config, const std::vector<fs::path>& allowed) {
  std::vector<fs::path> configured;
  for (const ConfigNode& entry : config.at("plugins.path").list()) configured.emplace_back(entry.text());
  std::vector<PluginFolder> folders = plugin_folders_of_run(allowed, configured);
  require_environment(folders);
  return Registry(std::move(folders), kPluginTimeLimit, kCureOfRun);
}

namespace {

// The option that says where the file of a dataset's key lies.
std::string option_of(const std::string& key, const MovedData& moved) {
  return key == "path" ? moved.path_option : key == "valid_path" ? "--valid-data" : "--vocabulary";
}

}  // namespace

ConfigNode with_data(ConfigNode config, const MovedData& moved) {
  for (const auto& [key, file] :
       {std::pair{"path", moved.path}, {"valid_path", moved.valid_path}, {"vocabulary", moved.vocabulary}}) {
    if (file.empty()) continue;
    const std::string option = option_of(key, moved);
    ConfigNode* node = config.find(std::string("dataset.") + key);
    if (node == nullptr || node->kind() != ConfigNode::Kind::kText) {
      throw Error(fmt::format("{} was given, and the run has no dataset.{}; leave it out", option, key));
    }
    *node = ConfigNode(file, Source{fmt::format("command line '{} {}'", option, file), 0});
  }
  return with_absolute_paths(std::move(config));
}

void require_file(const ConfigNode& config, const std::string& key, const MovedData& moved) {
  const ConfigNode* node = config.find("dataset." + key);
  std::error_code failure;
  if (node == nullptr || node->kind() != ConfigNode::Kind::kText || fs::exists(node->text(), failure)) return;
  if (is_pattern(node->text())) return;  // opening the dataset says whether a file matches
  throw wrong(node->source(),
              fmt::format("dataset.{} is '{}', which does not exist, expected a file that can be read; say where it is "
                          "now: {} FILE",
                          key, node->text(), option_of(key, moved)));
}

// Throws Error if an eggroll with other ops began the run, because then its settings may differ too.
static void require_known_ops(const RunFolder& folder) {
  std::optional<RunRecord> record;
  try {
    record.emplace(read_record(folder.record()));
  } catch (const Error&) {
    return;  // the readers of the record say what is wrong with it
  }
  const std::string own = hex64(EGG_SPEC_HASH);
  if (record->environment.spec_hash == own) return;
  throw Error(
      fmt::format("the run in {} was made by eggroll {} with another op set or noise (specification {}, expected "
                  "{}); use that version, or begin a new run",
                  folder.path.string(), record->environment.host_version, record->environment.spec_hash, own));
}

ConfigNode run_config(const RunFolder& folder) {
  require_known_ops(folder);
  return read_config(folder);
}

}  // namespace eggroll
