// Settings that a run's folder never decides, because somebody else may have written it.
#ifndef EGGROLL_TRAIN_RECEIVED_H
#define EGGROLL_TRAIN_RECEIVED_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// What is loaded, what is started and where results go: a key, or a section with all that is below it. They come from
// the user's own command line and configuration files. A command that takes settings from a run's folder leaves these
// there.
extern const std::vector<std::string> kMachineKeys;

// The values of kMachineKeys in a composed configuration, to be compared.
nlohmann::ordered_json machine_settings(const ConfigNode& config);

// Whether the override sets what is at this path or below it. Throws Error if the text is no override.
bool sets(const std::string& override_text, const std::string& path);

// The overrides of a run's record.
struct ReceivedOverrides {
  std::vector<std::string> kept;
  std::vector<std::string> left;  // they set kMachineKeys
  // Those of `kept` that may set kMachineKeys too: a map around one, or a group whose name has a slash. Only a
  // composed configuration tells.
  std::vector<std::string> unclear;
};
// Throws Error if a text is no override.
ReceivedOverrides sort_received(const std::vector<std::string>& overrides);

}  // namespace eggroll

#endif
