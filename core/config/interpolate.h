// ${a.b}: the value at another path; ${env:NAME}: a variable of the environment; $${ is a plain "${".
#ifndef EGGROLL_CONFIG_INTERPOLATE_H
#define EGGROLL_CONFIG_INTERPOLATE_H

#include "config/tree.h"

namespace eggroll {

// True for text that holds a ${...}.
bool is_interpolated(const ConfigNode& node);

// The tree with every ${...} replaced, in quoted text too. Paths count from the root. A ${...} that is the whole text
// takes the value with its kind, lists and maps included; within text it becomes text. ${env:NAME} is read as if its
// characters stood there without quotes. A replaced value keeps its own source. Throws Error on a path or variable that
// does not exist, on a value that refers to itself, and on a null, a list or a map within text.
ConfigNode interpolate(const ConfigNode& root);

}  // namespace eggroll

#endif
