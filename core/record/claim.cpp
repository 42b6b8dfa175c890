#include "record/claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// One object of a claim, read strictly: every key is of its kind, and none is left unread.
class Reader {
 public:
  Reader(const ordered_json& json, std::string what) : json_(json), what_(std::move(what)) {
    if (!json.is_object()) throw Error(fmt::format("{} is {}, expected keys with values", what_, json.dump()));
  }

  const std::string& what() const { return what_; }
  bool has(const char* key) const { return json_.contains(key); }

  const ordered_json& any(const char* key, const char* expected) {
    known_.emplace_back(key);
    if (!has(key)) throw Error(fmt::format("{} has no {}, expected {}; add it", what_, key, expected));
    return json_.at(key);
  }

  std::string text(const char* key, const char* expected) {
    const ordered_json& value = any(key, expected);
    if (!value.is_string() || value.get<std::string>().empty()) wrong(key, value, expected);
    return value;
  }

  double number(const char* key, double low, double high, const char* expected) {
    const ordered_json& value = any(key, expected);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) wrong(key, value, expected);
    return value;
  }

  bool truth(const char* key) {
    const ordered_json& value = any(key, "true or false");
    if (!value.is_boolean()) wrong(key, value, "true or false");
    return value;
  }

  std::string axis_value(const char* key) {
    const ordered_json& value = any(key, "a value of its axis");
    if (value.is_array() || (value.is_object() && value.empty())) wrong(key, value, "a value of its axis");
    return axis_text(value);
  }

  Expectation expectation(const std::vector<std::string>& names) {
    const std::string expected = fmt::format("one of: {}", fmt::join(names, ", "));
    const std::string name = text("expect", expected.c_str());
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(fmt::format("expect of {} is '{}', expected {}{}", what_, name, expected, near_name(name, names)));
    }
    return static_cast<Expectation>(found - names.begin());
  }

  // Must be called last. also: keys that are known though nobody asked for them.
  void finish(std::vector<std::string> also = {}) {
    known_.insert(known_.end(), also.begin(), also.end());
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        throw Error(fmt::format("{} has the unknown key '{}'{}", what_, key, suggestion(key, known_)));
      }
    }
  }

 private:
  [[noreturn]] void wrong(const char* key, const ordered_json& value, const char* expected) const {
    throw Error(fmt::format("{} of {} is {}, expected {}", key, what_, value.dump(), expected));
  }

  const ordered_json& json_;
  std::string what_;
  std::vector<std::string> known_;
};

constexpr double kHuge = 1e300;
constexpr const char* kWithin = "a number above 0, half the width of the range that counts as met";

double within_of(Reader& claim) { return claim.number("within", 1e-300, kHuge, kWithin); }

Comparison comparison_of(Reader& claim, const ordered_json& json) {
  Reader compare(json, "compare of " + claim.what());
  Comparison test;
  test.axis = compare.text("axis", "the name of an axis");
  test.value = compare.axis_value("value");
  test.with = compare.axis_value("with");
  compare.finish();
  if (same_axis_value(test.value, test.with)) {
    throw Error(
        fmt::format("{} compares {} with itself, expected two values of {}", claim.what(), test.value, test.axis));
  }
  test.expect = claim.expectation({"lower", "higher", "equal"});
  if (test.expect == Expectation::kEqual) test.within = within_of(claim);
  return test;
}

Slope slope_of(Reader& claim, const ordered_json& json) {
  Reader slope(json, "slope of " + claim.what());
  Slope test;
  test.axis = slope.text("axis", "the name of an axis of numbers");
  slope.finish();
  test.expect = claim.number("expect", -kHuge, kHuge, "the slope, a number");
  test.within = within_of(claim);
  return test;
}

Share share_of(Reader& claim, const ordered_json& json) {
  Reader share(json, "share of " + claim.what());
  Share test;
  test.below = share.has("below");
  if (test.below == share.has("above")) {
    throw Error(share.what() + " has neither or both of below and above, expected one of them with a number");
  }
  test.limit = share.number(test.below ? "below" : "above", -kHuge, kHuge, "a number, in the metric's unit");
  share.finish();
  test.expect = claim.expectation({"lower", "higher"});
  test.than = claim.number("than", 0.0, 1.0, "a share of the runs, from 0 to 1");
  return test;
}

}  // namespace

std::string axis_text(const ordered_json& value) {
  if (value.is_string()) return value;
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, part] : value.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, axis_text(part));
  }
  return text;
}

bool same_axis_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto number = real_of(a);
  return number && number == real_of(b);
}

Claim claim_from_json(const ordered_json& json, const std::string& what) {
  Reader reader(json, what);
  Claim claim;
  claim.says = reader.text("says", "the sentence that is claimed");
  if (reader.has("where")) {
    const ordered_json& where = reader.any("where", "axes with a value each");
    if (!where.is_object()) {
      throw Error(fmt::format("where of {} is {}, expected axes with a value each", what, where.dump()));
    }
    Reader axes(where, "where of " + what);
    for (const auto& [axis, value] : where.items()) claim.where.emplace_back(axis, axes.axis_value(axis.c_str()));
  }
  if (reader.has("metric"))
    claim.metric =
        reader.text("metric",
                    "the key of a number, as bits, best, wall_seconds or tokens_per_second, hook.NAME, or a key of "
                    "metrics.jsonl");
  if (reader.has("compare") + reader.has("slope") + reader.has("share") != 1) {
    throw Error(fmt::format("{} has none or several of compare, slope and share, expected exactly one", what));
  }
  if (reader.has("compare")) {
    claim.test = comparison_of(reader, reader.any("compare", ""));
  } else if (reader.has("slope")) {
    claim.test = slope_of(reader, reader.any("slope", ""));
  } else {
    claim.test = share_of(reader, reader.any("share", ""));
  }
  if (reader.has("exploratory")) claim.exploratory = reader.truth("exploratory");
  reader.finish({"where", "metric", "exploratory"});
  return claim;
}

namespace {

// The axis' values; throws Error if there is no such axis.
const ordered_json& values_of(const std::string& axis, const ordered_json& axes, const std::string& what) {
  if (axes.contains(axis)) return axes.at(axis);
  std::vector<std::string> known;
  for (const auto& [name, values] : axes.items()) known.push_back(name);
  throw Error(fmt::format("{} names '{}', which is no axis of the sweep{}", what, axis, suggestion(axis, known)));
}

void require_value(const std::string& axis, const std::string& value, const ordered_json& axes,
                   const std::string& what) {
  std::vector<std::string> known;
  for (const ordered_json& candidate : values_of(axis, axes, what)) {
    known.push_back(axis_text(candidate));
    if (same_axis_value(known.back(), value)) return;
  }
  throw Error(fmt::format("{} names the value {} of {}, which the axis does not have{}", what, value, axis,
                          suggestion(value, known)));
}

}  // namespace

void require_axes(const Claim& claim, const ordered_json& axes, const std::string& what) {
  for (const auto& [axis, value] : claim.where) require_value(axis, value, axes, what);
  if (const auto* compare = std::get_if<Comparison>(&claim.test)) {
    require_value(compare->axis, compare->value, axes, what);
    require_value(compare->axis, compare->with, axes, what);
  }
  if (const auto* slope = std::get_if<Slope>(&claim.test)) {
    size_t numbers = 0;
    for (const ordered_json& value : values_of(slope->axis, axes, what)) {
      const auto number = real_of(axis_text(value));
      if (!number || *number <= 0) {
        throw Error(fmt::format("{} asks for a slope over {}, whose value {} is no number above 0", what, slope->axis,
                                axis_text(value)));
      }
      ++numbers;
    }
    if (numbers < 2) throw Error(fmt::format("{} asks for a slope over {}, which has one value", what, slope->axis));
  }
}

void require_pair(const Claim& claim, const std::vector<ordered_json>& points, const std::string& what) {
  const auto* compare = std::get_if<Comparison>(&claim.test);
  if (compare == nullptr) return;
  const auto has = [](const ordered_json& point, const std::string& axis, const std::string& value) {
    return point.contains(axis) && same_axis_value(axis_text(point.at(axis)), value);
  };
  std::set<std::string> others[2];  // of points with the value, and with the other one: all other axes
  for (ordered_json point : points) {
    const bool holds = std::all_of(claim.where.begin(), claim.where.end(),
                                   [&](const auto& where) { return has(point, where.first, where.second); });
    if (!holds) continue;
    const bool is_value = has(point, compare->axis, compare->value);
    const bool is_with = has(point, compare->axis, compare->with);
    point.erase(compare->axis);
    if (is_value) others[0].insert(point.dump());
    if (is_with) others[1].insert(point.dump());
  }
  const bool has_pair = std::any_of(others[0].begin(), others[0].end(),
                                    [&](const std::string& rest) { return others[1].contains(rest); });
  if (has_pair) return;
  throw Error(
      fmt::format("{} compares {}={} with {}, but no two points have these values and agree in all other "
                  "axes; let the axes that change together be one zip, and name it",
                  what, compare->axis, compare->value, compare->with));
}

}  // namespace eggroll
