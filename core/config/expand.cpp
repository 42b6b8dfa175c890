// Sweeps of the command line: from overrides with several values to lists of overrides with one each.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "config/compose.h"
#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

constexpr size_t kMostCombinations = 100000;

std::vector<std::string> matching(const ConfigSearch& search, const Override& change,
                                  const std::vector<std::string>& patterns) {
  if (!is_group(search, change.key)) {
    throw change.wrong(
        fmt::format("glob() chooses options of a group, and {} is no group; list the values", change.key));
  }
  const std::vector<std::string> names = option_names(search, change.key);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const bool matches = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
    if (matches) found.push_back(name);
  }
  if (!found.empty()) return found;
  throw change.wrong(fmt::format("glob() matches no option of {} (found: {}); correct the pattern", change.key,
                                 fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::string> each_value(const ConfigSearch& search, const std::string& text) {
  const Override change = parse_override(text);
  if (!change.value) return {text};
  const OverrideValue value = parse_override_value(*change.value, change.source);
  if (!value.is_sweep) return {text};
  require_values(value, change.source);
  std::vector<ConfigNode> choices = value.choices;
  if (!value.patterns.empty()) {
    for (const std::string& name : matching(search, change, value.patterns)) choices.push_back({name, change.source});
  }
  std::vector<std::string> values;
  for (const ConfigNode& choice : choices) values.push_back(to_line(choice));
  const std::string prefix = text.substr(0, text.find('=') + 1);
  for (std::string& one : values) one.insert(0, prefix);
  return values;
}

std::vector<std::vector<std::string>> expand_sweeps(const ConfigSearch& search,
                                                    const std::vector<std::string>& overrides) {
  std::vector<std::vector<std::string>> combinations = {{}};
  for (const std::string& text : overrides) {
    const std::vector<std::string> values = each_value(search, text);
    if (combinations.size() * values.size() > kMostCombinations) {
      throw setting_error(
          "", fmt::format("the sweeps have more than {} combinations; take fewer values", kMostCombinations));
    }
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& combination : combinations) {
      for (const std::string& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

}  // namespace eggroll
