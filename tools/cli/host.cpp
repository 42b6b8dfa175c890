#include "cli/host.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "record/files.h"
#include "system/machine.h"

namespace eggroll {
namespace fs = std::filesystem;

fs::path executable_folder() { return executable_path().parent_path(); }

ConfigSearch config_search(const HostOptions& options) {
  ConfigSearch search;
  for (const fs::path& folder : options.config_dirs) {
    if (!fs::is_directory(folder)) {
      throw Error(fmt::format("--config-dir {} is no folder, expected one with configuration files", folder.string()));
    }
    search.config_dirs.push_back(folder);
  }
  for (const fs::path& folder : {fs::path("configs"), executable_folder() / "../share/eggroll/configs"}) {
    if (fs::is_directory(folder)) search.config_dirs.push_back(folder);
  }
  const bool found = std::any_of(search.config_dirs.begin(), search.config_dirs.end(),
                                 [](const fs::path& folder) { return fs::exists(folder / "config.yaml"); });
  if (!found) {
    throw Error(
        "no config.yaml was found, expected it in ./configs, an installed share/eggroll/configs or a --config-dir; "
        "run from the repository's top folder or give --config-dir");
  }
  return search;
}

std::vector<PluginFolder> plugin_folders_of(const ConfigNode& config) {
  std::vector<fs::path> configured;
  for (const ConfigNode& entry : config.at("plugins.path").list()) configured.emplace_back(entry.text());
  return plugin_folders(configured);
}

Registry find_plugins(const ConfigNode& config) { return Registry(plugin_folders_of(config)); }

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
}

RunFolder existing_run(const fs::path& path) {
  const RunFolder folder{path};
  if (!fs::exists(folder.config())) {
    throw Error(
        fmt::format("{} is no run's folder, expected one with a config.yaml, as below results/runs", path.string()));
  }
  return folder;
}

ConfigNode run_config(const RunFolder& folder) {
  return parse_yaml(read_file(folder.config()), folder.config().string());
}

}  // namespace eggroll
