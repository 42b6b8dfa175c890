#include "experiment/grid_items.h"

#include <fmt/format.h>

#include <algorithm>

namespace eggroll {
namespace {

using ItemKind = ConfigNode::Kind;

// Sections that say how runs are launched, watched and ended.
const std::vector<std::string> kNoAxes = {"sweep", "results", "plugins", "monitor", "stop", "processes", "launcher"};

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
  const bool is_empty = node.kind() == ItemKind::kList;
  throw wrong(node.source(), fmt::format("{} is {}, expected a list with at least one item", what,
                                         is_empty ? "an empty list" : shown_value(node)));
}

const std::string& text_in(const ConfigNode& node, const char* what) {
  if (node.kind() == ItemKind::kText) return node.text();
  throw wrong(node.source(),
              fmt::format("{} is {}, expected an override such as train.population=512,2048", what, shown_value(node)));
}

void require_axis(const std::string& key, const Source& source) {
  if (key == "seed") throw wrong(source, "seed is no axis, because seeds are replicates; write sweep.seeds");
  const std::string top = key.substr(0, key.find('.'));
  const bool is_hook = key.starts_with("eval.hook");
  if (!is_hook && std::find(kNoAxes.begin(), kNoAxes.end(), top) == kNoAxes.end()) return;
  throw wrong(
      source,
      fmt::format("{} is no axis, because runs that differ only in {} are the same run; set it for the whole sweep",
                  key, is_hook ? key : top));
}

}  // namespace eggroll
