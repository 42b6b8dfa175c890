// Settings that a run's folder never decides, because somebody else may have written it.
#ifndef EGGROLL_TRAIN_RECEIVED_H
#define EGGROLL_TRAIN_RECEIVED_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// The settings that say what is loaded, what is started and where results go. An entry is one setting or a section,
// with all that is in it. Only the user's own command line and configuration files set them: a command that takes
// settings from a run's folder does not take these.
extern const std::vector<std::string> kMachineKeys;

// The values of kMachineKeys in a composed configuration, to be compared.
nlohmann::ordered_json machine_settings(const ConfigNode& config);

// Whether the override sets what is at this path or below it. Throws Error if the text is no override.
bool sets(const std::string& override_text, const std::string& path);

// The overrides of a run's record.
struct ReceivedOverrides {
  std::vector<std::string> kept;
  std::vector<std::string> left;  // they set kMachineKeys
  // The overrides in `kept` that may set kMachineKeys too: they set a section around such a key, or their key has a
  // slash, as the names of some groups do. Only the composed configuration shows whether they set one.
  std::vector<std::string> unclear;
};
// Throws Error if a text is no override.
ReceivedOverrides sort_received(const std::vector<std::string>& overrides);

}  // namespace eggroll

#endif
