// ${a.b}: the value at another path; ${.b}: one beside it; ${env:NAME}: a variable of the environment; ${now:%Y-%m-%d}:
// the time; $${ is a plain "${".
#ifndef EGGROLL_CONFIG_INTERPOLATE_H
#define EGGROLL_CONFIG_INTERPOLATE_H

#include <ctime>

#include "config/tree.h"

namespace eggroll {

// True for text that holds a ${...}.
bool is_interpolated(const ConfigNode& node);

// The tree with every ${...} replaced, in quoted text too, from the inmost outwards. Paths count from the root, those
// that begin with a dot from the value's own place: one dot is the map or list it stands in, each further one a level
// higher. A ${...} that is the whole text takes the value with its kind, lists and maps included; within text it
// becomes text. ${env:NAME} is read as if its characters stood there without quotes, and ${env:NAME,x} as x where the
// variable is not set. ${now:FORM} is `now` in local time, as strftime writes it. A replaced value keeps its own
// source. Throws Error on a path or variable that does not exist, on a value that refers to itself, on a null, a list
// or a map within text, and where ${...} would bring more than a million values, a text of more than a million bytes or
// ten million bytes of text in all, or the result have more lists and maps within each other than kDeepestTree.
ConfigNode interpolate(const ConfigNode& root, std::time_t now);

}  // namespace eggroll

#endif
