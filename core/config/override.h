// Changes from the command line: a.b=c, +a.b=c, ++a.b=c, ~a.b, ~a.b=c.
#ifndef EGGROLL_CONFIG_OVERRIDE_H
#define EGGROLL_CONFIG_OVERRIDE_H

#include <optional>
#include <string>

#include "config/tree.h"

namespace eggroll {

struct Override {
  enum class Action { kSet, kAdd, kForce, kDelete };
  Action action;
  std::string key;                   // dotted, with indices in lists; or a group, whose names may hold slashes
  std::optional<std::string> value;  // as written; a kDelete may have none
  Source source;                     // "command line 'a.b=c'"

  Error wrong(const std::string& sentence) const;  // the sentence after the source, with the key
};

// Throws Error if the text has none of these forms.
Override parse_override(const std::string& text);

// kSet: the key must exist and keep its kind as overlay() says; if the value is a map, so must each of its keys. kAdd:
// the key must not exist, and in a list it must be the next index; maps on the way to it are made. kForce: sets or
// adds, the keys of a map too, and may change the kind; a real without a fraction in place of an integer becomes an
// integer. kDelete: the key must exist and, if a value is given, have that value.
void apply_override(ConfigNode& root, const Override& change);

}  // namespace eggroll

#endif
