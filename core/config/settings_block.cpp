#include "config/settings_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

ConfigNode section_of(const ConfigNode& config, const std::string& section) {
  const ConfigNode& node = config.at(section);
  if (node.kind() == Kind::kMap) return node;
  throw setting_error(section, fmt::format("{}: {} is {}, expected a map of settings; give it one",
                                           node.source().text(), section, kind_name(node.kind())));
}

egg_setting setting_of(const ConfigNode& node) {
  egg_setting item{};
  item.type = EGG_SETTING_NULL;
  item.text = "";
  if (node.kind() == Kind::kBoolean) {
    item.type = EGG_SETTING_BOOLEAN;
    item.integer = node.boolean() ? 1 : 0;
  } else if (node.kind() == Kind::kInteger) {
    item.type = EGG_SETTING_INTEGER;
    item.integer = node.integer();
    item.real = static_cast<double>(node.integer());
  } else if (node.kind() == Kind::kReal) {
    item.type = EGG_SETTING_REAL;
    item.real = node.real();
  } else if (node.kind() == Kind::kText) {
    item.type = EGG_SETTING_TEXT;
    item.text = node.text().c_str();
  }
  return item;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

// Replaces the key by the path at the first place of the sentence that has the key as a whole word.
std::string with_path(std::string sentence, const std::string& key, const std::string& path) {
  for (size_t at = sentence.find(key); at != std::string::npos; at = sentence.find(key, at + 1)) {
    const size_t after = at + key.size();
    if (at > 0 && is_name_character(sentence[at - 1])) continue;
    if (after < sentence.size() && is_name_character(sentence[after])) continue;
    return sentence.replace(at, key.size(), path);
  }
  return sentence;
}

}  // namespace

SettingsBlock::SettingsBlock(const ConfigNode& config, const std::string& section,
                             const std::vector<std::string>& omitted)
    : section_(section), values_(section_of(config, section)) {
  if (const Source* by = config.deletion_of(section)) deleted_by_ = *by;
  for (const ConfigNode::Entry& entry : values_.map()) {
    const bool is_left_out = std::find(omitted.begin(), omitted.end(), entry.key) != omitted.end();
    if (!is_left_out && !(section.empty() && entry.value.kind() == Kind::kMap)) flatten(entry.value, entry.key);
  }
  for (size_t i = 0; i < items_.size(); ++i) items_[i].key = keys_[i].c_str();
  view_ = egg_settings{sizeof(egg_settings), static_cast<uint32_t>(items_.size()), items_.data()};
}

void SettingsBlock::flatten(const ConfigNode& node, const std::string& key) {
  if (node.kind() == Kind::kMap) {
    for (const ConfigNode::Entry& entry : node.map()) flatten(entry.value, join_path(key, entry.key));
  } else if (node.kind() == Kind::kList) {
    for (size_t i = 0; i < node.list().size(); ++i) {
      const ConfigNode& element = node.list()[i];
      const std::string own = join_path(key, std::to_string(i));
      const size_t before = keys_.size();
      flatten(element, own);
      if (keys_.size() > before) continue;
      const std::string path = join_path(section_, own);
      throw setting_error(path, fmt::format("{}: {} is {} without settings, expected some; give them or leave the "
                                            "element out",
                                            element.source().text(), path, kind_name(element.kind())));
    }
  } else {
    keys_.push_back(key);
    items_.push_back(setting_of(node));
  }
}

Error SettingsBlock::located(const Error& error) const {
  if (error.key().empty()) return error;
  const std::string path = join_path(section_, error.key());
  const ConfigNode* node = values_.find(error.key());
  std::string suffix;
  if (node == nullptr) {
    const Source* by = values_.deletion_of(error.key());
    if (by == nullptr && deleted_by_) by = &*deleted_by_;
    if (by != nullptr) suffix = fmt::format(" ({} deleted it)", by->text());
  }
  for (std::string above = error.key(); node == nullptr; node = values_.find(above)) above = split_path(above).first;
  return Error(node->source().text() + ": " + with_path(error.what(), error.key(), path) + suffix, error.code(), path);
}

void require_only(const ConfigNode& root, const std::vector<std::string>& known) {
  for (const ConfigNode::Entry& entry : root.map()) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    throw setting_error(entry.key, fmt::format("{}: unknown key '{}'{} (correct or remove it)",
                                               entry.value.source().text(), entry.key, suggestion(entry.key, known)));
  }
}

}  // namespace eggroll
