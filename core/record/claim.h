// A claim of an experiment: a sentence about its runs, and the test that confirms or refutes it.
#ifndef EGGROLL_RECORD_CLAIM_H
#define EGGROLL_RECORD_CLAIM_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "record/record.h"

namespace eggroll {

enum class Expectation { kLower, kHigher, kEqual };

// Pairs of runs that differ in one axis alone: its value minus `with`.
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
  // "bits": the final held-out bits per unit; "average_bits": the same of the average of the weights;
  // "hook.NAME": that number of the user's hook at the newest evaluation;
  // "tokens_per_second": member tokens of the median step; "wall_seconds": of the whole process;
  // "update_rate": see update_rate_of(). The latter and any other key of metrics.jsonl are means over the last quarter
  // of the steps.
  std::string metric = "bits";
  std::variant<Comparison, Slope, Share> test;
  bool exploratory = false;  // marked in the experiment as not stated before its data
};

// Whether the run came to its end.
bool has_ended_well(const RunRecord& record);

// The share that a step changes of the weights that had votes. Absent where the record does not hold it: older ones
// hold the share of all weights alone, which is the same only where no votes are masked.
std::optional<Phases> update_rate_of(const RunMetrics& metrics, bool masks_votes);
// Whether only those who read a row of a table vote on it.
bool masks_votes(const RunRecord& record);

// The claim's metric of a run; metrics: its summary, or read from its file. Absent where the run did not come to its
// end, or has no such figure.
std::optional<double> metric_of(const RunRecord& record, const RunMetrics& metrics, const std::string& metric);

// The text that names a value of an axis: a text itself, "key=value key=value" for an object, else its JSON.
std::string axis_text(const nlohmann::ordered_json& value);

// The same text, or two spellings of one number.
bool same_axis_value(const std::string& a, const std::string& b);

// what names the claim in errors ("claim 1 of experiments/x.yaml"). Throws where a key is missing, unknown or of
// another kind, or where there is not exactly one of compare, slope and share.
Claim claim_from_json(const nlohmann::ordered_json& json, const std::string& what);

// Throws where the claim names an axis that is not there, or a value that its axis does not have. axes: each axis with
// the list of its values.
void require_axes(const Claim& claim, const nlohmann::ordered_json& axes, const std::string& what);

// Throws where the claim compares two values and no two points have them and agree in all other axes. points: the axes
// of each, with the value that it has.
void require_pair(const Claim& claim, const std::vector<nlohmann::ordered_json>& points, const std::string& what);

}  // namespace eggroll

#endif
