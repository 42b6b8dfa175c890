#include "report/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "record/run_numbers.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

// A spreadsheet takes such a text for a formula and runs it.
bool is_formula(const std::string& text) {
  return text.size() > 1 && std::string("=+-@\t\r").find(text.front()) != std::string::npos && !real_of(text);
}

// Quotes a text that would split or end the cell; an apostrophe in front makes a formula a text.
std::string field(const std::string& words) {
  const std::string text = is_formula(words) ? "'" + words : words;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string field(double value) { return fmt::format("{}", value); }
std::string field(uint64_t value) { return std::to_string(value); }

template <class T>
std::string field(const std::optional<T>& value) {
  return value ? field(*value) : "";
}

// A line of cells, ended by end().
class Row {
 public:
  template <class T>
  Row& operator<<(const T& value) {
    if (!text_.empty()) text_ += ',';
    text_ += field(value);
    return *this;
  }
  Row& operator<<(const char* text) { return *this << std::string(text); }
  std::string end() const { return text_ + "\n"; }

 private:
  std::string text_;
};

using Values = std::map<std::string, std::string>;

// Takes each run's configuration; returns the keys that the runs do not all have with the same value.
std::vector<std::string> varying_keys(const std::vector<const Values*>& configs) {
  std::vector<std::string> keys;
  std::map<std::string, std::set<std::string>> seen;
  std::map<std::string, size_t> counts;
  for (const Values* values : configs) {
    for (const auto& [key, value] : *values) {
      if (seen[key].size() < 2) seen[key].insert(value);
      ++counts[key];
    }
  }
  for (const auto& [key, values] : seen) {
    if (values.size() > 1 || counts[key] < configs.size()) keys.push_back(key);
  }
  return keys;
}

std::string at_or_empty(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

// A run and its study's data on it.
struct CsvRun {
  const CollectedRun* run = nullptr;
  std::string study;
  Values axes;
  Values config;
};

struct CsvColumn {
  std::string name;
  std::function<std::string(const CsvRun&)> cell;
};

std::vector<CsvRun> csv_runs(const Collection& collection, const std::vector<Study>& studies) {
  std::vector<CsvRun> runs(collection.runs.size());
  for (size_t i = 0; i < runs.size(); ++i) runs[i].run = &collection.runs[i];
  for (const Study& study : studies) {
    for (const StudyRun* placed : study.all_runs()) {
      CsvRun& run = runs[placed->number - 1];
      run.study = study.name;
      for (size_t i = 0; i < study.axes.size(); ++i) run.axes[study.axes[i].name] = placed->values[i];
      for (const auto& [key, value] : config_values(placed->run->record.config)) run.config[key] = value;
    }
  }
  return runs;
}

template <class Of>
CsvColumn column_of(std::string name, Of of) {
  return {std::move(name), [of](const CsvRun& run) { return field(of(run.run->record)); }};
}

CsvColumn column_of(const RunNumber& number) {
  return {*number.column == '\0' ? number.key : number.column,
          [of = number.of](const CsvRun& run) { return field(of(run.run->record, run.run->metrics)); }};
}

// Adds the numbers that every record has, or those that older records lack.
void add_numbers(std::vector<CsvColumn>& columns, const Collection& collection, bool are_new) {
  const auto is_known = [&](const RunNumber& number) {
    return std::any_of(collection.runs.begin(), collection.runs.end(),
                       [&](const CollectedRun& run) { return number.of(run.record, run.metrics).has_value(); });
  };
  for (const RunNumber& number : run_numbers()) {
    const bool is_new = *number.with != '\0';
    if (is_new == are_new && (!is_new || is_known(run_number(number.with)))) columns.push_back(column_of(number));
  }
}

void add_overlaps(std::vector<CsvColumn>& columns, const Collection& collection) {
  std::set<uint32_t> windows;
  for (const CollectedRun& run : collection.runs) {
    for (const auto& [bytes, share] : run.record.overlap) windows.insert(bytes);
  }
  for (const uint32_t bytes : windows) {
    columns.push_back(column_of(fmt::format("overlap_{}", bytes), [bytes](const RunRecord& record) {
      const auto found = record.overlap.find(bytes);
      return found == record.overlap.end() ? std::nullopt : std::optional(found->second);
    }));
  }
}

void add_hook_numbers(std::vector<CsvColumn>& columns, const Collection& collection) {
  std::vector<std::string> names;
  for (const CollectedRun& run : collection.runs) {
    for (const auto& [name, value] : run.metrics.hook) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    const std::string metric = metric::kHookPrefix + name;
    columns.push_back({metric, [metric](const CsvRun& run) { return field(run.run->metrics.hook_number(metric)); }});
  }
}

}  // namespace

std::string runs_csv(const Collection& collection, const std::vector<Study>& studies) {
  const std::vector<CsvRun> runs = csv_runs(collection, studies);
  std::vector<CsvColumn> columns = {
      {"number", [&](const CsvRun& run) { return std::to_string(&run - runs.data() + 1); }},
      {"run", [](const CsvRun& run) { return field(run.run->name); }},
      {"study", [](const CsvRun& run) { return field(run.study); }},
      column_of("status", [](const RunRecord& record) { return status_name(record.status); }),
      column_of("seed", [](const RunRecord& record) { return record.seed; })};
  add_numbers(columns, collection, false);
  const auto bits = std::find_if(columns.begin(), columns.end(),
                                 [](const CsvColumn& column) { return column.name == run_number("bits").column; });
  columns.insert(bits,
                 column_of("unit", [](const RunRecord& record) { return record.dataset ? record.dataset->unit : ""; }));
  for (const auto& column :
       {column_of("device", [](const RunRecord& record) { return record.device; }),
        column_of("commit", [](const RunRecord& record) { return record.environment.host_commit; }),
        column_of("config_hash", [](const RunRecord& record) { return record.config_hash; }),
        column_of("started_utc", [](const RunRecord& record) { return record.started_utc; }),
        column_of("ended_utc", [](const RunRecord& record) { return record.ended_utc; }),
        column_of("error", [](const RunRecord& record) { return record.error; })}) {
    columns.push_back(column);
  }
  add_numbers(columns, collection, true);
  add_overlaps(columns, collection);
  add_hook_numbers(columns, collection);
  std::set<std::string> axes;
  for (const Study& study : studies) {
    for (const Axis& axis : study.axes) {
      if (!axes.insert(axis.name).second) continue;
      columns.push_back(
          {"axis." + axis.name, [name = axis.name](const CsvRun& run) { return field(at_or_empty(run.axes, name)); }});
    }
  }
  std::vector<const Values*> configs;
  for (const CsvRun& run : runs) configs.push_back(&run.config);
  for (const std::string& key : varying_keys(configs)) {
    columns.push_back({"config." + key, [key](const CsvRun& run) { return field(at_or_empty(run.config, key)); }});
  }
  Row head;
  for (const CsvColumn& column : columns) head << column.name;
  std::string text = head.end();
  for (const CsvRun& run : runs) {
    std::vector<std::string> cells;
    for (const CsvColumn& column : columns) cells.push_back(column.cell(run));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string curves_csv(const std::vector<Study>& studies) {
  std::string text = "number,run,study,seed,step,member_tokens,seconds,held_out_bits\n";
  for (const Study& study : studies) {
    for (const StudyRun* run : study.all_runs()) {
      for (const CurvePoint& point : run->run->metrics.held_out) {
        Row row;
        row << uint64_t{run->number} << run->run->name << study.name << run->run->record.seed << point.step
            << point.member_tokens << point.seconds << point.bits;
        text += row.end();
      }
    }
  }
  return text;
}

ExportSummary export_csv(const Collection& collection, const std::filesystem::path& file) {
  ExportSummary summary;
  std::vector<Values> configs;  // of the runs with metrics
  // The first row needs all columns. So each file is read twice, and memory holds one file at a time.
  std::vector<std::string> keys;
  std::map<std::string, size_t> places;
  for (const CollectedRun& run : collection.runs) {
    if (!run.metrics_file) continue;
    Values& values = configs.emplace_back();
    for (const auto& [key, value] : config_values(run.record.config)) values[key] = value;
    for (const MetricTable::Column& column : read_metric_table(*run.metrics_file, Numbers::kNested).columns) {
      if (places.emplace(column.key, keys.size()).second) keys.push_back(column.key);
    }
  }
  std::vector<const Values*> of_runs;
  for (const Values& values : configs) of_runs.push_back(&values);
  const std::vector<std::string> settings = varying_keys(of_runs);
  if (keys.empty()) throw Error("no run has metrics to export, expected a metrics.jsonl beside a record.json");
  write_atomically(file, [&](const WriteBytes& write) {
    Row head;
    head << "run";
    for (const std::string& key : keys) head << key;
    for (const std::string& key : settings) head << "config." + key;
    write(head.end());
    for (const CollectedRun& run : collection.runs) {
      if (!run.metrics_file) continue;
      const MetricTable table = read_metric_table(*run.metrics_file, Numbers::kNested);
      std::vector<const std::vector<double>*> columns(keys.size(), nullptr);
      for (const MetricTable::Column& column : table.columns) {
        const auto place = places.find(column.key);
        if (place != places.end()) columns[place->second] = &column.values;
      }
      const std::string name = field(run.name);
      std::string of_run;  // the cells of its settings, the same on each line
      for (const std::string& key : settings) of_run += "," + field(at_or_empty(configs[summary.runs], key));
      std::string text;
      for (size_t line = 0; line < table.lines; ++line) {
        text += name;
        for (const std::vector<double>* column : columns) {
          text += ',';
          if (column != nullptr && !std::isnan((*column)[line]))
            fmt::format_to(std::back_inserter(text), "{}", (*column)[line]);
        }
        text += of_run + "\n";
      }
      write(text);
      ++summary.runs;
      summary.lines += table.lines;
    }
  });
  return summary;
}

}  // namespace eggroll
