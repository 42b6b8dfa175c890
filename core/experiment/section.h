// Reading a section below `sweep`.
#ifndef EGGROLL_EXPERIMENT_SECTION_H
#define EGGROLL_EXPERIMENT_SECTION_H

#include <string>
#include <vector>

#include "config/settings_block.h"

namespace eggroll {

// Returns body(Settings). Errors get the places of their settings. keys: all that the section may have. nested: those
// of them that body does not read. Throws Error with file and line.
template <class Body>
auto read_section(const ConfigNode& config, const std::string& section, const std::vector<std::string>& keys,
                  const std::vector<std::string>& nested, Body&& body) {
  const SettingsBlock block(config, section, nested);
  require_only(config.at(section), keys);
  return block.read(body);
}

}  // namespace eggroll

#endif
