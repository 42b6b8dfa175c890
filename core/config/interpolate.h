// ${a.b}: the value at another path from the root; ${env:NAME} or ${oc.env:NAME}: a variable of the environment; $${ is
// a plain "${".
#ifndef EGGROLL_CONFIG_INTERPOLATE_H
#define EGGROLL_CONFIG_INTERPOLATE_H

#include "config/tree.h"

namespace eggroll {

// True for text that holds a ${...}.
bool is_interpolated(const ConfigNode& node);

// Returns the tree with every ${...} replaced, in quoted text too.
//
// A ${...} that is the whole text takes the value with its kind, a list or a map too; within text it becomes text.
// ${env:NAME} is read as if the variable's characters stood there without quotes, and ${env:NAME,x} as x if the
// variable is not set. A replaced value keeps its own source.
//
// Throws Error for a path or variable that does not exist, a value that refers to itself, and a null, a list or a map
// within text. Throws Error too if ${...} would bring more than a million values, a text of more than a million bytes
// or ten million bytes of text in all, or if the result would be nested deeper than kDeepestTree.
ConfigNode interpolate(const ConfigNode& root);

}  // namespace eggroll

#endif
