#include "config/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <system_error>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

using Kind = ConfigNode::Kind;

constexpr const char* kDefaultsKey = "defaults";
constexpr const char* kSelfEntry = "_self_";
constexpr const char* kOverrideWord = "override";

Error unknown_word(const Source& source, const std::string& word, const std::string& known) {
  return wrong(source,
               fmt::format("unknown word '{}' in a defaults list, expected '{}'; correct or remove it", word, known));
}

DefaultsEntry bare_entry(const ConfigNode& node) {
  const std::string& word = node.text();
  if (word == kSelfEntry) return {DefaultsEntry::Kind::kSelf, "", "", node.source()};
  if (!word.starts_with('_')) return {DefaultsEntry::Kind::kOption, "", word, node.source()};
  throw unknown_word(node.source(), word, kSelfEntry);
}

// [override] [/]group: option
DefaultsEntry group_entry(const ConfigNode::Entry& entry) {
  const Source& source = entry.value.source();
  DefaultsEntry result{DefaultsEntry::Kind::kChoice, "", "", source};
  std::string rest = entry.key;
  for (size_t space = rest.find(' '); space != std::string::npos; space = rest.find(' ')) {
    const std::string word = rest.substr(0, space);
    rest.erase(0, space + 1);
    if (word != kOverrideWord) throw unknown_word(source, word, kOverrideWord);
    result.kind = DefaultsEntry::Kind::kOverride;
  }
  // Group names always count from the top; Hydra marks such names with a slash.
  if (rest.starts_with('/')) rest.erase(0, 1);
  if (!is_path(rest)) {
    throw wrong(source, fmt::format("'{}' is no group's name, expected one such as model or a/b; correct it", rest));
  }
  result.group = rest;
  if (entry.value.kind() == Kind::kNull) return result;
  if (entry.value.kind() != Kind::kText || entry.value.text().empty()) {
    throw wrong(source, fmt::format("the option of group '{}' is {}, expected its name; put odd names in quotes",
                                    result.group, shown_value(entry.value)));
  }
  result.option = entry.value.text();
  return result;
}

std::vector<DefaultsEntry> read_defaults(const ConfigNode& list) {
  if (list.kind() != Kind::kList) {
    throw wrong(list.source(),
                fmt::format("defaults is {}, expected a list such as [{}]", shown_value(list), kSelfEntry));
  }
  std::vector<DefaultsEntry> defaults;
  bool has_self = false;
  for (const ConfigNode& node : list.list()) {
    if (node.kind() == Kind::kText) {
      defaults.push_back(bare_entry(node));
    } else if (node.kind() == Kind::kMap && node.map().size() == 1) {
      defaults.push_back(group_entry(node.map().front()));
    } else {
      throw wrong(node.source(), fmt::format("{} stands in a defaults list, expected 'group: option', an option or {}",
                                             shown_value(node), kSelfEntry));
    }
    if (defaults.back().kind != DefaultsEntry::Kind::kSelf) continue;
    if (has_self) throw wrong(node.source(), fmt::format("{} is given twice; remove one", kSelfEntry));
    has_self = true;
  }
  if (!has_self) defaults.push_back({DefaultsEntry::Kind::kSelf, "", "", list.source()});
  return defaults;
}

// Where a group's options may lie; the first is where they are expected.
std::vector<fs::path> places_of(const fs::path& config_dir, const std::string& group) {
  const fs::path experiments = (config_dir / ".." / "experiments").lexically_normal();
  if (group == kExperimentGroup) return {experiments};
  return {(config_dir / group).lexically_normal(), experiments / group};
}

// The entries of the folder; none if it does not exist.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) return {};
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator next(folder, failure);
  for (; !failure && next != fs::directory_iterator(); next.increment(failure)) entries.push_back(*next);
  if (failure) throw file_error("list", folder, failure.value());
  return entries;
}

// The group's folders that exist.
std::vector<fs::path> group_folders(const ConfigSearch& search, const std::string& group) {
  std::vector<fs::path> folders;
  for (const fs::path& dir : search.config_dirs) {
    for (const fs::path& folder : places_of(dir, group)) {
      std::error_code failure;
      if (fs::is_directory(folder, failure)) folders.push_back(folder);
    }
  }
  return folders;
}

std::string joined(const auto& names_or_paths) {
  std::string text;
  for (const auto& name : names_or_paths) text += (text.empty() ? "" : ", ") + fs::path(name).string();
  return text;
}

Error no_such_group(const ConfigSearch& search, const std::string& group, const Source& source) {
  std::vector<std::string> folders;
  for (const fs::path& dir : search.config_dirs) folders.push_back(places_of(dir, group).front().string());
  return wrong(source, fmt::format("no group '{}', expected the folder {} with its options{}", group, joined(folders),
                                   near_name(group, group_names(search))));
}

// Whether `# @package _global_` is in the comment that the file begins with.
bool reads_global(const std::string& text, const std::string& file) {
  std::istringstream lines(text);
  std::string line;
  bool is_global = false;
  for (int number = 1; std::getline(lines, line) && (line.empty() || line[0] == '#'); ++number) {
    std::istringstream words(line.substr(std::min<size_t>(1, line.size())));
    std::string comment;
    for (std::string word; words >> word;) comment += (comment.empty() ? "" : " ") + word;
    if (!comment.starts_with('@')) continue;
    if (comment != "@package _global_") {
      throw wrong({file, number},
                  fmt::format("unknown words '{}', expected '@package _global_'; correct or remove them", comment));
    }
    is_global = true;
  }
  return is_global;
}

}  // namespace

std::string path_of_group(const std::string& group) {
  std::string path = group == kExperimentGroup ? "" : group;
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

ConfigFile read_config_file(const fs::path& path) {
  const std::string name = path.string();
  ConfigFile file;
  const std::string text = read_file(path);
  file.is_global = reads_global(text, name);
  file.values = parse_yaml(text, name);
  if (file.values.kind() == Kind::kNull) file.values = ConfigNode(ConfigNode::Map(), {name, 0});
  if (file.values.kind() != Kind::kMap) {
    throw wrong({name, 0}, fmt::format("the file holds {}, expected a map of keys", shown_value(file.values)));
  }
  ConfigNode::Map& map = file.values.map();
  for (auto entry = map.begin(); entry != map.end(); ++entry) {
    if (entry->key != kDefaultsKey) continue;
    file.defaults = read_defaults(entry->value);
    map.erase(entry);
    return file;
  }
  file.defaults.push_back({DefaultsEntry::Kind::kSelf, "", "", {name, 0}});
  return file;
}

fs::path main_config_path(const ConfigSearch& search) {
  std::vector<std::string> tried;
  for (const fs::path& dir : search.config_dirs) {
    fs::path path = (dir / "config.yaml").lexically_normal();
    std::error_code failure;
    if (fs::exists(path, failure)) return path;
    if (failure) throw file_error("read", path, failure.value());
    tried.push_back(path.string());
  }
  throw setting_error("", fmt::format("no configuration: expected {}; name a folder that holds a config.yaml",
                                      tried.empty() ? "a config folder" : joined(tried)));
}

bool is_group(const ConfigSearch& search, const std::string& group) { return !group_folders(search, group).empty(); }

std::vector<std::string> group_names(const ConfigSearch& search) {
  std::set<std::string> names;
  for (const fs::path& dir : search.config_dirs) {
    for (const fs::directory_entry& entry : entries_of(dir)) {
      std::error_code failure;
      if (entry.is_directory(failure)) names.insert(entry.path().filename().string());
    }
  }
  if (is_group(search, kExperimentGroup)) names.insert(kExperimentGroup);
  return {names.begin(), names.end()};
}

std::vector<std::string> option_names(const ConfigSearch& search, const std::string& group) {
  std::set<std::string> names;
  for (const fs::path& folder : group_folders(search, group)) {
    for (const fs::directory_entry& entry : entries_of(folder)) {
      std::error_code failure;
      if (entry.path().extension() == ".yaml" && !entry.is_directory(failure))
        names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path option_path(const ConfigSearch& search, const std::string& group, const std::string& option,
                     const Source& source) {
  const std::vector<fs::path> folders = group_folders(search, group);
  if (folders.empty()) throw no_such_group(search, group, source);
  for (const fs::path& folder : folders) {
    for (const fs::directory_entry& entry : entries_of(folder)) {
      const fs::path& path = entry.path();
      std::error_code failure;
      if (path.extension() == ".yaml" && path.stem() == option && !entry.is_directory(failure)) return path;
    }
  }
  const std::vector<std::string> names = option_names(search, group);
  throw setting_error(
      group, fmt::format("{}: {} has no option '{}' in {} (found: {}){}", source.text(), group, option, joined(folders),
                         names.empty() ? "none" : joined(names), near_name(option, names)));
}

}  // namespace eggroll
