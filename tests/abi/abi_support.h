// The shared parts of the plugin room's tests.
#ifndef EGGROLL_ABI_SUPPORT_H
#define EGGROLL_ABI_SUPPORT_H

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "plugin/instance.h"
#include "plugin/registry.h"
#include "record/scratch.h"
#include "system/files.h"

namespace eggroll {

// Short if a test must wait for a plugin that hangs; else long enough for a busy machine.
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

using test::ScratchFolder;

inline egg_setting integer(const char* key, int64_t value) {
  return egg_setting{key, EGG_SETTING_INTEGER, 0, value, static_cast<double>(value), nullptr};
}

inline egg_setting text(const char* key, const char* value) {
  return egg_setting{key, EGG_SETTING_TEXT, 0, 0, 0.0, value};
}

// Opens the plugin of that name with settings that are gone when this returns.
template <class Kind>
Kind open(egg_kind kind, const std::string& name, const std::vector<egg_setting>& items) {
  const egg_settings settings{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
  return Kind(registry_of({name}).choose(kind, name), settings);
}

}  // namespace eggroll

#endif
