// The shared parts of the plugin room's tests.
#ifndef EGGROLL_ABI_SUPPORT_H
#define EGGROLL_ABI_SUPPORT_H

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "plugin/registry.h"

namespace eggroll {

// Short enough to wait for where a plugin hangs; elsewhere long enough for a busy machine.
constexpr std::chrono::milliseconds kHangLimit{1000};
constexpr std::chrono::milliseconds kTestLimit{600'000};

inline std::filesystem::path plugin_path(const std::string& name) {
  return std::filesystem::path(EGGROLL_ABI_PLUGINS) / name / (name + ".eggplugin");
}

inline Registry registry_of(const std::vector<std::string>& names) {
  std::vector<PluginFolder> folders;
  bool hangs = false;
  for (const std::string& name : names) {
    folders.push_back({plugin_path(name).parent_path(), "plugins.path"});
    hangs = hangs || name.starts_with("hangs");
  }
  return Registry(std::move(folders), hangs ? kHangLimit : kTestLimit);
}

// The text of the Error that body throws.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A folder of one test, gone when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "eggroll_abi_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("no temporary folder could be made");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace eggroll

#endif
