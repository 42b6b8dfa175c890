#include "config/override.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config_file.h"
#include "config/merge.h"
#include "config/value.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

// Whether code reads the new key: the next element of a list, or an optional key of a sweep's section.
bool may_be_added(const ConfigNode& root, const std::string& path) {
  const auto [parent, key] = split_path(path);
  std::string above = parent;
  while (root.find(above) == nullptr) above = split_path(above).first;
  const ConfigNode& node = *root.find(above);
  if (node.kind() == Kind::kList) return above == parent && key == std::to_string(node.list().size());
  return node.kind() == Kind::kMap && (above + ".").starts_with("sweep.");
}

void set(ConfigNode& root, const Override& change, const std::string& path, const ConfigNode& value) {
  ConfigNode* node = root.find(path);
  if (node == nullptr) {
    const std::string reason = missing_path(root, path);
    const bool is_misspelt = reason.find("did you mean") != std::string::npos;
    const std::string experiment = near_name(path, {kExperimentGroup});  // the one group that is no key
    if (!is_misspelt && !experiment.empty()) {
      throw change.wrong(fmt::format("the configuration has no key '{}'{}", path, experiment));
    }
    throw change.wrong(
        reason + (!is_misspelt && may_be_added(root, path) ? fmt::format(" (write +{}=... to add it)", path) : ""));
  }
  if (node->kind() == Kind::kMap && value.kind() == Kind::kMap) {
    for (const ConfigNode::Entry& entry : value.map()) set(root, change, join_path(path, entry.key), entry.value);
  } else {
    overlay(*node, value, path);
  }
}

// The list, if the path ends in an index of one; else null.
ConfigNode* list_of(ConfigNode& root, const std::string& path) {
  ConfigNode* parent = root.find(split_path(path).first);
  return parent != nullptr && parent->kind() == Kind::kList ? parent : nullptr;
}

void add(ConfigNode& root, const Override& change, const std::string& path, ConfigNode value) {
  if (const ConfigNode* node = root.find(path)) {
    throw change.wrong(fmt::format("{} is there already ({}); write {}=... without the + to change it", path,
                                   node->source().text(), path));
  }
  const auto [parent, key] = split_path(path);
  if (ConfigNode* list = list_of(root, path)) {
    const std::string next = std::to_string(list->list().size());
    if (key != next) {
      throw change.wrong(fmt::format("{} ({}) is a list of {}, expected its next index; write +{}.{}=...", parent,
                                     list->source().text(), next, parent, next));
    }
    list->list().push_back(std::move(value));
    return;
  }
  map_at(root, parent, change.source).map().push_back({key, std::move(value)});
}

void force(ConfigNode& root, const Override& change, const std::string& path, ConfigNode value) {
  ConfigNode* node = root.find(path);
  if (node == nullptr) return add(root, change, path, std::move(value));
  if (node->kind() == Kind::kMap && value.kind() == Kind::kMap) {
    for (ConfigNode::Entry& entry : value.map()) {
      force(root, change, join_path(path, entry.key), std::move(entry.value));
    }
  } else {
    *node = node->kind() == Kind::kInteger ? in_kind_of(*node, value) : std::move(value);
  }
}

void remove(ConfigNode& root, const Override& change) {
  const ConfigNode* node = root.find(change.key);
  if (node == nullptr) throw change.wrong(missing_path(root, change.key));
  if (change.value && !(*node == in_kind_of(*node, parse_element(*change.value, change.source)))) {
    throw change.wrong(fmt::format("{} is {} ({}), and so is not deleted; write ~{} to delete it whatever it is",
                                   change.key, shown_value(*node), node->source().text(), change.key));
  }
  const auto [parent, key] = split_path(change.key);
  if (ConfigNode* list = list_of(root, change.key)) {
    list->list().erase(list->list().begin() + (node - list->list().data()));
    return;
  }
  ConfigNode* above = root.find(parent);
  above->note_deletion(key, change.source);
  ConfigNode::Map& map = above->map();
  map.erase(std::find_if(map.begin(), map.end(), [&name = key](const auto& entry) { return entry.key == name; }));
}

}  // namespace

Error Override::wrong(const std::string& sentence) const { return setting_error(key, source.text() + ": " + sentence); }

Override parse_override(const std::string& text) {
  Override change{Override::Action::kSet, "", std::nullopt, {"command line '" + text + "'", 0}};
  std::string rest = trimmed(text);
  for (const auto& [prefix, action] : {std::pair<const char*, Override::Action>{"++", Override::Action::kForce},
                                       {"+", Override::Action::kAdd},
                                       {"~", Override::Action::kDelete}}) {
    if (!rest.starts_with(prefix)) continue;
    change.action = action;
    rest.erase(0, std::string(prefix).size());
    break;
  }
  const size_t equals = std::min(rest.find('='), rest.size());
  change.key = trimmed(rest.substr(0, equals));
  if (equals < rest.size()) change.value = trimmed(rest.substr(equals + 1));
  if (!change.value && change.action != Override::Action::kDelete) {
    throw change.wrong("this is no override, expected key=value, +key=value, ++key=value or ~key; correct it");
  }
  if (!is_path(change.key)) {
    throw change.wrong(
        fmt::format("'{}' is no key, expected names of letters, digits, _ and -, with single dots or slashes between "
                    "them and {} characters at most; correct it",
                    change.key, kLongestKey));
  }
  return change;
}

void apply_override(ConfigNode& root, const Override& change) {
  if (change.key.find('/') != std::string::npos) {
    throw change.wrong(fmt::format("the configuration has no group '{}'; write a key with dots", change.key));
  }
  switch (change.action) {
    case Override::Action::kSet:
      set(root, change, change.key, parse_element(*change.value, change.source));
      break;
    case Override::Action::kAdd:
      add(root, change, change.key, parse_element(*change.value, change.source));
      break;
    case Override::Action::kForce:
      force(root, change, change.key, parse_element(*change.value, change.source));
      break;
    case Override::Action::kDelete:
      remove(root, change);
      break;
  }
}

}  // namespace eggroll
