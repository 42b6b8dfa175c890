#include "config/value_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/interpolate.h"
#include "config/yaml.h"
#include "system/files.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

bool comes_before(const ConfigNode& a, const ConfigNode& b) {
  if (a.kind() == Kind::kText) return a.text() < b.text();
  if (a.kind() == Kind::kInteger && b.kind() == Kind::kInteger) return a.integer() < b.integer();
  const auto number = [](const ConfigNode& node) {
    return node.kind() == Kind::kReal ? node.real() : static_cast<double>(node.integer());
  };
  return number(a) < number(b);
}

}  // namespace

void sort_values(ConfigNode::List& values, bool reverse, const Source& source) {
  for (const ConfigNode& value : values) {
    if (is_interpolated(value)) {
      throw wrong(source, fmt::format("sort() has {}, expected values without ${{...}}, because values are sorted "
                                      "first; sort them yourself",
                                      shown_value(value)));
    }
    const bool is_text = value.kind() == Kind::kText;
    if (!is_text && value.kind() != Kind::kInteger && value.kind() != Kind::kReal) {
      throw wrong(source, fmt::format("sort() has {}, expected numbers or text; remove it", shown_value(value)));
    }
    if (is_text != (values.front().kind() == Kind::kText)) {
      throw wrong(source, fmt::format("sort() has {} beside {}, expected only numbers or only text; correct one",
                                      shown_value(values.front()), shown_value(value)));
    }
  }
  std::stable_sort(values.begin(), values.end(), [&](const ConfigNode& a, const ConfigNode& b) {
    return reverse ? comes_before(b, a) : comes_before(a, b);
  });
}

void shuffle_values(ConfigNode::List& values) {
  std::vector<std::pair<std::string, ConfigNode>> keyed;
  keyed.reserve(values.size());
  for (ConfigNode& value : values) {
    std::string key = sha256_hex(to_line(value));
    keyed.emplace_back(std::move(key), std::move(value));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::move(keyed[i].second);
}

}  // namespace eggroll
