// Finding, checking, probing and choosing plugins.
#ifndef EGGROLL_PLUGIN_REGISTRY_H
#define EGGROLL_PLUGIN_REGISTRY_H

#include <chrono>
#include <string>
#include <vector>

#include "plugin/folders.h"
#include "plugin/plugin_file.h"

namespace eggroll {

constexpr std::chrono::milliseconds kPluginTimeLimit{20000};

// How users name a plugin of their own: in a configuration that they compose, for a command that takes a run's folder,
// and for a command that was told to take plugins from one folder alone.
constexpr const char* kCureOfConfiguration = "set plugins.path or EGGROLL_PLUGIN_PATH to its folder";
constexpr const char* kCureOfRun = "give its folder with --plugins DIR or EGGROLL_PLUGIN_PATH";
constexpr const char* kCureOfOnlyFolder = "give its folder with --plugins DIR in place of --only-plugins";

// A plugin that may be opened. It is loaded into this process, and `reason` says why it was chosen.
struct ChosenPlugin {
  PluginFile file;
  std::string sha256;               // of the file
  std::string reason;               // "asked for by name", "highest score 10 of: reference 1, avx2 10"
  std::chrono::milliseconds limit;  // for its open
  const egg_plugin_descriptor* descriptor = nullptr;
};

// Every *.eggplugin file of the folders, in the order of the folders and then of names. Each is probed in another
// process (probe.h). Must be made on the main thread before other threads start, because it forks. A chosen plugin is
// loaded into this process and stays there until it ends.
class Registry {
 public:
  // limit: the longest time for each of a plugin's constructors, its probe and later its open. cure: what the user can
  // do if no plugin has the name.
  explicit Registry(std::vector<PluginFolder> folders, std::chrono::milliseconds limit = kPluginTimeLimit,
                    std::string cure = kCureOfConfiguration);

  const std::vector<PluginFolder>& folders() const { return folders_; }
  // Every file seen, each with its verdict and its reason.
  const std::vector<PluginFile>& files() const { return files_; }

  // The plugin of exactly that name. Throws Error, its key "name", if it is unknown, rejected or cannot run here. A
  // backend named "auto" is the one with the highest score; names decide ties.
  ChosenPlugin choose(egg_kind kind, const std::string& name) const;

 private:
  void scan(PluginFolder& folder);
  void add(const PluginFolder& folder, const std::filesystem::path& path);
  void reject_duplicates();
  ChosenPlugin chosen(const PluginFile& file, const std::string& reason) const;
  ChosenPlugin choose_backend() const;
  std::string unknown(egg_kind kind, const std::string& name) const;
  std::string searched() const;

  std::vector<PluginFolder> folders_;
  std::chrono::milliseconds limit_;
  std::string cure_;
  std::vector<PluginFile> files_;
};

}  // namespace eggroll

#endif
