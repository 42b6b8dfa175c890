// The names that plugins give to parameters, values, tables, slots and scalars.
#ifndef EGGROLL_PROGRAM_NAMES_H
#define EGGROLL_PROGRAM_NAMES_H

#include <string>

namespace eggroll {

// What is wrong with the name, as a sentence's beginning; empty if nothing is. Valid are 1 to 200 characters of a-z,
// 0-9, _ and ., so that a name can stand in a file, a table and a terminal as it is.
std::string fault_of_name(const std::string& name);

}  // namespace eggroll

#endif
