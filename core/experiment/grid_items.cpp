#include "experiment/grid_items.h"

#include <fmt/format.h>

namespace eggroll {
namespace {

using ItemKind = ConfigNode::Kind;

// [train.population=256,512] is two items in YAML.
void require_no_split(const std::vector<ConfigNode>& list) {
  const auto is_rest = [](const ConfigNode& item) {
    const bool is_scalar =
        item.kind() != ItemKind::kNull && item.kind() != ItemKind::kList && item.kind() != ItemKind::kMap;
    return is_scalar && scalar_text(item).find('=') == std::string::npos;
  };
  for (size_t i = 1; i < list.size(); ++i) {
    const ConfigNode& before = list[i - 1];
    if (before.kind() != ItemKind::kText || is_rest(before) || !is_rest(list[i])) continue;
    std::string whole = before.text();
    for (size_t rest = i; rest < list.size() && is_rest(list[rest]); ++rest) whole += "," + scalar_text(list[rest]);
    throw wrong(list[i].source(),
                fmt::format("'{}' stands alone, because YAML ends '{}' at its comma; put the override in "
                            "quotes: \"{}\"",
                            scalar_text(list[i]), before.text(), whole));
  }
}

}  // namespace

const std::vector<ConfigNode>& list_in(const ConfigNode& node, const char* what) {
  if (node.kind() == ItemKind::kList && !node.list().empty()) {
    require_no_split(node.list());
    return node.list();
  }
  throw wrong(node.source(), fmt::format("{} is {}, expected a list with at least one item", what, shown_value(node)));
}

const std::string& text_in(const ConfigNode& node, const char* what) {
  if (node.kind() == ItemKind::kText) return node.text();
  throw wrong(node.source(),
              fmt::format("{} is {}, expected an override such as train.population=512,2048", what, shown_value(node)));
}

}  // namespace eggroll
