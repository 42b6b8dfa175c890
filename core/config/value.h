// The value of an override, in a part of Hydra's grammar.
#ifndef EGGROLL_CONFIG_VALUE_H
#define EGGROLL_CONFIG_VALUE_H

#include <optional>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// An interval from low to high, both included, from which a search draws numbers.
struct SearchInterval {
  double low = 0.0;
  double high = 0.0;
  bool whole = false;        // integers alone
  bool logarithmic = false;  // equal ratios are equally likely; low is above 0
};

// The text after the = of an override:
//   value    one element, or a sweep
//   element  'text' or "text", [list], {map} as YAML reads them, but a colon after a map's key needs no blank;
//            anything else whole as one plain scalar
//   sweep    element, element, ...   choice(element, ...)   range([start,] stop[, step])   glob(pattern or [list])
//            interval(low, high), int(interval(low, high)), and either within tag(log, ...); for a search alone
// Commas within quotes, brackets and ${...} belong to the element. range stops before `stop`; its reals have the digits
// of its numbers.
struct OverrideValue {
  std::vector<ConfigNode> choices;  // of an element: itself
  bool is_sweep = false;
  // The patterns of glob() for names of a group's options, as the shell matches files. There are then no choices.
  std::vector<std::string> patterns;
  std::optional<SearchInterval> interval;  // there are then no choices either
};

// Throws Error at source.
OverrideValue parse_override_value(const std::string& text, const Source& source);

// Throws Error if the value is an interval, where values are expected.
void require_values(const OverrideValue& value, const Source& source);

// The sentence for several values where one is expected; its cures begin with `first`.
std::string several_values(const std::string& first = "");

// Returns the one element; throws Error for a sweep.
ConfigNode parse_element(const std::string& text, const Source& source);

}  // namespace eggroll

#endif
