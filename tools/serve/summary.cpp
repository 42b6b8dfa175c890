#include "serve/summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include "record/json.h"
#include "record/metric_keys.h"
#include "record/run_numbers.h"
#include "report/own_settings.h"
#include "report/study.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// The axes of a run outside a sweep: what its overrides set, except for the experiment, which has a column of its own.
ordered_json axes_of_overrides(const RunRecord& record) {
  ordered_json axes = ordered_json::object();
  for (const auto& [key, value] : own_settings(record)) {
    if (key != "experiment") axes[key] = value;
  }
  return axes;
}

// A flat map of key to text: the values of axes that the run does not name itself.
ordered_json config_of(const RunRecord& record) {
  ordered_json values = ordered_json::object();
  for (const auto& [key, value] : config_values(record.config)) {
    if (!key.starts_with("results.") && !key.starts_with("plugins.")) values[key] = value;
  }
  return values;
}

// Bits are compared where this text is the same: the data, the hash that tells files of one name apart (data that are
// generated from a seed have none), and the unit.
std::string compared_data(const RunRecord& record) {
  std::string text = data_of(record);
  if (!record.dataset) return text;
  const ordered_json::json_pointer seed("/dataset/seed");
  if (!record.config.contains(seed)) text += ", sha256 " + record.dataset->sha256.substr(0, 12);
  return text + ", bits per " + record.dataset->unit;
}

ordered_json plugin_name(const RunRecord& record, const std::string& kind) {
  for (const PluginRecord& plugin : record.plugins) {
    if (plugin.kind == kind) return plugin.name;
  }
  return nullptr;
}

ordered_json baselines_of(const RunRecord& record) {
  ordered_json lines = ordered_json::object();
  for (const auto& [name, bits] : record.baselines.named()) lines[name] = bits;
  if (!record.dataset || !record.dataset->facts.contains("entropy_rate_bits")) return lines;
  const ordered_json& rate = record.dataset->facts.at("entropy_rate_bits");
  if (rate.is_number()) lines["entropy rate"] = rate;
  return lines;
}

ordered_json columns_of(const std::vector<CurvePoint>& points) {
  ordered_json columns;
  for (const char* name : {"step", "tokens", "seconds", "bits"}) columns[name] = ordered_json::array();
  for (const CurvePoint& point : points) {
    columns["step"].push_back(point.step);
    columns["tokens"].push_back(point.member_tokens);
    columns["seconds"].push_back(point.seconds);
    columns["bits"].push_back(point.bits);
  }
  return columns;
}

}  // namespace

ordered_json shown_numbers() {
  ordered_json numbers = ordered_json::array();
  for (const RunNumber* number : dashboard_numbers()) {
    numbers.push_back({{"key", number->key},
                       {"title", number->title},
                       {"unit", name_of(number->unit)},
                       {"hint", *number->hint == '\0' ? ordered_json() : ordered_json(number->hint)}});
  }
  return numbers;
}

void add_numbers(ordered_json& summary, const RunRecord& record, const RunMetrics& metrics) {
  for (const RunNumber* number : dashboard_numbers()) {
    summary[number->key] = json_of(number->unit, number->of(record, metrics));
  }
  // The record is written at checkpoints, the metrics at every step.
  if (record.status == RunStatus::kRunning) summary["steps"] = std::max(record.steps, metrics.last_step);
  for (const CurvePoint& point : metrics.held_out) {
    if (summary["best"].is_null() || point.bits < summary["best"]) summary["best"] = point.bits;
  }
  if (record.final) return;
  if (record.newest) summary["bits"] = record.newest->bits_per_unit;
  if (!metrics.held_out.empty()) summary["bits"] = metrics.held_out.back().bits;
  if (!summary["bits"].is_null()) summary["bits_so_far"] = true;
}

ordered_json summary_of(const RunRecord& record, const RunMetrics& metrics) {
  ordered_json summary = {{"name", record.name},
                          {"status", status_name(record.status)},
                          {"seed", record.seed},
                          {"sweep", record.sweep ? ordered_json(record.sweep->name) : ordered_json()},
                          {"axes", record.sweep ? record.sweep->axes : axes_of_overrides(record)},
                          {"config", config_of(record)},
                          {"data", compared_data(record)},
                          {"unit", record.dataset ? ordered_json(record.dataset->unit) : ordered_json()},
                          {"baselines", baselines_of(record)},
                          {"planned_steps", nullptr},
                          {"member_tokens", record.member_tokens},
                          {"started_utc", record.started_utc},
                          {"model", plugin_name(record, "model")},
                          {"optimizer", plugin_name(record, "optimizer")},
                          {"backend", plugin_name(record, "backend")},
                          {"commit", record.environment.host_commit},
                          {"why", or_null(record.stopped_because)}};
  add_numbers(summary, record, metrics);
  const ordered_json::json_pointer steps("/train/steps");
  if (record.config.contains(steps)) summary["planned_steps"] = record.config[steps];
  if (record.failure) summary["why"] = record.failure->detail;
  if (record.error) summary["why"] = *record.error;
  return summary;
}

ordered_json curves_of(const RunMetrics& metrics) {
  return {{"train", columns_of(metrics.training)}, {"held_out", columns_of(metrics.held_out)}};
}

ordered_json series_of(const MetricTable& looks) {
  const size_t every = (looks.lines + kMostLooks - 1) / kMostLooks;
  const auto thinned = [&](const std::vector<double>& values) {
    ordered_json list = ordered_json::array();
    for (size_t i = 0; i < values.size(); ++i) {
      if ((values.size() - 1 - i) % every == 0) list.push_back(values[i]);  // NaN becomes null
    }
    return list;
  };
  const std::string within = std::string(metric::kMonitor) + ".";
  ordered_json series = ordered_json::array();
  for (const MetricTable::Column& column : looks.columns) {
    if (column.key.starts_with(within)) {
      series.push_back(ordered_json::array({column.key.substr(within.size()), thinned(column.values)}));
    }
  }
  const std::vector<double>* steps = looks.find(metric::kStep);
  return {{"steps", steps == nullptr ? ordered_json::array() : thinned(*steps)}, {"every", every}, {"series", series}};
}

}  // namespace eggroll
