#include "train/received.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/hash.h"
#include "config/override.h"

namespace eggroll {

const std::vector<std::string> kMachineKeys = {
    "eval.hook", "eval.hook_sample", "eval.hook_seconds", "launcher", "plugins", "processes", "results"};

namespace {

bool is_unclear(const std::string& key) {
  return key.find('/') != std::string::npos || std::any_of(kMachineKeys.begin(), kMachineKeys.end(),
                                                           [&](const std::string& own) { return is_within(own, key); });
}

}  // namespace

nlohmann::ordered_json machine_settings(const ConfigNode& config) {
  nlohmann::ordered_json values;
  for (const std::string& key : kMachineKeys) {
    const ConfigNode* node = config.find(key);
    values[key] = node != nullptr ? to_json(*node) : nlohmann::ordered_json();
  }
  return values;
}

bool sets(const std::string& override_text, const std::string& path) {
  return is_within(parse_override(override_text).key, path);
}

ReceivedOverrides sort_received(const std::vector<std::string>& overrides) {
  ReceivedOverrides received;
  for (const std::string& text : overrides) {
    const std::string key = parse_override(text).key;
    if (std::any_of(kMachineKeys.begin(), kMachineKeys.end(),
                    [&](const std::string& own) { return is_within(key, own); })) {
      received.left.push_back(text);
      continue;
    }
    received.kept.push_back(text);
    if (is_unclear(key)) received.unclear.push_back(text);
  }
  return received;
}

}  // namespace eggroll
