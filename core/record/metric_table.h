// The numbers of a metrics.jsonl as columns, read line by line.
#ifndef EGGROLL_RECORD_METRIC_TABLE_H
#define EGGROLL_RECORD_METRIC_TABLE_H

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace eggroll {

struct MetricTable {
  struct Column {
    std::string key;             // "train_bits_per_unit"; of a nested number dotted, "monitor.values.head.saturated"
    std::vector<double> values;  // one for each line; NaN where the line has no such number
  };
  std::vector<Column> columns;  // in the order of their first line, after "step"
  size_t lines = 0;
  std::string newest_monitor;         // the newest line with an object "monitor", as it stands there
  std::vector<std::string> problems;  // sentences: what was damaged, missing or there twice
  std::string half_line;              // the sentence of a last line without its end, which was left out; or ""

  // nullptr if no line has the key.
  const std::vector<double>* find(const std::string& key) const;
};

// The part of a file that is read.
enum class Numbers {
  kOwn,           // the line's own numbers, its scalars and those of a hook
  kNested,        // the numbers within objects too
  kMonitorLines,  // these too, but only of the lines that the monitor wrote to
};

// Leaves out lines that are damaged or repeated, and says so. A file that cannot be read, or has another schema
// (record/metrics.h), gives a table without lines and a problem.
MetricTable read_metric_table(const std::filesystem::path& path, Numbers numbers);

}  // namespace eggroll

#endif
