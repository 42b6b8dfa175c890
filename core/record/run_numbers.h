// The numbers of a run: the name, the unit and the source of each. Claims, searches, runs.csv,
// comparisons, reports and the dashboard take them from here. docs/adding.md says how to add one.
#ifndef EGGROLL_RECORD_RUN_NUMBERS_H
#define EGGROLL_RECORD_RUN_NUMBERS_H

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "record/record.h"
#include "record/run_metrics.h"

namespace eggroll {

enum class NumberUnit {
  kBits,  // per unit of the dataset
  kCount,
  kPerSecond,
  kShare,  // from 0 to 1
  kSeconds,
  kBytes,
  kDeviations  // standard deviations of chance
};

struct RunNumber {
  const char* key;    // in claims, searches, JSON and the dashboard's addresses
  const char* title;  // for people: a line of a comparison, a column of a table
  NumberUnit unit;
  // The metrics come from the summary of the run's record or from its file.
  std::optional<double> (*of)(const RunRecord& record, const RunMetrics& metrics);
  const char* hint = "";    // what the title leaves open
  const char* column = "";  // the name in runs.csv, if that is not the key
  // Older records lack it: runs.csv has the column only where a run has the number of this key.
  const char* with = "";
};

using NumberList = std::span<const RunNumber* const>;

// All numbers, in the order of runs.csv.
std::span<const RunNumber> run_numbers();

// The numbers that a view shows, in its order.
NumberList compared_numbers();   // `eggroll compare`
NumberList reported_numbers();   // the table of all runs in a report
NumberList dashboard_numbers();  // `eggroll serve`
NumberList listed_numbers();     // `eggroll ls --json`

// A number of the list.
const RunNumber& run_number(std::string_view key);

// "3.487", "12.3 %", "2.31 s".
std::string text_of(NumberUnit unit, double value);
// A count or bytes without a fraction; null if there is no value.
nlohmann::ordered_json json_of(NumberUnit unit, const std::optional<double>& value);
// "bits", "count", "per_second", "share", "seconds", "bytes", "deviations".
const char* name_of(NumberUnit unit);

// Whether the run came to its end.
bool has_ended_well(const RunRecord& record);

// The share that a step changes of the weights that had votes. Absent if the record does not hold it: older ones
// hold the share of all weights alone, which is the same only if no votes are masked.
std::optional<Phases> update_rate_of(const RunRecord& record, const RunMetrics& metrics);

// What a claim or a search names as its metric: the key of a number; "hook.NAME", that number of the user's hook at the
// newest evaluation; or a key of metrics.jsonl, whose mean over the last quarter of the steps it is. Absent if the
// run did not come to its end, or has no such number.
std::optional<double> metric_of(const RunRecord& record, const RunMetrics& metrics, const std::string& metric);

}  // namespace eggroll

#endif
