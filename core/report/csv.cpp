#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

// A spreadsheet takes such a text for a formula, and runs it.
bool is_formula(const std::string& text) {
  return text.size() > 1 && std::string("=+-@\t\r").find(text.front()) != std::string::npos && !real_of(text);
}

// Quoted where the text would part or end the cell; a formula becomes a text, by an apostrophe before it.
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
std::vector<std::string> varying_keys(const std::vector<Values>& configs) {
  std::vector<std::string> keys;
  std::map<std::string, std::set<std::string>> seen;
  std::map<std::string, size_t> counts;
  for (const Values& values : configs) {
    for (const auto& [key, value] : values) {
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

void append_phases(Row& row, const std::optional<Phases>& phases) {
  for (double Phases::*part : {&Phases::start, &Phases::middle, &Phases::end, &Phases::late}) {
    row << (phases ? std::optional((*phases).*part) : std::nullopt);
  }
}

}  // namespace

std::string runs_csv(const Collection& collection, const std::vector<Study>& studies) {
  std::vector<Values> configs(collection.runs.size());
  std::vector<Values> axes(collection.runs.size());
  std::vector<const Study*> study_of(collection.runs.size());
  std::vector<std::string> axis_names;
  for (const Study& study : studies) {
    for (const Axis& axis : study.axes) {
      if (std::find(axis_names.begin(), axis_names.end(), axis.name) == axis_names.end())
        axis_names.push_back(axis.name);
    }
    for (const StudyRun* run : study.all_runs()) {
      const size_t place = run->number - 1;
      study_of[place] = &study;
      for (size_t i = 0; i < study.axes.size(); ++i) axes[place][study.axes[i].name] = run->values[i];
      for (const auto& [key, value] : config_values(run->run->record.config)) configs[place][key] = value;
    }
  }
  const std::vector<std::string> keys = varying_keys(configs);
  Row head;
  for (const char* name : {"number",
                           "run",
                           "study",
                           "status",
                           "seed",
                           "steps",
                           "member_tokens",
                           "unit",
                           "final_bits",
                           "newest_bits",
                           "best_bits",
                           "unigram",
                           "bigram",
                           "gzip",
                           "wall_seconds",
                           "step_seconds_p5",
                           "step_seconds_median",
                           "step_seconds_p95",
                           "forward_share",
                           "tokens_per_second",
                           "update_rate_start",
                           "update_rate_middle",
                           "update_rate_end",
                           "update_rate_late",
                           "threshold_start",
                           "threshold_middle",
                           "threshold_end",
                           "threshold_late",
                           "memory_bytes",
                           "device",
                           "commit",
                           "config_hash",
                           "started_utc",
                           "ended_utc",
                           "error"}) {
    head << name;
  }
  const bool any_average = std::any_of(studies.begin(), studies.end(), has_average);
  if (any_average)
    head << "average_final_bits"
         << "average_newest_bits";
  // Records of version 0.2 have none of these.
  const bool any_size = std::any_of(collection.runs.begin(), collection.runs.end(),
                                    [](const CollectedRun& run) { return run.record.checkpoint_bytes.has_value(); });
  const bool any_text = std::any_of(collection.runs.begin(), collection.runs.end(),
                                    [](const CollectedRun& run) { return run.record.counting_seconds.has_value(); });
  std::set<uint32_t> overlaps;
  for (const CollectedRun& run : collection.runs) {
    for (const auto& [bytes, share] : run.record.overlap) overlaps.insert(bytes);
  }
  if (any_size)
    head << "parameters"
         << "checkpoint_bytes";
  if (any_text) {
    for (const char* name : {"xz", "ppmd", "kneser_ney", "kneser_ney_bytes", "counting_seconds"}) head << name;
    for (const uint32_t bytes : overlaps) head << fmt::format("overlap_{}", bytes);
  }
  std::vector<std::string> hook_names;
  for (const CollectedRun& run : collection.runs) {
    for (const auto& [name, value] : run.metrics.hook) {
      if (std::find(hook_names.begin(), hook_names.end(), name) == hook_names.end()) hook_names.push_back(name);
    }
  }
  for (const std::string& name : hook_names) head << metric::kHookPrefix + name;
  for (const std::string& axis : axis_names) head << "axis." + axis;
  for (const std::string& key : keys) head << "config." + key;
  std::string text = head.end();
  for (size_t i = 0; i < collection.runs.size(); ++i) {
    const CollectedRun& run = collection.runs[i];
    const RunRecord& record = run.record;
    const RunMetrics& metrics = run.metrics;
    const auto bits = [](const std::optional<Evaluation>& evaluation) {
      return evaluation ? std::optional(evaluation->bits_per_unit) : std::nullopt;
    };
    const auto step = [&](double Quantiles::*part) {
      return metrics.step_seconds ? std::optional((*metrics.step_seconds).*part) : std::nullopt;
    };
    Row row;
    row << uint64_t{i + 1} << run.name << study_of[i]->name << status_name(record.status) << record.seed << record.steps
        << record.member_tokens << (record.dataset ? record.dataset->unit : "") << bits(record.final)
        << bits(record.newest) << bits(record.best) << record.baselines.unigram << record.baselines.bigram
        << record.baselines.gzip << record.wall_seconds << step(&Quantiles::p5) << step(&Quantiles::median)
        << step(&Quantiles::p95) << metrics.forward_share << metrics.tokens_per_second;
    append_phases(row, update_rate_of(metrics, masks_votes(record)));
    append_phases(row, metrics.threshold);
    row << record.memory_bytes << record.device << record.environment.host_commit << record.config_hash
        << record.started_utc << record.ended_utc << record.error;
    const AverageRecord average = record.average.value_or(AverageRecord{});
    if (any_average) row << bits(average.final) << bits(average.newest);
    if (any_size) row << record.parameters << record.checkpoint_bytes;
    if (any_text) {
      const auto counted = record.baselines.best_kneser_ney();
      row << record.baselines.xz << record.baselines.ppmd << (counted ? std::optional(counted->second) : std::nullopt)
          << (counted ? std::optional<uint64_t>(counted->first) : std::nullopt) << record.counting_seconds;
      for (const uint32_t bytes : overlaps) {
        const auto found = record.overlap.find(bytes);
        row << (found == record.overlap.end() ? std::nullopt : std::optional(found->second));
      }
    }
    for (const std::string& name : hook_names) row << metrics.hook_number(metric::kHookPrefix + name);
    for (const std::string& axis : axis_names) row << at_or_empty(axes[i], axis);
    for (const std::string& key : keys) row << at_or_empty(configs[i], key);
    text += row.end();
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
  // The columns have to be known before the first row: the files are read twice, so that one alone is in memory.
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
  const std::vector<std::string> settings = varying_keys(configs);
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
