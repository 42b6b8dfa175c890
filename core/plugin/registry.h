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

// How users name a plugin of their own: in a configuration that they compose, to a command that takes a run's folder,
// and to a command that they told to take plugins from one folder alone.
constexpr const char* kCureOfConfiguration = "set plugins.path or EGGROLL_PLUGIN_PATH to its folder";
constexpr const char* kCureOfRun = "give its folder with --plugins DIR or EGGROLL_PLUGIN_PATH";
constexpr const char* kCureOfOnlyFolder = "give its folder with --plugins DIR in place of --only-plugins";

// A plugin that may be opened, loaded into this process, and why it was taken.
struct ChosenPlugin {
  PluginFile file;
  std::string sha256;               // of the file
  std::string reason;               // "asked for by name", "highest score 10 of: reference 1, avx2 10"
  std::chrono::milliseconds limit;  // for its open
  const egg_plugin_descriptor* descriptor = nullptr;
};

// Every *.eggplugin file of the folders, in the order of the folders and then of names, each tried in another process
// (probe.h). Make it on the main thread before others start, for it forks. What is chosen is loaded into this process
// and stays there to its end.
class Registry {
 public:
  // limit: the longest that a plugin's constructors, its probe and later its open may take, each. cure: what the user
  // can do where none has the name.
  explicit Registry(std::vector<PluginFolder> folders, std::chrono::milliseconds limit = kPluginTimeLimit,
                    std::string cure = kCureOfConfiguration);

  const std::vector<PluginFolder>& folders() const { return folders_; }
  // Every file seen, each with its verdict and its reason.
  const std::vector<PluginFile>& files() const { return files_; }

  // The plugin of that name and no other: throws Error, its key "name", where it is unknown, rejected or cannot run
  // here. A backend named "auto" is the one with the highest score, ties by name.
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
