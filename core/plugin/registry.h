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

// A plugin that may be opened, and why it was taken.
struct ChosenPlugin {
  PluginFile file;
  std::string sha256;               // of the file
  std::string reason;               // "asked for by name", "highest score 10 of: reference 1, avx2 10"
  std::chrono::milliseconds limit;  // for its open
};

// Loads every *.eggplugin file of the folders, in the order of the folders and then of names. Make it on the main
// thread before others start: loading is not thread-safe everywhere. Libraries stay loaded to the end of the process.
class Registry {
 public:
  // limit: the longest that a plugin's probe, and later its open, may take.
  explicit Registry(std::vector<PluginFolder> folders, std::chrono::milliseconds limit = kPluginTimeLimit);

  const std::vector<PluginFolder>& folders() const { return folders_; }
  // Every file seen, each with its verdict and its reason.
  const std::vector<PluginFile>& files() const { return files_; }

  // The plugin of that name and no other: throws Error, its key "name", where it is unknown, rejected or cannot run
  // here. A backend named "auto" is the one with the highest score, ties by name.
  ChosenPlugin choose(egg_kind kind, const std::string& name) const;

 private:
  void scan(PluginFolder& folder);
  void examine(const std::filesystem::path& path);
  void reject_duplicates();
  void probe(PluginFile& file) const;
  ChosenPlugin chosen(const PluginFile& file, const std::string& reason) const;
  ChosenPlugin choose_backend() const;
  std::string searched() const;

  std::vector<PluginFolder> folders_;
  std::chrono::milliseconds limit_;
  std::vector<PluginFile> files_;
};

}  // namespace eggroll

#endif
