// The orders of sort() and shuffle() in an override.
#ifndef EGGROLL_CONFIG_VALUE_ORDER_H
#define EGGROLL_CONFIG_VALUE_ORDER_H

#include "config/tree.h"

namespace eggroll {

// Numbers by size, or text by its bytes; equal ones keep their order. Throws Error at source for other values, for
// numbers beside text, and for ${...}, whose value is not known yet.
void sort_values(ConfigNode::List& values, bool reverse, const Source& source);

// By the sha256 of each value, written on one line. Nothing is left to chance: the same values come in the same order,
// however they were given, and a value more leaves the order of the others.
void shuffle_values(ConfigNode::List& values);

}  // namespace eggroll

#endif
