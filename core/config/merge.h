// Lays one tree of values over another, and refuses changes of type.
#ifndef EGGROLL_CONFIG_MERGE_H
#define EGGROLL_CONFIG_MERGE_H

#include <string>

#include "config/tree.h"

namespace eggroll {

// Merges maps key by key. Any other value of top, a list too, replaces that of base. A value keeps its kind, with these
// exceptions: a number may replace a number (see in_kind_of()); anything may replace null; null may replace a value
// that was null before; and ${...}, whose kind is not known yet, may replace anything but a map, as anything but a map
// may replace it. All else throws Error. path: that of base, for messages.
void overlay(ConfigNode& base, const ConfigNode& top, const std::string& path);

// The value in the kind of base, so that a number has one form: an integer in place of a real becomes a real, and a
// real without a fraction in place of anything else becomes an integer.
ConfigNode in_kind_of(const ConfigNode& base, const ConfigNode& value);

// The map at that path. The map and maps on the way to it are made if there is nothing or null. Throws Error if
// something else is there. source: that of the change, for messages and for new maps.
ConfigNode& map_at(ConfigNode& root, const std::string& path, const Source& source);

}  // namespace eggroll

#endif
