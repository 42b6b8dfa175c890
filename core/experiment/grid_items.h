// Lists and overrides as a grid in YAML holds them.
#ifndef EGGROLL_EXPERIMENT_GRID_ITEMS_H
#define EGGROLL_EXPERIMENT_GRID_ITEMS_H

#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// The list's items. what: its name, for messages. Throws Error if it is no list or has none, and if a comma that
// no quotes hold splits an override.
const std::vector<ConfigNode>& list_in(const ConfigNode& node, const char* what);

// The override that the node holds as text.
const std::string& text_in(const ConfigNode& node, const char* what);

// Throws Error at source if runs may not differ in this key.
void require_axis(const std::string& key, const Source& source);

}  // namespace eggroll

#endif
