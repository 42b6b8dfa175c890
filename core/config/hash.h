// A configuration as JSON, and the hash that names it.
#ifndef EGGROLL_CONFIG_HASH_H
#define EGGROLL_CONFIG_HASH_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

nlohmann::ordered_json to_json(const ConfigNode& node);

// sha256, as 64 hex digits, of a configuration as JSON: without spaces, with the keys sorted at every level, and
// without these top-level keys. The order of keys does not matter; 1 and 1.0 differ.
std::string json_hash(nlohmann::json config, const std::vector<std::string>& excluded_top_level_keys);

}  // namespace eggroll

#endif
