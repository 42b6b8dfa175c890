#include "config/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "eggroll/error.h"
#include "eggroll/settings.h"
#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

template <class T>
auto& get(auto& value, const ConfigNode& node, Kind kind) {
  auto* held = std::get_if<T>(&value);
  if (held == nullptr) {
    throw setting_error(
        "", fmt::format("{}: found {}, expected {}", node.source().text(), shown_value(node), kind_name(kind)));
  }
  return *held;
}

const ConfigNode* child(const ConfigNode& node, std::string_view key) {
  if (node.kind() == Kind::kMap) {
    for (const ConfigNode::Entry& entry : node.map()) {
      if (entry.key == key) return &entry.value;
    }
  }
  if (node.kind() == Kind::kList) {
    size_t index = 0;
    const char* const end = key.data() + key.size();
    const auto [stop, failure] = std::from_chars(key.data(), end, index);
    const bool padded = key.size() > 1 && key.front() == '0';
    if (failure == std::errc() && stop == end && !padded && index < node.list().size()) return &node.list()[index];
  }
  return nullptr;
}

// Every path that ends in that key, in the tree's order.
void collect_paths(const ConfigNode& node, const std::string& path, const std::string& key,
                   std::vector<std::string>& found) {
  if (node.kind() != Kind::kMap) return;
  for (const ConfigNode::Entry& entry : node.map()) {
    const std::string below = join_path(path, entry.key);
    if (entry.key == key) found.push_back(below);
    collect_paths(entry.value, below, key, found);
  }
}

}  // namespace

bool ConfigNode::boolean() const { return get<bool>(value_, *this, Kind::kBoolean); }
int64_t ConfigNode::integer() const {
  const std::optional<int64_t> whole = kind() == Kind::kReal ? whole_number(real()) : std::nullopt;
  return whole ? *whole : get<int64_t>(value_, *this, Kind::kInteger);
}
double ConfigNode::real() const { return get<double>(value_, *this, Kind::kReal); }
const std::string& ConfigNode::text() const { return get<std::string>(value_, *this, Kind::kText); }
const ConfigNode::List& ConfigNode::list() const { return get<List>(value_, *this, Kind::kList); }
ConfigNode::List& ConfigNode::list() { return get<List>(value_, *this, Kind::kList); }
const ConfigNode::Map& ConfigNode::map() const { return get<Map>(value_, *this, Kind::kMap); }
ConfigNode::Map& ConfigNode::map() { return get<Map>(value_, *this, Kind::kMap); }

const ConfigNode* ConfigNode::find(std::string_view path) const {
  const ConfigNode* node = this;
  while (node != nullptr && !path.empty()) {
    const size_t dot = path.find('.');
    node = child(*node, path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

const ConfigNode& ConfigNode::at(std::string_view path) const {
  const ConfigNode* node = find(path);
  if (node == nullptr) {
    throw setting_error(std::string(path),
                        fmt::format("{}: {}", source_.text(), missing_path(*this, std::string(path))));
  }
  return *node;
}

const Source* ConfigNode::deletion_of(std::string_view path) const {
  const Source* by = nullptr;
  const ConfigNode* node = this;
  while (node != nullptr && !path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string_view key = path.substr(0, dot);
    for (const auto& [deleted, source] : node->deleted_) {
      if (deleted == key) by = &source;
    }
    node = child(*node, key);
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return by;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::string join_path(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

bool is_within(std::string_view key, std::string_view path) {
  return key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '.');
}

bool is_path(const std::string& text) {
  bool in_name = false;
  for (const char c : text) {
    const bool starts = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    const bool separates = c == '.' || c == '/';
    if (!starts && !(in_name && (separates || c == '-'))) return false;
    in_name = !separates;
  }
  return in_name && text.size() <= kLongestKey;
}

std::string trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kSpaces) - first + 1));
}

Error wrong(const Source& source, const std::string& sentence) {
  return setting_error("", source.text() + ": " + sentence);
}

std::optional<int64_t> whole_number(const ConfigNode& node) {
  if (node.kind() == Kind::kReal) return whole_number(node.real());
  return node.kind() == Kind::kInteger ? std::optional(node.integer()) : std::nullopt;
}

std::string scalar_text(const ConfigNode& node) {
  if (node.kind() == Kind::kBoolean) return node.boolean() ? "true" : "false";
  if (node.kind() == Kind::kInteger) return std::to_string(node.integer());
  if (node.kind() == Kind::kReal) return real_text(node.real());
  return node.text();
}

std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kInteger:
      return "an integer";
    case Kind::kReal:
      return "a real";
    case Kind::kText:
      return "text";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "";
}

std::string shown_value(const ConfigNode& node) {
  switch (node.kind()) {
    case Kind::kBoolean:
      return node.boolean() ? "true" : "false";
    case Kind::kInteger:
      return fmt::format("the integer {}", node.integer());
    case Kind::kReal:
      return "the real " + real_text(node.real());
    case Kind::kText:
      return fmt::format("the text '{}'", node.text());
    case Kind::kNull:
    case Kind::kList:
    case Kind::kMap:
      break;
  }
  return kind_name(node.kind());
}

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string missing_path(const ConfigNode& root, const std::string& path) {
  if (path == "perturb.tables") {
    return "perturb.tables is no key any more, because sites took the place of joint tables; leave it out, or draw at "
           "the logits, as experiment=tables does (a run that has it goes on only with the eggroll that began it)";
  }
  std::string parent;
  std::string rest = path;
  const ConfigNode* node = &root;
  std::string key = rest.substr(0, rest.find('.'));
  for (const ConfigNode* next = child(root, key); next != nullptr; next = child(*node, key)) {
    node = next;
    parent = join_path(parent, key);
    rest.erase(0, key.size() + 1);
    key = rest.substr(0, rest.find('.'));
  }
  const std::string place =
      parent.empty() ? "the configuration" : fmt::format("{} ({})", parent, node->source().text());
  if (node->kind() == Kind::kList) {
    const size_t size = node->list().size();
    if (size == 0) return fmt::format("{} is an empty list and has no element '{}'; write the whole list", place, key);
    return fmt::format("{} is a list of {} and has no element '{}', expected {}; correct the index", place, size, key,
                       size == 1 ? "0" : fmt::format("0 to {}", size - 1));
  }
  if (node->kind() != Kind::kMap) {
    return fmt::format("{} is {} and has no key '{}'; leave '.{}' out", place, kind_name(node->kind()), key, rest);
  }
  if (const Source* by = root.deletion_of(path)) {
    return fmt::format("{} has no key '{}', because {} deleted it; remove that override", place, key, by->text());
  }
  std::vector<std::string> known;
  for (const ConfigNode::Entry& entry : node->map()) known.push_back(entry.key);
  std::string hint = near_name(key, known);
  if (hint.empty()) {
    std::vector<std::string> elsewhere;
    collect_paths(root, "", key, elsewhere);
    hint = elsewhere.empty() ? suggestion(key, known) : fmt::format("; did you mean '{}'?", elsewhere.front());
  }
  return fmt::format("{} has no key '{}'{}", place, key, hint);
}

}  // namespace eggroll
