#include "config/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "config/interpolate.h"
#include "config/value_text.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

constexpr size_t kMostChoices = 100000;
constexpr int kDeepest = 20;  // functions within each other

const std::vector<std::string> kFunctions = {"int",   "float", "str",      "bool", "choice",
                                             "range", "glob",  "interval", "tag"};

struct Argument {
  std::string name;  // "" where it is given by its place
  std::string text;
};

std::vector<Argument> arguments_of(const std::string& function, const std::string& text,
                                   const std::vector<std::string>& names, const Source& source) {
  std::vector<Argument> arguments;
  for (const std::string& element : split_elements(text)) {
    const size_t word = word_length(element);
    Argument argument{"", element};
    if (word > 0 && word < element.size() && element[word] == '=') {
      argument = {element.substr(0, word), trimmed_value(element.substr(word + 1))};
      if (std::find(names.begin(), names.end(), argument.name) == names.end()) {
        throw wrong(source, fmt::format("{}() has no argument '{}'{}", function, argument.name,
                                        suggestion(argument.name, names)));
      }
    }
    const bool twice =
        !argument.name.empty() &&
        std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.name == argument.name; });
    if (twice) throw wrong(source, fmt::format("{}() has '{}' twice; remove one", function, argument.name));
    if (argument.name.empty() && !arguments.empty() && !arguments.back().name.empty()) {
      throw wrong(source, fmt::format("{}() has '{}' after a named argument; put it first, or name it", function,
                                      argument.text));
    }
    arguments.push_back(argument);
  }
  return arguments;
}

constexpr int kMostDecimals = 300;  // 10^300 is still a real

int decimals(const std::string& number) {
  const size_t exponent = std::min(number.find_first_of("eE"), number.size());
  const size_t dot = std::min(number.find('.'), exponent);
  const int behind = dot < exponent ? static_cast<int>(exponent - dot) - 1 : 0;
  int power = 0;
  if (exponent < number.size()) {
    const size_t digits = exponent + (number[exponent + 1] == '+' ? 2 : 1);
    std::from_chars(number.data() + digits, number.data() + number.size(), power);
  }
  return std::clamp(behind - std::clamp(power, -kMostDecimals, kMostDecimals), 0, kMostDecimals);
}

constexpr std::array<const char*, 3> kRangeNames = {"start", "stop", "step"};

// The texts of start, stop and step.
std::array<std::string, 3> given_to_range(const std::string& text, const Source& source) {
  const std::vector<std::string> names(kRangeNames.begin(), kRangeNames.end());
  const std::vector<Argument> arguments = arguments_of("range", text, names, source);
  std::array<std::string, 3> given = {"0", "", "1"};
  size_t placed = 0;
  for (const Argument& argument : arguments) placed += argument.name.empty() ? 1U : 0U;
  if (placed > 3) throw wrong(source, "range() has more than start, stop and step; remove the rest");
  bool set[3] = {};
  const auto give = [&](size_t which, const std::string& number) {
    if (set[which]) throw wrong(source, fmt::format("range() has '{}' twice; remove one", names[which]));
    set[which] = true;
    given[which] = number;
  };
  for (size_t i = placed; i < arguments.size(); ++i) {
    give(static_cast<size_t>(std::find(names.begin(), names.end(), arguments[i].name) - names.begin()),
         arguments[i].text);
  }
  // A number alone is where the range stops.
  const bool alone = placed == 1 && !set[1];
  for (size_t i = 0; i < placed; ++i) give(alone ? 1 : i, arguments[i].text);
  return given;
}

OverrideValue range(const std::string& text, const Source& source) {
  const std::array<std::string, 3> given = given_to_range(text, source);
  bool real = false;
  int digits = 0;
  double numbers[3];
  for (size_t i = 0; i < 3; ++i) {
    const ConfigNode number = plain_scalar(given[i], source);
    if (number.kind() != Kind::kInteger && number.kind() != Kind::kReal) {
      throw wrong(source,
                  fmt::format("range() has {} as its {}, expected a number; write range(stop), range(start, stop) "
                              "or range(start, stop, step)",
                              given[i].empty() ? "nothing" : shown_value(number), kRangeNames[i]));
    }
    real = real || number.kind() == Kind::kReal;
    digits = std::max(digits, number.kind() == Kind::kReal ? decimals(given[i]) : 0);
    numbers[i] = number.kind() == Kind::kReal ? number.real() : static_cast<double>(number.integer());
    if (std::abs(numbers[i]) > 0x1p53) {
      throw wrong(source, fmt::format("range() has {} as its {}, expected at most 2^53; use smaller numbers", given[i],
                                      kRangeNames[i]));
    }
  }
  const auto [start, stop, step] = numbers;
  if (step == 0.0) throw wrong(source, "range() has the step 0, expected a positive or negative one; correct it");
  OverrideValue value;
  value.is_sweep = true;
  const double scale = std::pow(10.0, digits);
  // Whole steps before `stop`, to within the last digit given.
  const double steps = std::ceil((stop - start) / step - (real ? 0.5 / (scale * std::abs(step)) : 0.0));
  if (!(steps > 0.0)) {
    throw wrong(source, fmt::format("range({}) has no values; correct its start, stop or step", text));
  }
  if (steps > static_cast<double>(kMostChoices)) {
    throw wrong(source, fmt::format("range({}) has more than {} values; take a larger step", text, kMostChoices));
  }
  for (int64_t i = 0; i < static_cast<int64_t>(steps); ++i) {
    const double number = start + static_cast<double>(i) * step;
    const bool has_digits = std::abs(number) * scale < 0x1p53;
    if (real) {
      value.choices.push_back({has_digits ? std::round(number * scale) / scale : number, source});
    } else {
      value.choices.push_back({static_cast<int64_t>(number), source});
    }
  }
  return value;
}

std::vector<std::string> patterns_of(const std::string& text, const Source& source) {
  const ConfigNode node = parse_value(as_yaml(text), source);
  ConfigNode::List elements = {node};
  if (node.kind() == Kind::kList) elements = node.list();
  std::vector<std::string> patterns;
  for (const ConfigNode& element : elements) {
    if (element.kind() != Kind::kText) {
      throw wrong(source, fmt::format("glob() has {} as a pattern, expected text such as a*; put it in quotes",
                                      shown_value(element)));
    }
    patterns.push_back(element.text());
  }
  return patterns;
}

OverrideValue glob(const std::string& text, const Source& source) {
  if (split_elements(text).size() > 1) {
    throw wrong(source, fmt::format("glob() has several arguments ({}), expected one pattern or a list of them such as "
                                    "[a*, b*]; correct it",
                                    text));
  }
  OverrideValue value;
  value.is_sweep = true;
  value.patterns = patterns_of(text, source);
  if (value.patterns.empty()) throw wrong(source, "glob() has no pattern, expected one such as glob(*)");
  return value;
}

OverrideValue interval(const std::string& text, const Source& source) {
  std::optional<double> ends[2];
  const std::vector<std::string> names = {"start", "end"};
  size_t placed = 0;
  for (const Argument& argument : arguments_of("interval", text, names, source)) {
    const size_t which = argument.name.empty() ? placed++ : argument.name == names[0] ? 0 : 1;
    if (which > 1) throw wrong(source, "interval() has more than two numbers; remove the rest");
    if (ends[which]) throw wrong(source, fmt::format("interval() has '{}' twice; remove one", names[which]));
    const ConfigNode number = plain_scalar(argument.text, source);
    if (number.kind() != Kind::kInteger && number.kind() != Kind::kReal) {
      throw wrong(source, fmt::format("interval() has {} as its {}, expected a number; write interval(low, high)",
                                      shown_value(number), names[which]));
    }
    ends[which] = number.kind() == Kind::kReal ? number.real() : static_cast<double>(number.integer());
  }
  if (!ends[0] || !ends[1] || !(*ends[0] < *ends[1]) || std::max(std::abs(*ends[0]), std::abs(*ends[1])) > 0x1p53) {
    throw wrong(source, fmt::format("the interval is ({}), expected two numbers of at most 2^53, the lower one first; "
                                    "write interval(low, high)",
                                    text));
  }
  OverrideValue value;
  value.is_sweep = true;
  value.interval = SearchInterval{*ends[0], *ends[1]};
  return value;
}

OverrideValue parse_elements(const std::vector<std::string>& elements, const Source& source, int depth);

// tag(log, interval): the one tag that a search knows.
OverrideValue tag(const std::string& inside, const Source& source, int depth) {
  const std::vector<std::string> parts = split_elements(inside);
  if (parts.size() != 2 || parts[0] != "log") {
    throw wrong(
        source,
        fmt::format("the tag is ({}), expected log and an interval; write tag(log, interval(low, high))", inside));
  }
  OverrideValue value = parse_elements({parts[1]}, source, depth + 1);
  if (!value.interval || value.interval->low <= 0.0) {
    throw wrong(source,
                fmt::format("tag(log, ...) holds {}, expected an interval above 0; write tag(log, interval(low, "
                            "high))",
                            parts[1]));
  }
  value.interval->logarithmic = true;
  return value;
}

OverrideValue cast_interval(const std::string& function, OverrideValue value, const Source& source) {
  const SearchInterval& numbers = *value.interval;
  const bool has_ends = std::trunc(numbers.low) == numbers.low && std::trunc(numbers.high) == numbers.high;
  if (function == "float" && !numbers.whole) return value;
  if (function != "int" || !has_ends) {
    throw wrong(source, fmt::format("{}() casts an interval from {} to {}, expected int() of one between integers; "
                                    "correct it",
                                    function, numbers.low, numbers.high));
  }
  value.interval->whole = true;
  return value;
}

ConfigNode cast(const std::string& to, const ConfigNode& node, const Source& source) {
  const Kind kind = node.kind();
  if (is_interpolated(node)) {
    throw wrong(
        source,
        fmt::format(
            "{}() casts {}, expected a value without ${{...}}, because casts are applied first; remove the cast", to,
            shown_value(node)));
  }
  // Text is cast by what it would be without its quotes.
  if (kind == Kind::kText && to != "str") {
    const ConfigNode plain = plain_scalar(node.text(), source);
    if (plain.kind() != Kind::kText) return cast(to, plain, source);
  }
  const bool is_scalar = kind != Kind::kNull && kind != Kind::kList && kind != Kind::kMap;
  if (to == "str" && is_scalar) return {scalar_text(node), source};
  if (to == "int") {
    if (kind == Kind::kInteger) return node;
    if (kind == Kind::kBoolean) return {int64_t{node.boolean()}, source};
    const bool fits = kind == Kind::kReal && node.real() >= -0x1p63 && node.real() < 0x1p63;
    if (fits) return {static_cast<int64_t>(node.real()), source};
  }
  if (to == "float") {
    if (kind == Kind::kReal) return node;
    if (kind == Kind::kInteger) return {static_cast<double>(node.integer()), source};
    if (kind == Kind::kBoolean) return {node.boolean() ? 1.0 : 0.0, source};
  }
  if (to == "bool") {
    if (kind == Kind::kBoolean) return node;
    if (kind == Kind::kInteger) return {node.integer() != 0, source};
    if (kind == Kind::kReal) return {node.real() != 0.0, source};
  }
  throw wrong(source, fmt::format("{0}() casts {1}, expected one value that {0}() can convert; correct it", to,
                                  shown_value(node)));
}

OverrideValue call(const std::string& text, const Source& source, int depth) {
  if (depth == kDeepest) throw wrong(source, "too many nested functions; remove some");
  const std::string function = text.substr(0, word_length(text));
  if (std::find(kFunctions.begin(), kFunctions.end(), function) == kFunctions.end()) {
    throw wrong(source, fmt::format("unknown function '{}', expected one of {}; correct it, or put text in quotes",
                                    function, fmt::join(kFunctions, ", ")));
  }
  std::optional<size_t> closed;
  element_length(text, &closed);
  if (!closed) throw wrong(source, fmt::format("the parenthesis of {}( is not closed; add the )", function));
  if (*closed != text.size()) {
    throw wrong(source, fmt::format("'{}' follows {}; remove it, or put text in quotes", trimmed(text.substr(*closed)),
                                    text.substr(0, *closed)));
  }
  const std::string inside = trimmed_value(text.substr(function.size() + 1, text.size() - function.size() - 2));
  if (inside.empty()) throw wrong(source, fmt::format("{}() is empty, expected a value in it; give one", function));
  if (function == "range") return range(inside, source);
  if (function == "glob") return glob(inside, source);
  if (function == "interval") return interval(inside, source);
  if (function == "tag") return tag(inside, source, depth);
  OverrideValue value = parse_elements(split_elements(inside), source, depth + 1);
  if (function == "choice") {
    require_values(value, source);
    value.is_sweep = true;
    return value;
  }
  if (value.interval) return cast_interval(function, std::move(value), source);
  if (!value.patterns.empty()) {
    throw wrong(source, fmt::format("{}() casts a glob(), expected values; remove the cast", function));
  }
  for (ConfigNode& choice : value.choices) choice = cast(function, choice, source);
  return value;
}

OverrideValue parse_one(const std::string& text, const Source& source, int depth) {
  if (is_call(text)) return call(text, source, depth);
  OverrideValue value;
  value.choices.push_back(parse_value(as_yaml(text), source));
  return value;
}

OverrideValue parse_elements(const std::vector<std::string>& elements, const Source& source, int depth) {
  if (elements.size() == 1) return parse_one(elements.front(), source, depth);
  OverrideValue all;
  all.is_sweep = true;
  for (const std::string& element : elements) {
    if (element.empty()) throw wrong(source, "there is nothing between two commas; remove one, or write '' or null");
    OverrideValue one = parse_one(element, source, depth);
    if (one.is_sweep) {
      throw wrong(source, fmt::format("the sweep {} stands inside another one; write only one of them", element));
    }
    all.choices.push_back(std::move(one.choices.front()));
  }
  return all;
}

}  // namespace

OverrideValue parse_override_value(const std::string& text, const Source& source) {
  return parse_elements(split_elements(text), source, 0);
}

void require_values(const OverrideValue& value, const Source& source) {
  if (!value.interval) return;
  throw wrong(source,
              "an interval, expected values, because only a search draws from intervals; list them, or put it "
              "into sweep.search.params");
}

ConfigNode parse_element(const std::string& text, const Source& source) {
  OverrideValue value = parse_override_value(text, source);
  require_values(value, source);
  if (value.is_sweep) {
    throw wrong(source,
                "several values, expected one; write a list as [a, b], or put text in quotes that the shell keeps: "
                "'key=\"a, b\"'");
  }
  return std::move(value.choices.front());
}

}  // namespace eggroll
