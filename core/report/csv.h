// Tidy tables with a row for each run, each evaluation or each line of metrics.
#ifndef EGGROLL_REPORT_CSV_H
#define EGGROLL_REPORT_CSV_H

#include <filesystem>
#include <string>
#include <vector>

#include "report/study.h"

namespace eggroll {

// A row for each run: its name and numbers (record/run_numbers.h), then "hook.NAME" of every number of a hook,
// "axis.NAME" of every axis and "config.KEY" of every key of the configuration that varies.
std::string runs_csv(const Collection& collection, const std::vector<Study>& studies);

// A row for each evaluation of the unperturbed model.
std::string curves_csv(const std::vector<Study>& studies);

struct ExportSummary {
  size_t runs = 0;   // with metrics
  size_t lines = 0;  // of metrics
};

// A row for each line of all runs' metrics, "run" and then a column for each key that any line has, nested numbers
// under dotted keys, and "config.KEY" for each key of the configuration that varies between these runs. Nothing is
// sampled; a cell is empty if the line has no such number. Throws if no run has metrics.
ExportSummary export_csv(const Collection& collection, const std::filesystem::path& file);

}  // namespace eggroll

#endif
