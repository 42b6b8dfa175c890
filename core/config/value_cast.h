// int(), float(), str() and bool() of a value in an override.
#ifndef EGGROLL_CONFIG_VALUE_CAST_H
#define EGGROLL_CONFIG_VALUE_CAST_H

#include <string>

#include "config/tree.h"

namespace eggroll {

// to: the function's name. Of a list or a map, every value in it. Throws Error at source.
ConfigNode cast(const std::string& to, const ConfigNode& node, const Source& source);

}  // namespace eggroll

#endif
