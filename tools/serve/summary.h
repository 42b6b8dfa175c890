// Makes a run's summary for the page: JSON from its record and its metrics.
#ifndef EGGROLL_TOOLS_SERVE_SUMMARY_H
#define EGGROLL_TOOLS_SERVE_SUMMARY_H

#include <nlohmann/json.hpp>

#include "record/record.h"
#include "record/run_metrics.h"

namespace eggroll {

nlohmann::ordered_json summary_of(const RunRecord& record);

// Adds figures from the metrics: speed, update rate and, if the run has no final figures, the newest ones.
void add_metrics(nlohmann::ordered_json& summary, const RunMetrics& metrics);

// {"train": {"step": [...], "tokens": [...], "seconds": [...], "bits": [...]}, "held_out": the same}
nlohmann::ordered_json curves_of(const RunMetrics& metrics);

}  // namespace eggroll

#endif
