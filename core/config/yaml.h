// YAML 1.2 (core schema) to a ConfigNode and back. Anchors, aliases, merge keys and tags are refused: ${...} serves.
#ifndef EGGROLL_CONFIG_YAML_H
#define EGGROLL_CONFIG_YAML_H

#include <string>

#include "config/tree.h"

namespace eggroll {

// One document; an empty one is null. file is the name in sources and errors. ${...} stays as it is. Throws Error with
// file:line for what is refused (a key given twice, an integer beyond 64 bits, a real that is not finite, text that is
// not UTF-8, what passes the limits of tree.h), and with file:line:column for text that is not YAML.
ConfigNode parse_yaml(const std::string& text, const std::string& file);

// One value on one line: quoted text, [list] or {map} as YAML reads them, anything else whole as one plain scalar.
ConfigNode parse_value(const std::string& text, const Source& source);

// A scalar without quotes: null, true or false, integer, real, else text.
ConfigNode plain_scalar(const std::string& text, const Source& source);

// parse_yaml(to_yaml(x)) == x, and readers of YAML 1.1 find the same values and kinds: 1.0e-08, "no", "1_000". Ends
// with a newline. with_sources: each value is followed by the place where it was written.
std::string to_yaml(const ConfigNode& node, bool with_sources = false);

// parse_value(to_line(x)) == x, whatever x holds.
std::string to_line(const ConfigNode& node);

}  // namespace eggroll

#endif
