// Config files: where groups and their options lie, and a file's defaults list apart from its values.
#ifndef EGGROLL_CONFIG_CONFIG_FILE_H
#define EGGROLL_CONFIG_CONFIG_FILE_H

#include <filesystem>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// Folders that hold config.yaml and the groups; of files with the same name, the first folder's counts. The folder
// experiments/ next to each of them holds the options of the group `experiment`, and groups that only experiments use.
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
};

// The dotted path under which the options of a group lie, unless they are global.
std::string path_of_group(const std::string& group);

struct ConfigFile {
  std::vector<DefaultsEntry> defaults;  // with one kSelf; last where the list does not hold it
  ConfigNode values;                    // a map; its source is the file
  bool is_global = false;               // values go to the top and not under the group's key: see read_config_file()
};

// `# @package _global_` in the comment that the file begins with makes it global.
ConfigFile read_config_file(const std::filesystem::path& path);

// Throws Error if no folder holds a config.yaml.
std::filesystem::path main_config_path(const ConfigSearch& search);

// Whether the folder of the group exists, whatever it holds.
bool is_group(const ConfigSearch& search, const std::string& group);

// The groups that are not only for experiments, in order of their names, without groups inside others.
std::vector<std::string> group_names(const ConfigSearch& search);

// In order of their names.
std::vector<std::string> option_names(const ConfigSearch& search, const std::string& group);

// group may be nested, "a/b". Throws Error at source, with the known names, if there is no such group or option.
std::filesystem::path option_path(const ConfigSearch& search, const std::string& group, const std::string& option,
                                  const Source& source);

}  // namespace eggroll

#endif
