// The value of an override, in the grammar that users of Hydra know.
#ifndef EGGROLL_CONFIG_VALUE_H
#define EGGROLL_CONFIG_VALUE_H

#include <optional>
#include <string>
#include <vector>

#include "config/tree.h"

namespace eggroll {

// Names of a group's options, as the shell matches files.
struct Glob {
  std::vector<std::string> patterns;
  std::vector<std::string> excluded;
};

// Numbers from low to high, both among them, of which a search draws.
struct SearchInterval {
  double low = 0.0;
  double high = 0.0;
  bool whole = false;        // integers alone
  bool logarithmic = false;  // equal ratios are equally likely; low is above 0
};

// What stands behind the = of an override:
//   value    one element, or a sweep
//   element  'text' or "text", [list], {map} as YAML reads them, but that a colon behind a map's key needs no blank;
//            int(x), float(x), str(x), bool(x); anything else whole as one plain scalar
//   sweep    element, element, ...   choice(element, ...)   range([start,] stop[, step])   glob(pattern[, exclude=...])
//            interval(low, high), int(interval(low, high)), and either within tag(log, ...); for a search alone
//   either   sort(values[, reverse=true])   shuffle(values): a list, a sweep, or elements, which are a sweep then;
//            value_order.h says in which order
// Commas within quotes, brackets and ${...} belong to the element. Outside of them a backslash takes one of \()[]{}:=,
// a blank or a tab literally, and the element is text; within '...' it does so with the quote that follows, and with
// backslashes before a quote. All other backslashes are characters like any. A cast of a list, a map or a sweep is one
// of every value in it, none of which may hold a ${...}; int cuts a real's fraction off. range stops before `stop`; its
// reals have the digits of its numbers.
struct OverrideValue {
  std::vector<ConfigNode> choices;  // of an element: itself
  bool is_sweep = false;
  std::optional<Glob> glob;                // then there are no choices
  std::optional<SearchInterval> interval;  // nor here
};

// Throws Error at source.
OverrideValue parse_override_value(const std::string& text, const Source& source);

// Error: the value is an interval, where values are expected.
void require_values(const OverrideValue& value, const Source& source);

// The values of `extend_list(element, ...)`, which appends each to a list; nothing for any other value, of which that
// function can be no part. Throws Error at source.
std::optional<ConfigNode::List> parse_extension(const std::string& text, const Source& source);

// The one element; a sweep is refused.
ConfigNode parse_element(const std::string& text, const Source& source);

}  // namespace eggroll

#endif
