#include "config/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "config/value_text.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

constexpr size_t kMostChoices = 100000;
const std::vector<std::string> kFunctions = {"choice", "range", "glob", "interval", "int", "tag"};

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

OverrideValue range(const std::string& text, const Source& source) {
  constexpr std::array<const char*, 3> kNames = {"start", "stop", "step"};
  std::vector<std::string> given = split_elements(text);
  if (given.size() > 3) throw wrong(source, "range() has more than start, stop and step; remove the rest");
  if (given.size() == 1) given.insert(given.begin(), "0");  // a number alone is where the range stops
  if (given.size() == 2) given.emplace_back("1");
  bool real = false;
  int digits = 0;
  double numbers[3];
  for (size_t i = 0; i < 3; ++i) {
    const ConfigNode number = plain_scalar(given[i], source);
    if (number.kind() != Kind::kInteger && number.kind() != Kind::kReal) {
      throw wrong(source,
                  fmt::format("range() has {} as its {}, expected a number; write range(stop), range(start, stop) "
                              "or range(start, stop, step)",
                              given[i].empty() ? "nothing" : shown_value(number), kNames[i]));
    }
    real = real || number.kind() == Kind::kReal;
    digits = std::max(digits, number.kind() == Kind::kReal ? decimals(given[i]) : 0);
    numbers[i] = number.kind() == Kind::kReal ? number.real() : static_cast<double>(number.integer());
    if (std::abs(numbers[i]) > 0x1p53) {
      throw wrong(source, fmt::format("range() has {} as its {}, expected at most 2^53; use smaller numbers", given[i],
                                      kNames[i]));
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

// A function and the text in its parentheses; no function if the text is no call.
struct Call {
  std::string function;
  std::string inside;
};

Call call_in(const std::string& text, const Source& source) {
  if (!is_call(text)) return {"", text};
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
  const std::string inside = trimmed(text.substr(function.size() + 1, text.size() - function.size() - 2));
  if (inside.empty()) throw wrong(source, fmt::format("{}() is empty, expected a value in it; give one", function));
  return {function, inside};
}

// interval(low, high).
SearchInterval ends_of(const std::string& text, const Source& source) {
  std::vector<double> ends;
  for (const std::string& element : split_elements(text)) {
    if (ends.size() == 2) throw wrong(source, "interval() has more than two numbers; remove the rest");
    const ConfigNode number = plain_scalar(element, source);
    if (number.kind() != Kind::kInteger && number.kind() != Kind::kReal) {
      throw wrong(source, fmt::format("interval() has {} as its {}, expected a number; write interval(low, high)",
                                      shown_value(number), ends.empty() ? "start" : "end"));
    }
    ends.push_back(number.kind() == Kind::kReal ? number.real() : static_cast<double>(number.integer()));
  }
  if (ends.size() < 2 || !(ends[0] < ends[1]) || std::max(std::abs(ends[0]), std::abs(ends[1])) > 0x1p53) {
    throw wrong(source, fmt::format("the interval is ({}), expected two numbers of at most 2^53, the lower one first; "
                                    "write interval(low, high)",
                                    text));
  }
  return {ends[0], ends[1]};
}

// An interval, perhaps of integers, perhaps within tag(log, ...).
SearchInterval interval(Call call, const Source& source) {
  const std::string tag = call.function == "tag" ? call.inside : "";
  std::string tagged;
  if (!tag.empty()) {
    const std::vector<std::string> parts = split_elements(tag);
    if (parts.size() != 2 || parts[0] != "log") {
      throw wrong(
          source,
          fmt::format("the tag is ({}), expected log and an interval; write tag(log, interval(low, high))", tag));
    }
    tagged = parts[1];
    call = call_in(tagged, source);
  }
  const bool is_whole = call.function == "int";
  const std::string cast = call.inside;
  if (is_whole) call = call_in(cast, source);
  if (is_whole && call.function != "interval") {
    throw wrong(source, fmt::format("int() holds {}, expected an interval; write int(interval(low, high))", cast));
  }
  SearchInterval numbers;
  if (call.function == "interval") numbers = ends_of(call.inside, source);
  if (!tag.empty() && numbers.low <= 0.0) {
    throw wrong(source,
                fmt::format("tag(log, ...) holds {}, expected an interval above 0; write tag(log, interval(low, "
                            "high))",
                            tagged));
  }
  if (is_whole && (std::trunc(numbers.low) != numbers.low || std::trunc(numbers.high) != numbers.high)) {
    throw wrong(source, fmt::format("int() casts an interval from {} to {}, expected int() of one between integers; "
                                    "correct it",
                                    numbers.low, numbers.high));
  }
  numbers.whole = is_whole;
  numbers.logarithmic = !tag.empty();
  return numbers;
}

// Hydra reads a backslash before these as an escape. Here it is a character, so the text would be another one.
void refuse_escapes(const std::string& element, const Source& source) {
  if (element.empty() || std::string_view("\"'[{").find(element.front()) != std::string_view::npos) return;
  for (size_t at = element.find('\\'); at < element.size() - 1; at = element.find('\\', at + 1)) {
    if (std::string_view("\\()[]{}:=, \t'\"").find(element[at + 1]) != std::string_view::npos) {
      throw wrong(source, fmt::format("the backslash of {} is a character like any other; put the text in quotes, "
                                      "without backslashes",
                                      element));
    }
  }
}

OverrideValue choices_of(const std::vector<std::string>& elements, const Source& source) {
  OverrideValue all;
  for (const std::string& element : elements) {
    if (element.empty() && elements.size() > 1) {
      throw wrong(source, "there is nothing between two commas; remove one, or write '' or null");
    }
    const std::string function = call_in(element, source).function;
    if (function == "int" || function == "tag") {
      throw wrong(source,
                  fmt::format("{} stands in a list of values, expected values; write the value alone", element));
    }
    if (!function.empty()) {
      throw wrong(source, fmt::format("the sweep {} stands inside another one; write only one of them", element));
    }
    refuse_escapes(element, source);
    all.choices.push_back(parse_value(as_yaml(element), source));
  }
  all.is_sweep = elements.size() > 1;
  return all;
}

}  // namespace

OverrideValue parse_override_value(const std::string& text, const Source& source) {
  const std::vector<std::string> elements = split_elements(text);
  if (elements.size() > 1) return choices_of(elements, source);
  const Call call = call_in(elements.front(), source);
  if (call.function.empty()) return choices_of(elements, source);
  if (call.function == "range") return range(call.inside, source);
  if (call.function == "glob") return glob(call.inside, source);
  OverrideValue value;
  if (call.function == "choice") {
    value = choices_of(split_elements(call.inside), source);
  } else {
    value.interval = interval(call, source);
  }
  value.is_sweep = true;
  return value;
}

void require_values(const OverrideValue& value, const Source& source) {
  if (!value.interval) return;
  throw wrong(source,
              "an interval, expected values, because only a search draws from intervals; list them, or put it "
              "into sweep.search.params");
}

std::string several_values(const std::string& first) {
  return "several values, expected one; " + first +
         "write one of them, a list as [a, b], or text in quotes that the shell keeps: 'key=\"a, b\"'";
}

ConfigNode parse_element(const std::string& text, const Source& source) {
  OverrideValue value = parse_override_value(text, source);
  require_values(value, source);
  if (value.is_sweep) throw wrong(source, several_values());
  return std::move(value.choices.front());
}

}  // namespace eggroll
