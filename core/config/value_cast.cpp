#include "config/value_cast.h"

#include <fmt/format.h>

#include "config/interpolate.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

ConfigNode cast_scalar(const std::string& to, const ConfigNode& node, const Source& source) {
  const Kind kind = node.kind();
  if (is_interpolated(node)) {
    throw wrong(
        source,
        fmt::format(
            "{}() casts {}, expected a value without ${{...}}, because casts are applied first; remove the cast", to,
            shown_value(node)));
  }
  // Text is cast by what it would be without its quotes.
  if (kind == Kind::kText && to != "str") {
    const ConfigNode plain = plain_scalar(node.text(), source);
    if (plain.kind() != Kind::kText) return cast_scalar(to, plain, source);
  }
  if (to == "str" && kind != Kind::kNull) return {scalar_text(node), source};
  if (to == "int") {
    if (kind == Kind::kInteger) return node;
    if (kind == Kind::kBoolean) return {int64_t{node.boolean()}, source};
    const bool fits = kind == Kind::kReal && node.real() >= -0x1p63 && node.real() < 0x1p63;
    if (fits) return {static_cast<int64_t>(node.real()), source};
  }
  if (to == "float") {
    if (kind == Kind::kReal) return node;
    if (kind == Kind::kInteger) return {static_cast<double>(node.integer()), source};
    if (kind == Kind::kBoolean) return {node.boolean() ? 1.0 : 0.0, source};
  }
  if (to == "bool") {
    if (kind == Kind::kBoolean) return node;
    if (kind == Kind::kInteger) return {node.integer() != 0, source};
    if (kind == Kind::kReal) return {node.real() != 0.0, source};
  }
  throw wrong(source, fmt::format("{0}() casts {1}, expected a value that {0}() can convert; correct it", to,
                                  shown_value(node)));
}

}  // namespace

ConfigNode cast(const std::string& to, const ConfigNode& node, const Source& source) {
  if (node.kind() == Kind::kList) {
    ConfigNode::List list;
    for (const ConfigNode& element : node.list()) list.push_back(cast(to, element, source));
    return {std::move(list), source};
  }
  if (node.kind() == Kind::kMap) {
    ConfigNode::Map map;
    for (const ConfigNode::Entry& entry : node.map()) map.push_back({entry.key, cast(to, entry.value, source)});
    return {std::move(map), source};
  }
  return cast_scalar(to, node, source);
}

}  // namespace eggroll
