// Changes from the command line: a.b=c, +a.b=c, ~a.b.
#ifndef EGGROLL_CONFIG_OVERRIDE_H
#define EGGROLL_CONFIG_OVERRIDE_H

#include <string>

#include "config/tree.h"

namespace eggroll {

struct Override {
  enum class Action { kSet, kAdd, kDelete };
  Action action;
  std::string key;    // dotted, or a group, whose names may hold slashes
  std::string value;  // as written; empty for kDelete
  Source source;      // "command line 'a.b=c'"
};

// Throws Error where the text has none of the three forms.
Override parse_override(const std::string& text);

// kSet: the key must exist and keep its kind as overlay() says; in a map given as value each key alike. kAdd: it must
// not exist; maps on the way are made. kDelete: it must exist. Lists are set whole.
void apply_override(ConfigNode& root, const Override& change);

}  // namespace eggroll

#endif
