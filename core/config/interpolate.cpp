#include "config/interpolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::string_view kOpen = "${";
constexpr const char* kForms = "${a.b} with a path from the top, or ${env:NAME}";

constexpr size_t kMostValues = 1000000;
constexpr size_t kLongestText = 1000000;    // bytes
constexpr size_t kMostText = 10000000;      // bytes
constexpr size_t kDeepestReferences = 200;  // a longer chain of references is refused

bool is_escaped(const std::string& text, size_t open) { return open > 0 && text[open - 1] == '$'; }

class Resolver {
 public:
  explicit Resolver(const ConfigNode& root) : root_(root) {}

  ConfigNode resolve(const ConfigNode& node, const std::string& path) {
    if (references_ > 0 && ++values_ > kMostValues)
      throw wrong(node, path, "refers to too many values, expected at most a million in all; refer to fewer");
    const bool nests = node.kind() == Kind::kMap || node.kind() == Kind::kList;
    if (nests && ++depth_ > kDeepestTree) {
      throw wrong(
          node, path,
          fmt::format("lies too deep, expected at most {} nested lists and maps; flatten some of them", kDeepestTree));
    }
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
    if (nests) --depth_;
    const bool is_made = references_ > 0 || is_interpolated(node);
    if (is_made && resolved.kind() == Kind::kText) text_ += resolved.text().size();
    if (text_ > kMostText)
      throw wrong(node, path, "refers to too much text, expected at most ten million bytes in all; refer to less");
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
    if (under_way_.size() == kDeepestReferences) {
      throw wrong(
          node, path,
          fmt::format("is reached through {} references, expected fewer; refer to it directly", kDeepestReferences));
    }
    under_way_.push_back(path);
    ConfigNode resolved = replace(node, path);
    resolved.set_source(node.source());
    under_way_.pop_back();
    return resolved;
  }

  // Replaces every ${...} in the text. A text that is one ${...} becomes the value that it refers to.
  ConfigNode replace(const ConfigNode& node, const std::string& path) {
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
                    fmt::format("is '{}', whose ${{ has no }}; add it, or write $${{ for a plain ${{", node.text()));
      }
      const std::string name = text.substr(open + kOpen.size(), close - open - kOpen.size());
      ConfigNode value = refer(node, path, name);
      if (open == 0 && close + 1 == text.size()) return value;
      result.append(text, from, open - from).append(put(value, node, path, name));
      from = close + 1;
      if (result.size() > kLongestText)
        throw wrong(node, path, "becomes a text of more than a million bytes; refer to less");
    }
    return {result.append(text, from), node.source()};
  }

  // A value as a part of a text.
  std::string put(const ConfigNode& value, const ConfigNode& node, const std::string& path,
                  const std::string& name) const {
    if (value.kind() == Kind::kNull || value.kind() == Kind::kList || value.kind() == Kind::kMap) {
      throw wrong(node, path,
                  fmt::format("puts '{}' into text, but its value is {}; refer to text or a number", name,
                              kind_name(value.kind())));
    }
    return scalar_text(value);
  }

  ConfigNode from_environment(const ConfigNode& node, const std::string& path, const std::string& argument) const {
    const size_t comma = std::min(argument.find(','), argument.size());
    const std::string variable = argument.substr(0, comma);
    if (const char* value = std::getenv(variable.c_str())) return plain_scalar(value, node.source());
    if (comma < argument.size()) {
      const size_t first = argument.find_first_not_of(' ', comma + 1);
      return plain_scalar(first == std::string::npos ? "" : argument.substr(first), node.source());
    }
    throw wrong(node, path, fmt::format("needs the environment variable '{}', which is not set; set it", variable));
  }

  ConfigNode refer(const ConfigNode& node, const std::string& path, const std::string& name) {
    if (name.find(kOpen) != std::string::npos) {
      throw wrong(node, path, fmt::format("has a ${{ within ${{{}}}, expected {}", name, kForms));
    }
    const size_t colon = name.find(':');
    // Hydra calls it oc.env.
    if (name.starts_with("env:") || name.starts_with("oc.env:"))
      return from_environment(node, path, name.substr(colon + 1));
    if (colon != std::string::npos) {
      const std::string word = name.substr(0, colon);
      throw wrong(node, path, fmt::format("holds '${{{}}}', expected {}{}", name, kForms, near_name(word, {"env"})));
    }
    if (name.empty() || name.find_first_of("${ ") != std::string::npos || name.front() == '.' || name.back() == '.') {
      throw wrong(node, path, fmt::format("holds '${{{}}}', expected {}", name, kForms));
    }
    ++references_;
    // The path may lead through another reference; everything below it is then resolved.
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
    ConfigNode value = is_resolved ? *target : resolve(*target, target_path);
    --references_;
    return value;
  }

  const ConfigNode& root_;
  size_t references_ = 0;               // under way; an Error is the end of all
  size_t values_ = 0;                   // brought by references so far
  size_t text_ = 0;                     // bytes brought by references so far
  size_t depth_ = 0;                    // lists and maps under way
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
