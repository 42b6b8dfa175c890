// eggroll keys: groups, their options and the keys of the configuration, with what their files say of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/hash.h"
#include "config/host_settings.h"
#include "config/yaml.h"
#include "eggroll/suggest.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kIndent = 4;

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Where a line's comment begins, npos where it has none.
size_t comment_begin(const std::string& line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ')) {
      return i;
    }
  }
  return std::string::npos;
}

size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool is_comment(const std::string& line) { return trimmed(line).starts_with('#'); }

// The comments of keys, with each file read once.
class Comments {
 public:
  // What the file says of the key that was written there: in the lines above, which begin in the key's column, then
  // behind its value and in the lines below. "" where it says nothing.
  std::string at(const Source& source) {
    const Lines& lines = lines_in(source.file);
    const auto line = static_cast<size_t>(source.line) - 1;
    if (source.line <= 0 || line >= lines.size()) return "";
    const auto is_above = [&](size_t i, size_t key) {
      return is_comment(lines[i]) && indent_of(lines[i]) == indent_of(lines[key]);
    };
    size_t first = line;
    while (first > 0 && is_above(first - 1, line)) --first;
    std::string comment;
    if (first > 0) add(lines, first, line, comment);  // the comment that a file begins with is the file's
    const size_t begin = comment_begin(lines[line]);
    if (begin == std::string::npos) return comment;
    comment += (comment.empty() ? "" : " ") + trimmed(lines[line].substr(begin + 1));
    size_t next = line + 1;
    while (next < lines.size() && is_comment(lines[next])) ++next;
    size_t end = line + 1;
    while (end < next && (next == lines.size() || !is_above(end, next))) ++end;
    add(lines, line + 1, end, comment);
    return comment;
  }

 private:
  const Lines& lines_in(const std::string& file) {
    const auto [known, is_new] = files_.try_emplace(file);
    if (is_new && is_there(file)) known->second = lines_of(read_file(file));
    return known->second;
  }

  static void add(const Lines& lines, size_t first, size_t end, std::string& comment) {
    for (size_t i = first; i < end; ++i) comment += (comment.empty() ? "" : " ") + trimmed(trimmed(lines[i]).substr(1));
  }

  std::map<std::string, Lines> files_;
};

// The first sentence of the comment that the file begins with; "" where it begins with none.
std::string summary_of(const fs::path& file) {
  std::string comment;
  for (const std::string& line : lines_of(heading_comment(file))) {
    if (!line.starts_with("# @package")) comment += (comment.empty() ? "" : " ") + trimmed(line.substr(1));
  }
  const size_t end = comment.find(". ");
  return end == std::string::npos ? comment : comment.substr(0, end + 1);
}

void print_indented(const std::string& text) {
  if (text.empty()) return;
  const size_t width = std::max(terminal_width(), 2 * kIndent) - kIndent;
  fmt::print("{:{}}{}\n", "", kIndent, wrapped(text, width, kIndent));
}

// The limits of one of the host's own numbers; "" of any other key.
std::string limits_of(const std::string& path) {
  const HostSetting* setting = find_host_setting(path);
  return setting == nullptr ? "" : limits_text(*setting);
}

// The comment of a key and its limits.
std::string said_of(const std::string& path, const std::string& comment) {
  const std::string limits = limits_of(path);
  if (limits.empty()) return comment;
  return comment.empty() ? limits : fmt::format("{} ({})", comment, limits);
}

// said: where the last comment is, which `{a: 1, b: 2} # comment` shares with its keys.
void print_keys(const std::string& path, const ConfigNode& node, Comments& comments, const Source& said) {
  const std::string comment = node.source().text() == said.text() ? "" : comments.at(node.source());
  if (node.kind() != ConfigNode::Kind::kMap || node.map().empty()) {
    fmt::print("{}={}\n", path, to_line(node));
    print_indented(said_of(path, comment));
    return;
  }
  if (!comment.empty()) fmt::print("{}\n", path);
  print_indented(comment);
  for (const auto& [key, value] : node.map()) print_keys(join_path(path, key), value, comments, node.source());
}

void add_keys(const std::string& path, const ConfigNode& node, Comments& comments, ordered_json& keys) {
  if (node.kind() == ConfigNode::Kind::kMap && !node.map().empty()) {
    for (const auto& [key, value] : node.map()) add_keys(join_path(path, key), value, comments, keys);
    return;
  }
  keys.push_back({{"key", path},
                  {"value", to_json(node)},
                  {"comment", or_null(comments.at(node.source()))},
                  {"limits", or_null(limits_of(path))}});
}

void add_paths(const std::string& path, const ConfigNode& node, std::vector<std::string>& paths) {
  if (!path.empty()) paths.push_back(path);
  if (node.kind() != ConfigNode::Kind::kMap) return;
  for (const auto& [key, value] : node.map()) add_paths(join_path(path, key), value, paths);
}

// The option that a group's part of the configuration is of; "" where it has no file.
std::string chosen_option(const ConfigNode& config, const std::string& group) {
  const ConfigNode* node = config.find(group);
  return node == nullptr ? "" : fs::path(node->source().file).stem().string();
}

void print_options(const ConfigSearch& search, const ConfigNode& config, const std::string& group) {
  fmt::print("Options (eggroll run {}=OPTION):\n\n", group);
  const std::string chosen = chosen_option(config, group);
  for (const std::string& option : option_names(search, group)) {
    fmt::print("{}={}{}\n", group, option, option == chosen ? "   (chosen)" : "");
    print_indented(summary_of(option_path(search, group, option, Source{})));
  }
}

ordered_json group_json(const ConfigSearch& search, const ConfigNode& config, const std::string& group) {
  const std::string chosen = chosen_option(config, group);
  ordered_json options = ordered_json::array();
  for (const std::string& option : option_names(search, group)) {
    options.push_back({{"option", option},
                       {"chosen", option == chosen},
                       {"summary", or_null(summary_of(option_path(search, group, option, Source{})))}});
  }
  return {{"group", group}, {"options", options}};
}

// Prints these groups, and what is below the node.
void print_as_json(const ConfigSearch& search, const ConfigNode& config, const std::vector<std::string>& groups,
                   const std::string& path, const ConfigNode* node) {
  ordered_json list = ordered_json::array();
  for (const std::string& group : groups) list.push_back(group_json(search, config, group));
  ordered_json keys = ordered_json::array();
  Comments comments;
  if (node != nullptr) add_keys(path, *node, comments, keys);
  print_json({{"groups", list}, {"keys", keys}});
}

void print_overview(const ConfigSearch& search, const ConfigNode& config) {
  fmt::print("Groups, with their options (eggroll run GROUP=OPTION):\n");
  const std::vector<std::string> groups = group_names(search);
  for (const std::string& group : groups) {
    std::string options;
    for (const std::string& option : option_names(search, group)) options += " " + option;
    fmt::print("\n{}\n", group);
    print_indented(options);
  }
  std::string keys;
  for (const auto& [key, value] : config.map()) keys += " " + key;
  fmt::print("\nKeys of the configuration (eggroll keys KEY shows what is below one):\n\n");
  print_indented(keys);
}

// key: a group or a key; "" for all.
int keys_command(const HostOptions& host, const std::string& key, const Overrides& overrides, bool json) {
  const ConfigSearch search = config_search(host);
  const ConfigNode config = compose(search, overrides);
  if (key.empty()) {
    if (json) {
      print_as_json(search, config, group_names(search), "", &config);
    } else {
      print_overview(search, config);
    }
    return 0;
  }
  const ConfigNode* node = is_path(key) ? config.find(key) : nullptr;
  const bool is_group = is_path(key) && eggroll::is_group(search, key);
  if (node == nullptr && !is_group) {
    std::vector<std::string> known = group_names(search);
    add_paths("", config, known);
    throw Error(
        fmt::format("'{}' is no group and no key, expected one such as optimizer or train.steps{} (eggroll keys "
                    "lists all)",
                    key, near_name(key, known)));
  }
  if (json) {
    print_as_json(search, config, is_group ? std::vector{key} : std::vector<std::string>(), key, node);
    return 0;
  }
  if (is_group) print_options(search, config, key);
  if (node == nullptr) return 0;
  if (is_group) fmt::print("\nKeys of the option that is chosen:\n\n");
  Comments comments;
  print_keys(key, *node, comments, Source{});
  return 0;
}

}  // namespace

void commands::declare_keys(CommandLine& line) {
  static std::string key;
  static Overrides overrides;
  static bool json = false;
  CLI::App* command =
      line.add("keys", "List groups and options, or the keys below one: eggroll keys optimizer, eggroll keys train",
               [&line] { return keys_command(line.host, key, overrides, json); });
  line.takes(command, "key", key, "A group or a key; all groups if it is left out", {Words::kSections});
  line.takes(command, "overrides", overrides, "What to choose first: model=int8nativeformer", {Words::kOverrides});
  add_json(command, json);
  command->fallthrough();
}

}  // namespace eggroll
