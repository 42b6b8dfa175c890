// Laying one tree of values over another, without a change of type passing unseen.
#ifndef EGGROLL_CONFIG_MERGE_H
#define EGGROLL_CONFIG_MERGE_H

#include <string>

#include "config/tree.h"

namespace eggroll {

// Joins maps key by key; any other value of top, also a list, replaces base's. A value keeps its kind, with these
// exceptions: a number replaces a number (see in_kind_of()), anything replaces null, null replaces what was null
// before, and ${...}, whose kind is not known yet, replaces anything but a map and is replaced likewise. All else
// throws Error. path: base's, for messages.
void overlay(ConfigNode& base, const ConfigNode& top, const std::string& path);

// The value as it is known in base's place, so that one number has one form: an integer over a real becomes a real, and
// a real without a fraction over anything else an integer.
ConfigNode in_kind_of(const ConfigNode& base, const ConfigNode& value);

// The map at that path; it and maps on the way are made where there is nothing or null. Throws Error where something
// else is. source is that of the change, for messages and for what is made.
ConfigNode& map_at(ConfigNode& root, const std::string& path, const Source& source);

}  // namespace eggroll

#endif
