// Config files: where groups and their options lie, and a file's defaults list apart from its values.
#ifndef EGGROLL_CONFIG_CONFIG_FILE_H
#define EGGROLL_CONFIG_CONFIG_FILE_H

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// Folders that hold config.yaml and the groups; of files with one name the first folder's is taken. The options of the
// group `experiment` lie in the folder experiments/ beside each of them.
struct ConfigSearch {
  std::vector<std::filesystem::path> config_dirs;
};

inline constexpr const char* kExperimentGroup = "experiment";

// One line of a defaults list.
struct DefaultsEntry {
  enum class Kind {
    kSelf,      // _self_: the file's own values
    kOption,    // name: another option of the same group
    kChoice,    // group: option
    kOverride,  // override group: option
  };
  Kind kind;
  std::string group;
  std::string option;  // "" where the list has null: none, until one is chosen
  Source source;
  std::optional<std::string> package = std::nullopt;  // of group@package; see GroupKey
};

// A group, perhaps with the place of its option: `model@teacher` puts it under teacher.
struct GroupKey {
  std::string group;
  std::optional<std::string> package;  // dotted path from the top, "" for the top; nothing: the option's file says
  // The path under which a group without a package puts its options, unless their files say otherwise.
  static std::string default_package(const std::string& group);
  std::string place() const { return package.value_or(default_package(group)); }  // two with one place are one choice
};

// text: `group`, `group@a.b` or `group@_global_`. Throws Error at source.
GroupKey parse_group_key(const std::string& text, const Source& source);

struct ConfigFile {
  std::vector<DefaultsEntry> defaults;  // with one kSelf; last where the list does not hold it
  ConfigNode values;                    // a map; its source is the file
  // Dotted path from the top under which the values go, "" for the top itself: `# @package a.b` or `_global_` in the
  // comment that the file begins with. Nothing: under the group's own key.
  std::optional<std::string> package;
};

ConfigFile read_config_file(const std::filesystem::path& path);

// Throws Error where no folder holds a config.yaml.
std::filesystem::path main_config_path(const ConfigSearch& search);

// The folder is there, whatever it holds.
bool is_group(const ConfigSearch& search, const std::string& group);

// In order of their names, those inside others left out.
std::vector<std::string> group_names(const ConfigSearch& search);

// In order of their names.
std::vector<std::string> option_names(const ConfigSearch& search, const std::string& group);

// group may be nested, "a/b". Throws Error at source where there is no such group or option, with those that are found.
std::filesystem::path option_path(const ConfigSearch& search, const std::string& group, const std::string& option,
                                  const Source& source);

}  // namespace eggroll

#endif
