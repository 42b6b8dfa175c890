#include "config/override.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/merge.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

constexpr const char* kSpaces = " \t\r\n";

Error wrong(const Override& change, const std::string& sentence) {
  return setting_error(change.key, change.source.text() + ": " + sentence);
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

void require_no_list(const ConfigNode& root, const Override& change, const std::string& path) {
  for (std::string parent = split_path(path).first; !parent.empty(); parent = split_path(parent).first) {
    const ConfigNode* node = root.find(parent);
    if (node != nullptr && node->kind() == Kind::kList) {
      throw wrong(change, fmt::format("{} ({}) is a list, expected a key of a map; give the whole list: {}=[...]",
                                      parent, node->source().text(), parent));
    }
  }
}

void set(ConfigNode& root, const Override& change, const std::string& path, const ConfigNode& value) {
  ConfigNode* node = root.find(path);
  if (node == nullptr) {
    const ConfigNode* parent = root.find(split_path(path).first);
    const bool can_add = parent != nullptr && parent->kind() == Kind::kMap;
    const std::string hint = can_add ? fmt::format(" (write +{}=... to add it)", path) : "";
    throw wrong(change, missing_path(root, path) + hint);
  }
  if (node->kind() == Kind::kMap && value.kind() == Kind::kMap) {
    for (const ConfigNode::Entry& entry : value.map()) set(root, change, join_path(path, entry.key), entry.value);
  } else {
    overlay(*node, value, path);
  }
}

void add(ConfigNode& root, const Override& change, ConfigNode value) {
  if (const ConfigNode* node = root.find(change.key)) {
    throw wrong(change, fmt::format("{} is there already ({}); write {}=... without the + to change it", change.key,
                                    node->source().text(), change.key));
  }
  const auto [parent, key] = split_path(change.key);
  map_at(root, parent, change.source).map().push_back({key, std::move(value)});
}

void remove(ConfigNode& root, const Override& change) {
  if (root.find(change.key) == nullptr) throw wrong(change, missing_path(root, change.key));
  const auto [parent, key] = split_path(change.key);
  ConfigNode::Map& map = root.find(parent)->map();
  map.erase(std::find_if(map.begin(), map.end(), [&name = key](const auto& entry) { return entry.key == name; }));
}

}  // namespace

Override parse_override(const std::string& text) {
  Override change{Override::Action::kSet, "", "", {"command line '" + text + "'", 0}};
  std::string rest = trimmed(text);
  if (rest.starts_with('~')) {
    change.action = Override::Action::kDelete;
    change.key = rest.substr(1);
  } else {
    if (rest.starts_with('+')) {
      change.action = Override::Action::kAdd;
      rest.erase(0, 1);
    }
    const size_t equals = rest.find('=');
    if (equals != std::string::npos) {
      change.key = trimmed(rest.substr(0, equals));
      change.value = trimmed(rest.substr(equals + 1));
    }
  }
  if (!is_path(change.key)) throw wrong(change, "no override, expected key=value, +key=value or ~key; correct it");
  return change;
}

void apply_override(ConfigNode& root, const Override& change) {
  if (change.key.find('/') != std::string::npos) {
    throw wrong(change, fmt::format("the configuration has no group '{}'; write a key with dots", change.key));
  }
  require_no_list(root, change, change.key);
  switch (change.action) {
    case Override::Action::kSet:
      set(root, change, change.key, parse_value(change.value, change.source));
      break;
    case Override::Action::kAdd:
      add(root, change, parse_value(change.value, change.source));
      break;
    case Override::Action::kDelete:
      remove(root, change);
      break;
  }
}

}  // namespace eggroll
