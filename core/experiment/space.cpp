#include "experiment/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "config/override.h"
#include "eggroll/error.h"
#include "experiment/grid_items.h"

namespace eggroll {
namespace {

constexpr size_t kMostParams = 64;

// Libraries may round the last digit of a logarithm differently, but four digits stay the same.
double with_four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

std::string number_at(const SearchInterval& numbers, double u) {
  const double low = numbers.low - (numbers.whole ? 0.5 : 0.0);
  const double high = numbers.high + (numbers.whole ? 0.5 : 0.0);
  const double value = numbers.logarithmic ? low * std::exp(u * std::log(high / low)) : low + u * (high - low);
  const double rounded = numbers.whole ? std::round(value) : with_four_digits(value);
  const double inside = std::clamp(rounded, numbers.low, numbers.high);
  return numbers.whole ? fmt::format("{}", static_cast<int64_t>(inside)) : real_text(inside);
}

bool are_ascending(const std::vector<ConfigNode>& values) {
  const auto number = [](const ConfigNode& value) {
    return value.kind() == ConfigNode::Kind::kReal ? value.real() : static_cast<double>(value.integer());
  };
  const auto is_number = [](const ConfigNode& value) {
    return value.kind() == ConfigNode::Kind::kReal || value.kind() == ConfigNode::Kind::kInteger;
  };
  return std::all_of(values.begin(), values.end(), is_number) &&
         std::is_sorted(values.begin(), values.end(),
                        [&](const ConfigNode& a, const ConfigNode& b) { return number(a) < number(b); });
}

// Two choices with one value would make one trial twice.
void require_different(const std::vector<ConfigNode>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (is_same_value(values[i], values[j])) {
        throw Error(fmt::format("{} is there twice; remove one", shown_value(values[i])));
      }
    }
  }
}

// A sampler needs ends that differ in four digits and whose quotient is a number.
void require_room(const SearchInterval& numbers) {
  if (numbers.logarithmic && !std::isfinite(numbers.high / numbers.low)) {
    throw Error("the quotient of the interval's ends is no number; take a larger low or a smaller high");
  }
  if (!numbers.whole && with_four_digits(numbers.low) == with_four_digits(numbers.high)) {
    throw Error("the interval's ends are the same in four digits, the most that a search tells apart; widen it");
  }
}

SearchParam read_param(const ConfigNode& item, const std::string& text, const ConfigSearch& search) try {
  const Override read = parse_override(text);
  if (read.action == Override::Action::kDelete) throw Error(fmt::format("'{}' deletes, expected key=values", text));
  SearchParam param;
  param.key = read.key;
  param.prefix = text.substr(0, text.find('=') + 1);
  param.text = text;
  const OverrideValue value = parse_override_value(*read.value, read.source);
  param.interval = value.interval;
  param.ordered = param.interval || (value.patterns.empty() && are_ascending(value.choices));
  if (param.interval) {
    require_room(*param.interval);
    return param;
  }
  require_different(value.choices);
  param.choices = each_value(search, text);
  if (param.choices.size() < 2) {
    throw Error(fmt::format("'{}' has one value, expected several or an interval; set it outside the search", text));
  }
  return param;
} catch (const Error& error) {
  throw wrong(item.source(), error.what());
}

// Whether the one key lies within the other's value. A key below a group's name is no part of the group's choice.
bool are_nested(const std::string& a, const std::string& b, const ConfigSearch& search) {
  return (a.starts_with(b + ".") && !is_group(search, b)) || (b.starts_with(a + ".") && !is_group(search, a));
}

}  // namespace

std::string SearchParam::at(double u) const {
  return interval ? prefix + number_at(*interval, u) : choices[choice_at(u)];
}

size_t SearchParam::choice_at(double u) const {
  return std::min(static_cast<size_t>(u * static_cast<double>(choices.size())), choices.size() - 1);
}

std::vector<SearchParam> read_params(const ConfigNode& items, const ConfigSearch& search, CommandLineValues& chosen) {
  std::vector<SearchParam> params;
  for (const ConfigNode& item : list_in(items, "sweep.search.params")) {
    SearchParam param = read_param(item, text_in(item, "a setting of a search"), search);
    require_axis(param.key, item.source());
    for (const SearchParam& other : params) {
      if (other.key == param.key) throw wrong(item.source(), fmt::format("{} is given twice; remove one", param.key));
      if (!are_nested(other.key, param.key, search)) continue;
      throw wrong(item.source(),
                  fmt::format("{} and {} are varied, and one is a part of the other; keep one", other.key, param.key));
    }
    if (chosen.fixes(param.key, item.source(), item.text())) continue;
    params.push_back(std::move(param));
  }
  if (params.empty()) {
    throw wrong(items.source(), "the command line sets all that the search varies; leave one of these to the search");
  }
  if (params.size() > kMostParams) {
    throw wrong(items.source(),
                fmt::format("the search varies {} settings, expected at most {}", params.size(), kMostParams));
  }
  return params;
}

GridPoint point_at(const std::vector<SearchParam>& params, const std::vector<double>& coordinates) {
  GridPoint point;
  for (size_t i = 0; i < params.size(); ++i) point.push_back({params[i].key, {params[i].at(coordinates[i])}});
  return point;
}

std::string text_at(const std::vector<SearchParam>& params, const std::vector<double>& coordinates) {
  std::vector<std::string> overrides;
  for (const AxisValue& value : point_at(params, coordinates)) overrides.push_back(value.overrides[0]);
  return fmt::format("{}", fmt::join(overrides, " "));
}

}  // namespace eggroll
