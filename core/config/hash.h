// A configuration as JSON, and the hash that names it.
#ifndef EGGROLL_CONFIG_HASH_H
#define EGGROLL_CONFIG_HASH_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

nlohmann::ordered_json to_json(const ConfigNode& node);

// sha256, 64 hex digits, of the JSON without spaces, keys sorted at every level, without these top-level keys. Order of
// keys, comments and sources do not count; 1 and 1.0 differ.
std::string config_hash(const ConfigNode& node, const std::vector<std::string>& excluded_top_level_keys);
// The same of a configuration that is JSON already.
std::string json_hash(nlohmann::json config, const std::vector<std::string>& excluded_top_level_keys);

}  // namespace eggroll

#endif
