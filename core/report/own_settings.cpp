#include "report/own_settings.h"

#include <algorithm>
#include <optional>

#include "config/host_settings.h"
#include "config/override.h"

namespace eggroll {
namespace {

// Nothing for a text that no command line takes, because a record may hold any text.
std::optional<Override> parsed(const std::string& text) try { return parse_override(text); } catch (const Error&) {
  return std::nullopt;
}

}  // namespace

bool is_setting(const std::string& key) {
  constexpr const char* kOthers[] = {"name", "seed", "results", "plugins", "dataset.test_path"};
  return std::ranges::none_of(kOthers, [&](const char* path) { return is_within(key, path); });
}

bool changes_results(const std::string& key) { return is_setting(key) && !is_outside_hash(key); }

std::vector<std::pair<std::string, std::string>> own_settings(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& text : record.overrides) {
    const std::optional<Override> change = parsed(text);
    if (!change || change->action == Override::Action::kDelete || !changes_results(change->key)) continue;
    std::erase_if(settings, [&](const auto& setting) { return setting.first == change->key; });
    settings.emplace_back(change->key, *change->value);
  }
  return settings;
}

}  // namespace eggroll
