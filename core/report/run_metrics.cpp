#include "report/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/metric_table.h"
#include "report/statistics.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

using Column = std::vector<double>;

double at_or(const Column* column, size_t line, double otherwise) {
  return column == nullptr || std::isnan((*column)[line]) ? otherwise : (*column)[line];
}

// Sum of the steps' seconds up to each line.
Column elapsed(const MetricTable& table) {
  const Column* seconds = table.find("step_seconds");
  Column sums;
  double sum = 0.0;
  for (size_t i = 0; i < table.lines; ++i) sums.push_back(sum += at_or(seconds, i, 0.0));
  return sums;
}

std::vector<CurvePoint> points_of(const MetricTable& table, const Column& elapsed, const char* key) {
  const Column& steps = table.columns[0].values;
  const Column* tokens = table.find("member_tokens");
  const Column* bits = table.find(key);
  std::vector<CurvePoint> points;
  for (size_t i = 0; bits != nullptr && i < table.lines; ++i) {
    if (std::isnan((*bits)[i])) continue;
    points.push_back({static_cast<uint64_t>(steps[i]), at_or(tokens, i, 0.0), elapsed[i], (*bits)[i]});
  }
  return points;
}

// Neighbours become their mean, at the place of the last of them.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points) {
  const size_t bucket = (points.size() + kMostTrainingPoints - 1) / kMostTrainingPoints;
  if (bucket <= 1) return points;
  std::vector<CurvePoint> result;
  for (size_t begin = 0; begin < points.size(); begin += bucket) {
    const size_t end = std::min(points.size(), begin + bucket);
    double sum = 0.0;
    for (size_t i = begin; i < end; ++i) sum += points[i].bits;
    result.push_back(points[end - 1]);
    result.back().bits = sum / static_cast<double>(end - begin);
  }
  return result;
}

// Lines of the last quarter of the steps are those beyond this one.
double late_after(const MetricTable& table) { return 0.75 * table.columns[0].values.back(); }

std::optional<double> late_mean_of(const MetricTable& table, const Column& column) {
  const double after = late_after(table);
  double sum = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < table.lines; ++i) {
    if (std::isnan(column[i]) || table.columns[0].values[i] <= after) continue;
    sum += column[i];
    ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

std::optional<Phases> phases_of(const MetricTable& table, const char* key) {
  const Column* column = table.find(key);
  if (column == nullptr) return std::nullopt;
  Column present;
  for (const double value : *column) {
    if (!std::isnan(value)) present.push_back(value);
  }
  if (present.empty()) return std::nullopt;
  return Phases{present.front(), present[(present.size() - 1) / 2], present.back(),
                late_mean_of(table, *column).value_or(present.back())};
}

void read_speed(const MetricTable& table, RunMetrics& metrics) {
  const Column* seconds = table.find("step_seconds");
  const Column* forward = table.find("forward_seconds");
  const Column* tokens = table.find("member_tokens");
  Column of_steps;
  Column rates;
  double forward_total = 0.0;
  double with_forward = 0.0;
  for (size_t i = 0; seconds != nullptr && i < table.lines; ++i) {
    const double step = (*seconds)[i];
    if (std::isnan(step)) continue;
    of_steps.push_back(step);
    metrics.steps_total_seconds += step;
    if (forward != nullptr && !std::isnan((*forward)[i])) {
      forward_total += (*forward)[i];
      with_forward += step;
    }
    // Only of neighbours is the difference one step's.
    const Column& steps = table.columns[0].values;
    if (tokens == nullptr || i == 0 || steps[i] != steps[i - 1] + 1 || step <= 0) continue;
    const double read = (*tokens)[i] - (*tokens)[i - 1];
    if (!std::isnan(read)) rates.push_back(read / step);
  }
  if (!of_steps.empty()) {
    metrics.step_seconds = Quantiles{quantile(of_steps, 0.05), quantile(of_steps, 0.5), quantile(of_steps, 0.95)};
  }
  if (with_forward > 0.0) metrics.forward_share = forward_total / with_forward;
  if (!rates.empty()) metrics.tokens_per_second = quantile(rates, 0.5);
}

// The member of the object whose number under the key is largest.
std::optional<NamedShare> largest(const ordered_json& members, const char* key) {
  std::optional<NamedShare> found;
  for (const auto& [name, member] : members.items()) {
    const double share = member.at(key).get<double>();
    if (!found || share > found->share) found = NamedShare{name, share};
  }
  return found;
}

MonitorSummary summary_of(const std::string& line) {
  const ordered_json json = ordered_json::parse(line);
  const ordered_json& monitor = json.at("monitor");
  MonitorSummary summary;
  summary.step = json.at("step");
  summary.most_saturated_value = largest(monitor.at("values"), "saturated");
  summary.most_constant_value = largest(monitor.at("values"), "constant");
  summary.most_saturated_tensor = largest(monitor.at("tensors"), "saturated");
  const ordered_json& deviations = monitor.at("vote_deviations");
  if (!deviations.is_null()) summary.vote_deviations = deviations.get<double>();
  summary.verdicts = monitor.at("verdicts").get<std::vector<std::string>>();
  return summary;
}

}  // namespace

std::optional<double> RunMetrics::late_mean(const std::string& key) const {
  for (const auto& [name, mean] : late) {
    if (name == key) return mean;
  }
  return std::nullopt;
}

RunMetrics read_run_metrics(const std::filesystem::path& path, std::vector<std::string>& problems) {
  const MetricTable table = read_metric_table(path, false);
  problems.insert(problems.end(), table.problems.begin(), table.problems.end());
  RunMetrics metrics;
  metrics.lines = table.lines;
  if (table.lines == 0) return metrics;
  metrics.last_step = static_cast<uint64_t>(table.columns[0].values.back());
  const Column seconds = elapsed(table);
  metrics.held_out = points_of(table, seconds, "held_out_bits_per_unit");
  metrics.training = thinned(points_of(table, seconds, "train_bits_per_unit"));
  metrics.update_rate = phases_of(table, "changed");
  metrics.threshold = phases_of(table, "threshold");
  read_speed(table, metrics);
  if (const Column* pairs = table.find("pairs_without_fitness")) {
    for (const double count : *pairs) {
      if (!std::isnan(count)) {
        metrics.most_pairs_without_fitness = std::max(count, metrics.most_pairs_without_fitness.value_or(count));
      }
    }
  }
  for (const MetricTable::Column& column : table.columns) {
    if (const auto mean = late_mean_of(table, column.values)) metrics.late.emplace_back(column.key, *mean);
  }
  if (table.newest_monitor.empty()) return metrics;
  try {
    metrics.monitor = summary_of(table.newest_monitor);
  } catch (const nlohmann::json::exception&) {
    problems.push_back(fmt::format(
        "the newest object \"monitor\" of {} lacks what this eggroll knows of it; it was left out", path.string()));
  }
  return metrics;
}

}  // namespace eggroll
