// The summary of a run's metrics as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "eggroll/error.h"
#include "record/json.h"
#include "record/metric_keys.h"
#include "record/run_metrics.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// A column for each member: the names are written once.
ordered_json to_json(const std::vector<CurvePoint>& points) {
  ordered_json columns = {{"step", ordered_json::array()},
                          {"member_tokens", ordered_json::array()},
                          {"seconds", ordered_json::array()},
                          {"bits", ordered_json::array()}};
  for (const CurvePoint& point : points) {
    columns["step"].push_back(point.step);
    columns["member_tokens"].push_back(point.member_tokens);
    columns["seconds"].push_back(point.seconds);
    columns["bits"].push_back(point.bits);
  }
  return columns;
}

std::vector<CurvePoint> points_from(const ordered_json& columns, const std::string& what) {
  std::vector<uint64_t> steps;
  for (const ordered_json& step : columns.at("step")) steps.push_back(whole(step));
  const auto tokens = columns.at("member_tokens").get<std::vector<double>>();
  const auto seconds = columns.at("seconds").get<std::vector<double>>();
  const auto bits = columns.at("bits").get<std::vector<double>>();
  if (tokens.size() != steps.size() || seconds.size() != steps.size() || bits.size() != steps.size()) {
    throw Error(fmt::format(
        "{} is damaged: the columns of a curve in its summary are not equally long; restore it from a copy", what));
  }
  std::vector<CurvePoint> points;
  for (size_t i = 0; i < steps.size(); ++i) points.push_back({steps[i], tokens[i], seconds[i], bits[i]});
  return points;
}

ordered_json to_json(const Phases& phases) { return {phases.start, phases.middle, phases.end, phases.late}; }
ordered_json to_json(const Quantiles& quantiles) { return {quantiles.p5, quantiles.median, quantiles.p95}; }
ordered_json to_json(const NamedShare& most) { return {{"name", most.name}, {"share", most.share}}; }
ordered_json to_json(const MonitorSummary& monitor);

template <class T>
ordered_json json_of(const std::optional<T>& value) {
  return value ? to_json(*value) : ordered_json();
}

ordered_json to_json(const MonitorSummary& monitor) {
  return {{"step", monitor.step},
          {"most_saturated_value", json_of(monitor.most_saturated_value)},
          {"most_saturated_tensor", json_of(monitor.most_saturated_tensor)},
          {"most_constant_value", json_of(monitor.most_constant_value)},
          {"vote_deviations", or_null(monitor.vote_deviations)},
          {"verdicts", monitor.verdicts}};
}

Phases phases_from(const ordered_json& json) { return {json.at(0), json.at(1), json.at(2), json.at(3)}; }
Quantiles quantiles_from(const ordered_json& json) { return {json.at(0), json.at(1), json.at(2)}; }
NamedShare share_from(const ordered_json& json) { return {json.at("name"), json.at("share")}; }
double number_from(const ordered_json& json) { return json.get<double>(); }

template <class T>
std::optional<T> optional_from(const ordered_json& json, T (*from)(const ordered_json&)) {
  return json.is_null() ? std::nullopt : std::optional(from(json));
}

MonitorSummary monitor_from(const ordered_json& json) {
  return {whole(json.at("step")),
          optional_from(json.at("most_saturated_value"), share_from),
          optional_from(json.at("most_saturated_tensor"), share_from),
          optional_from(json.at("most_constant_value"), share_from),
          optional_from(json.at("vote_deviations"), number_from),
          json.at("verdicts").get<std::vector<std::string>>()};
}

}  // namespace

ordered_json summary_to_json(const RunMetrics& metrics) {
  ordered_json late = ordered_json::object();
  for (const auto& [key, mean] : metrics.late) late[key] = mean;
  ordered_json summary = {{"lines", metrics.lines},
                          {"last_step", metrics.last_step},
                          {"held_out", to_json(metrics.held_out)},
                          {"training", to_json(metrics.training)},
                          {"update_rate", json_of(metrics.update_rate)},
                          {"threshold", json_of(metrics.threshold)},
                          {"step_seconds", json_of(metrics.step_seconds)},
                          {"steps_total_seconds", metrics.steps_total_seconds},
                          {"forward_share", or_null(metrics.forward_share)},
                          {"tokens_per_second", or_null(metrics.tokens_per_second)},
                          {"most_pairs_without_fitness", or_null(metrics.most_pairs_without_fitness)},
                          {"late", std::move(late)},
                          {"monitor", json_of(metrics.monitor)}};
  if (metrics.update_rate_of_voted) summary["update_rate_of_voted"] = to_json(*metrics.update_rate_of_voted);
  for (const auto& [name, value] : metrics.hook) summary[metric::kHook][name] = value;
  return summary;
}

RunMetrics summary_from_json(const ordered_json& json, const std::string& what) {
  RunMetrics metrics;
  metrics.lines = whole(json.at("lines"));
  metrics.last_step = whole(json.at("last_step"));
  metrics.held_out = points_from(object_at(json, "held_out"), what);
  metrics.training = points_from(object_at(json, "training"), what);
  metrics.update_rate = optional_from(json.at("update_rate"), phases_from);
  metrics.threshold = optional_from(json.at("threshold"), phases_from);
  metrics.step_seconds = optional_from(json.at("step_seconds"), quantiles_from);
  metrics.steps_total_seconds = json.at("steps_total_seconds");
  metrics.forward_share = optional_from(json.at("forward_share"), number_from);
  metrics.tokens_per_second = optional_from(json.at("tokens_per_second"), number_from);
  metrics.most_pairs_without_fitness = optional_from(json.at("most_pairs_without_fitness"), number_from);
  for (const auto& [key, mean] : object_at(json, "late").items()) metrics.late.emplace_back(key, mean.get<double>());
  metrics.monitor = optional_from(json.at("monitor"), monitor_from);
  if (json.contains("update_rate_of_voted")) {
    metrics.update_rate_of_voted = phases_from(json.at("update_rate_of_voted"));
  }
  if (!json.contains(metric::kHook)) return metrics;
  for (const auto& [name, value] : object_at(json, metric::kHook).items()) {
    metrics.hook.emplace_back(name, value.get<double>());
  }
  return metrics;
}

}  // namespace eggroll
