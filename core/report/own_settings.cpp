#include "report/own_settings.h"

#include <algorithm>

#include "train/identity.h"

namespace eggroll {
namespace {

bool is_at_or_below(const std::string& key, const std::string& path) {
  return key == path || key.starts_with(path + ".");
}

bool is_any_below(const std::string& key, const std::vector<std::string>& paths, const std::string& above = "") {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return is_at_or_below(key, above + path); });
}

}  // namespace

bool is_setting(const std::string& key) {
  return !is_any_below(key, {"name", "seed", "results", "plugins", "dataset.test_path"});
}

bool changes_results(const std::string& key) {
  return is_setting(key) && !is_any_below(key, kOutsideHash) && !is_any_below(key, kHookKeys, "eval.");
}

std::vector<std::pair<std::string, std::string>> own_settings(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& text : record.overrides) {
    const size_t equals = text.find('=');
    const size_t begin = text.find_first_not_of('+');
    if (equals == std::string::npos || begin >= equals || text[begin] == '~') continue;
    const std::string key = text.substr(begin, equals - begin);
    if (!changes_results(key)) continue;
    std::erase_if(settings, [&](const auto& setting) { return setting.first == key; });
    settings.emplace_back(key, text.substr(equals + 1));
  }
  return settings;
}

}  // namespace eggroll
