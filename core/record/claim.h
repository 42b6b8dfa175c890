// A claim of an experiment: a sentence about its runs, and the test that confirms or refutes it.
#ifndef EGGROLL_RECORD_CLAIM_H
#define EGGROLL_RECORD_CLAIM_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace eggroll {

enum class Expectation { kLower, kHigher, kEqual };

// Compares pairs of runs that differ in one axis alone: the metric at its value minus the metric at `with`.
struct Comparison {
  std::string axis;
  std::string value;
  std::string with;
  Expectation expect = Expectation::kLower;
  double within = 0.0;  // of kEqual alone
};

// The least-squares slope of log metric over log axis, one for each seed.
struct Slope {
  std::string axis;
  double expect = 0.0;
  double within = 0.0;
};

// The share of runs whose metric lies below the limit, or above it.
struct Share {
  bool below = true;
  double limit = 0.0;
  Expectation expect = Expectation::kLower;  // never kEqual
  double than = 0.0;
};

struct Claim {
  std::string says;
  std::vector<std::pair<std::string, std::string>> where;  // axis and value: the runs that it speaks of; empty: all
  // See metric_of() of record/run_numbers.h.
  std::string metric = "bits";
  std::variant<Comparison, Slope, Share> test;
  bool exploratory = false;  // marked in the experiment as not stated before its data
};

// The text that names a value of an axis: a text itself, "key=value key=value" for an object, else its JSON.
std::string axis_text(const nlohmann::ordered_json& value);

// Whether both texts are the same, or two spellings of one number.
bool same_axis_value(const std::string& a, const std::string& b);

// what names the claim in errors ("claim 1 of experiments/x.yaml"). Throws if a key is missing, unknown or of
// another kind, or if there is not exactly one of compare, slope and share.
Claim claim_from_json(const nlohmann::ordered_json& json, const std::string& what);

// Throws if the claim names an axis that is not there, or a value that its axis does not have. axes: each axis with
// the list of its values.
void require_axes(const Claim& claim, const nlohmann::ordered_json& axes, const std::string& what);

// Throws if the claim compares two values and no two points have them and agree in all other axes. points: the axes
// of each, with the value that it has.
void require_pair(const Claim& claim, const std::vector<nlohmann::ordered_json>& points, const std::string& what);

}  // namespace eggroll

#endif
