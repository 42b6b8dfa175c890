#include "config/hash.h"

#include "system/files.h"

namespace eggroll {

nlohmann::ordered_json to_json(const ConfigNode& node) {
  switch (node.kind()) {
    case ConfigNode::Kind::kNull:
      break;
    case ConfigNode::Kind::kBoolean:
      return node.boolean();
    case ConfigNode::Kind::kInteger:
      return node.integer();
    case ConfigNode::Kind::kReal:
      return node.real();
    case ConfigNode::Kind::kText:
      return node.text();
    case ConfigNode::Kind::kList: {
      nlohmann::ordered_json json = nlohmann::ordered_json::array();
      for (const ConfigNode& element : node.list()) json.push_back(to_json(element));
      return json;
    }
    case ConfigNode::Kind::kMap: {
      // operator[] would search all members for each key.
      nlohmann::ordered_json::object_t members;
      for (const ConfigNode::Entry& entry : node.map()) members.push_back({entry.key, to_json(entry.value)});
      return members;
    }
  }
  return nullptr;
}

std::string json_hash(nlohmann::json config, const std::vector<std::string>& excluded_top_level_keys) {
  for (const std::string& key : excluded_top_level_keys) config.erase(key);
  return sha256_hex(config.dump());
}

}  // namespace eggroll
