// Makes a run's summary for the page: JSON from its record and its metrics.
#ifndef EGGROLL_TOOLS_SERVE_SUMMARY_H
#define EGGROLL_TOOLS_SERVE_SUMMARY_H

#include <nlohmann/json.hpp>

#include "record/metric_table.h"
#include "record/record.h"
#include "record/run_metrics.h"

namespace eggroll {

// What the page shows of each run, in its order: [{"key": "bits", "title": "final bits", "unit": "bits", "hint":
// "..."}].
nlohmann::ordered_json shown_numbers();

// Their values, each under its key. Those of a run that has not ended are the newest.
void add_numbers(nlohmann::ordered_json& summary, const RunRecord& record, const RunMetrics& metrics);

nlohmann::ordered_json summary_of(const RunRecord& record, const RunMetrics& metrics);

// {"train": {"step": [...], "tokens": [...], "seconds": [...], "bits": [...]}, "held_out": the same}
nlohmann::ordered_json curves_of(const RunMetrics& metrics);

// The monitor's numbers over time, from a table of its looks: {"steps": [...], "every": 1, "series":
// [["values.head.saturated", [...]], ...]}. Of more than kMostLooks looks, every second, third, ... to the newest.
inline constexpr size_t kMostLooks = 200;
nlohmann::ordered_json series_of(const MetricTable& looks);

}  // namespace eggroll

#endif
