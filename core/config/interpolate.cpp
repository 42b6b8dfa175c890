#include "config/interpolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::string_view kOpen = "${";
constexpr std::string_view kEnvironment = "env:";

bool is_escaped(const std::string& text, size_t open) { return open > 0 && text[open - 1] == '$'; }

std::string within_text(const ConfigNode& node) {
  switch (node.kind()) {
    case Kind::kBoolean:
      return node.boolean() ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(node.integer());
    case Kind::kReal:
      return real_text(node.real());
    case Kind::kNull:
    case Kind::kText:
    case Kind::kList:
    case Kind::kMap:
      break;
  }
  return node.text();
}

class Resolver {
 public:
  explicit Resolver(const ConfigNode& root) : root_(root) {}

  ConfigNode resolve(const ConfigNode& node, const std::string& path) {
    ConfigNode resolved = node;
    if (node.kind() == Kind::kMap) {
      for (ConfigNode::Entry& entry : resolved.map()) entry.value = resolve(entry.value, join_path(path, entry.key));
    } else if (node.kind() == Kind::kList) {
      ConfigNode::List elements;
      for (const ConfigNode& element : node.list()) {
        elements.push_back(resolve(element, join_path(path, std::to_string(elements.size()))));
      }
      resolved = ConfigNode(std::move(elements), node.source());
    } else if (node.kind() == Kind::kText && node.text().find(kOpen) != std::string::npos) {
      resolved = resolve_text(node, path);
    }
    return resolved;
  }

 private:
  Error wrong(const ConfigNode& node, const std::string& path, const std::string& sentence) const {
    return setting_error(path, fmt::format("{}: {} {}", node.source().text(), path, sentence));
  }

  ConfigNode resolve_text(const ConfigNode& node, const std::string& path) {
    const auto seen = std::find(under_way_.begin(), under_way_.end(), path);
    if (seen != under_way_.end()) {
      std::string chain;
      for (auto step = seen; step != under_way_.end(); ++step) chain += *step + " -> ";
      throw wrong(node, path, fmt::format("refers to itself ({}{}); give one of them a value", chain, path));
    }
    under_way_.push_back(path);
    const std::string& text = node.text();
    std::string result;
    size_t from = 0;
    for (size_t open = text.find(kOpen); open != std::string::npos; open = text.find(kOpen, from)) {
      if (is_escaped(text, open)) {
        result.append(text, from, open - 1 - from).append(kOpen);
        from = open + kOpen.size();
        continue;
      }
      const size_t close = text.find('}', open);
      if (close == std::string::npos) {
        throw wrong(node, path,
                    fmt::format("is '{}', whose ${{ has no }}; add it, or write $${{ for a plain ${{", text));
      }
      const std::string name = text.substr(open + kOpen.size(), close - open - kOpen.size());
      ConfigNode value = refer(node, path, name);
      if (open == 0 && close + 1 == text.size()) {
        value.set_source(node.source());
        under_way_.pop_back();
        return value;
      }
      if (value.kind() == Kind::kNull || value.kind() == Kind::kList || value.kind() == Kind::kMap) {
        throw wrong(node, path,
                    fmt::format("puts '{}' into text, but that is {}; refer to text or a number", name,
                                kind_name(value.kind())));
      }
      result.append(text, from, open - from).append(within_text(value));
      from = close + 1;
    }
    under_way_.pop_back();
    return {result.append(text, from), node.source()};
  }

  ConfigNode refer(const ConfigNode& node, const std::string& path, const std::string& name) {
    if (name.starts_with(kEnvironment)) {
      const std::string variable = name.substr(kEnvironment.size());
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr) {
        throw wrong(node, path, fmt::format("needs the environment variable '{}', which is not set; set it", variable));
      }
      return plain_scalar(value, node.source());
    }
    if (name.empty() || name.find_first_of("${: ") != std::string::npos || name.front() == '.' || name.back() == '.') {
      throw wrong(node, path,
                  fmt::format("holds '${{{}}}', expected ${{a.b}} with a path from the top or ${{env:NAME}}", name));
    }
    // The way there may lead through another reference; below that all is resolved.
    ConfigNode held;
    bool is_resolved = false;
    const ConfigNode* target = &root_;
    std::string target_path;
    for (size_t from = 0; from <= name.size();) {
      const size_t dot = std::min(name.find('.', from), name.size());
      const std::string key = name.substr(from, dot - from);
      const ConfigNode* next = key.empty() ? nullptr : target->find(key);
      if (next == nullptr) {
        throw wrong(node, path, fmt::format("refers to '{}', but {}", name, missing_path(root_, name)));
      }
      target_path = join_path(target_path, key);
      if (!is_resolved && is_interpolated(*next)) {
        held = resolve_text(*next, target_path);
        is_resolved = true;
        next = &held;
      }
      target = next;
      from = dot + 1;
    }
    return is_resolved ? *target : resolve(*target, target_path);
  }

  const ConfigNode& root_;
  std::vector<std::string> under_way_;  // paths
};

}  // namespace

bool is_interpolated(const ConfigNode& node) {
  if (node.kind() != Kind::kText) return false;
  const std::string& text = node.text();
  for (size_t open = text.find(kOpen); open != std::string::npos; open = text.find(kOpen, open + kOpen.size())) {
    if (!is_escaped(text, open)) return true;
  }
  return false;
}

ConfigNode interpolate(const ConfigNode& root) { return Resolver(root).resolve(root, ""); }

}  // namespace eggroll
