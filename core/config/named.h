// A list from which a setting chooses by name.
#ifndef EGGROLL_CONFIG_NAMED_H
#define EGGROLL_CONFIG_NAMED_H

#include <cstddef>
#include <string>
#include <vector>

namespace eggroll {

// Function: what is chosen.
template <class Function>
struct Named {
  const char* name;
  Function* function;
};

template <class Function, size_t kCount>
std::vector<std::string> names_of(const Named<Function> (&list)[kCount]) {
  std::vector<std::string> names;
  for (const Named<Function>& each : list) names.emplace_back(each.name);
  return names;
}

}  // namespace eggroll

#endif
