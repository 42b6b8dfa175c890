#include "config/merge.h"

#include <fmt/format.h>

#include <unordered_map>

#include "config/interpolate.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

bool is_number(const ConfigNode& node) { return node.kind() == Kind::kInteger || node.kind() == Kind::kReal; }

bool fits(const ConfigNode& base, const ConfigNode& top) {
  if (base.kind() == Kind::kNull || is_interpolated(base)) return true;
  if (top.kind() == Kind::kNull) return base.nullable();
  if (is_interpolated(top)) return base.kind() != Kind::kMap;
  return base.kind() == top.kind() || (is_number(base) && is_number(top));
}

std::string cure(const ConfigNode& base, const ConfigNode& top) {
  if (base.kind() == Kind::kMap) {
    std::string keys;
    for (const ConfigNode::Entry& entry : base.map()) keys += (keys.empty() ? "" : ", ") + entry.key;
    return "change its keys: " + keys;
  }
  const std::string wanted = base.kind() == Kind::kBoolean ? "true or false" : kind_name(base.kind());
  return (top.kind() == Kind::kNull ? "it cannot be null, give " : "give ") + wanted;
}

}  // namespace

void overlay(ConfigNode& base, const ConfigNode& top, const std::string& path) {
  if (base.kind() == Kind::kMap && top.kind() == Kind::kMap) {
    ConfigNode::Map& map = base.map();
    std::unordered_map<std::string, size_t> places;
    for (size_t i = 0; i < map.size(); ++i) places.emplace(map[i].key, i);
    for (const ConfigNode::Entry& entry : top.map()) {
      const auto place = places.find(entry.key);
      if (place != places.end()) {
        overlay(map[place->second].value, entry.value, join_path(path, entry.key));
      } else {
        map.push_back(entry);
      }
    }
    return;
  }
  if (!fits(base, top)) {
    throw setting_error(path,
                        fmt::format("{}: {} is {} ({}), got {}; {}", top.source().text(), path, kind_name(base.kind()),
                                    base.source().text(), shown_value(top), cure(base, top)));
  }
  const bool nullable = base.nullable();
  base = in_kind_of(base, top);
  if (nullable) base.set_nullable();
}

ConfigNode in_kind_of(const ConfigNode& base, const ConfigNode& value) {
  if (!is_number(value) || value.kind() == base.kind()) return value;
  if (base.kind() == Kind::kReal) return {static_cast<double>(value.integer()), value.source()};
  const std::optional<int64_t> whole = whole_number(value);
  return whole ? ConfigNode(*whole, value.source()) : value;
}

ConfigNode& map_at(ConfigNode& root, const std::string& path, const Source& source) {
  if (path.empty()) return root;
  ConfigNode* node = root.find(path);
  if (node == nullptr) {
    const auto [above, key] = split_path(path);
    ConfigNode::Map& parent = map_at(root, above, source).map();
    parent.push_back({key, ConfigNode({}, source)});
    node = &parent.back().value;
  }
  if (node->kind() == Kind::kNull) *node = ConfigNode(ConfigNode::Map(), source);
  if (node->kind() == Kind::kMap) return *node;
  throw setting_error(path, fmt::format("{}: {} is {} ({}), expected a map of keys; choose another key", source.text(),
                                        path, kind_name(node->kind()), node->source().text()));
}

}  // namespace eggroll
