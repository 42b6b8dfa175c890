#include "record/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/json.h"
#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

using Column = std::vector<double>;

// Precedes the names of an optimizer's scalars.
const std::string kScalarPrefix = std::string(metric::kScalars) + ".";

double at_or(const Column* column, size_t line, double otherwise) {
  return column == nullptr || std::isnan((*column)[line]) ? otherwise : (*column)[line];
}

// Sum of the steps' seconds up to each line.
Column elapsed(const MetricTable& table) {
  const Column* seconds = table.find(metric::kStepSeconds);
  Column sums;
  double sum = 0.0;
  for (size_t i = 0; i < table.lines; ++i) sums.push_back(sum += at_or(seconds, i, 0.0));
  return sums;
}

std::vector<CurvePoint> points_of(const MetricTable& table, const Column& elapsed, const Column* bits) {
  const Column& steps = table.columns[0].values;
  const Column* tokens = table.find(metric::kMemberTokens);
  std::vector<CurvePoint> points;
  for (size_t i = 0; bits != nullptr && i < table.lines; ++i) {
    if (std::isnan((*bits)[i])) continue;
    points.push_back({static_cast<uint64_t>(steps[i]), at_or(tokens, i, 0.0), elapsed[i], (*bits)[i]});
  }
  return points;
}

// Replaces neighbours by their mean, at the place of the last of them.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, size_t most) {
  const size_t bucket = (points.size() + most - 1) / most;
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

// Lines beyond this step belong to the last quarter of the steps.
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

std::optional<Phases> phases_of(const MetricTable& table, const std::string& key) {
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
  const Column* seconds = table.find(metric::kStepSeconds);
  const Column* forward = table.find(metric::kForwardSeconds);
  const Column* tokens = table.find(metric::kMemberTokens);
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
    // The difference is that of one step only between neighbouring lines.
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

// The member of the object that has the largest number under the key.
std::optional<NamedShare> largest(const ordered_json& members, const char* key) {
  std::optional<NamedShare> found;
  for (const auto& [name, member] : members.items()) {
    const double share = member.at(key).get<double>();
    if (!found || share > found->share) found = NamedShare{name, share};
  }
  return found;
}

MonitorSummary summary_of(const std::string& line) {
  const ordered_json json = json_or_null(line);
  const ordered_json& monitor = json.at(metric::kMonitor);
  MonitorSummary summary;
  summary.step = json.at(metric::kStep);
  summary.most_saturated_value = largest(monitor.at(monitor_metric::kValues), monitor_metric::kSaturated);
  summary.most_constant_value = largest(monitor.at(monitor_metric::kValues), monitor_metric::kConstant);
  summary.most_saturated_tensor = largest(monitor.at(monitor_metric::kTensors), monitor_metric::kSaturated);
  const ordered_json& deviations = monitor.at(monitor_metric::kVoteDeviations);
  if (!deviations.is_null()) summary.vote_deviations = deviations.get<double>();
  summary.verdicts = monitor.at(monitor_metric::kVerdicts).get<std::vector<std::string>>();
  return summary;
}

bool is_of_hook(const MetricTable::Column& column) { return column.key.starts_with(metric::kHookPrefix); }

// The numbers in the last line that has some.
std::vector<std::pair<std::string, double>> newest_hook(const MetricTable& table) {
  std::vector<std::pair<std::string, double>> numbers;
  for (size_t line = table.lines; line > 0 && numbers.empty(); --line) {
    for (const MetricTable::Column& column : table.columns) {
      if (!is_of_hook(column) || std::isnan(column.values[line - 1])) continue;
      numbers.emplace_back(column.key.substr(std::string_view(metric::kHookPrefix).size()), column.values[line - 1]);
    }
  }
  return numbers;
}

}  // namespace

std::optional<double> RunMetrics::hook_number(const std::string& metric) const {
  for (const auto& [name, value] : hook) {
    if (metric::kHookPrefix + name == metric) return value;
  }
  return std::nullopt;
}

std::optional<double> RunMetrics::late_mean(const std::string& key) const {
  for (const auto& [name, mean] : late) {
    if (name == key) return mean;
  }
  return std::nullopt;
}

std::optional<double> RunMetrics::late_mean_of_scalar(const std::string& name) const {
  return late_mean(kScalarPrefix + name);
}

RunMetrics read_run_metrics(const std::filesystem::path& path, std::vector<std::string>& problems,
                            size_t most_training_points) {
  const MetricTable table = read_metric_table(path, Numbers::kOwn);
  if (!table.half_line.empty()) problems.push_back(table.half_line);
  return run_metrics_of(table, path, problems, most_training_points);
}

RunMetrics run_metrics_of(const MetricTable& table, const std::filesystem::path& path,
                          std::vector<std::string>& problems, size_t most_training_points) {
  problems.insert(problems.end(), table.problems.begin(), table.problems.end());
  RunMetrics metrics;
  metrics.lines = table.lines;
  if (table.lines == 0) return metrics;
  metrics.last_step = static_cast<uint64_t>(table.columns[0].values.back());
  const Column seconds = elapsed(table);
  metrics.held_out = points_of(table, seconds, table.find(kHeldOutKeys.bits));
  metrics.training = thinned(points_of(table, seconds, table.find(metric::kTrainBits)), most_training_points);
  metrics.update_rate = phases_of(table, metric::kChanged);
  metrics.update_rate_of_voted = phases_of(table, metric::kChangedOfVoted);
  metrics.threshold = phases_of(table, kScalarPrefix + "threshold");
  read_speed(table, metrics);
  if (const Column* pairs = table.find(metric::kPairsWithoutFitness)) {
    for (const double count : *pairs) {
      if (!std::isnan(count)) {
        metrics.most_pairs_without_fitness = std::max(count, metrics.most_pairs_without_fitness.value_or(count));
      }
    }
  }
  for (const MetricTable::Column& column : table.columns) {
    if (is_of_hook(column)) continue;
    if (const auto mean = late_mean_of(table, column.values)) metrics.late.emplace_back(column.key, *mean);
  }
  metrics.hook = newest_hook(table);
  if (table.newest_monitor.empty()) return metrics;
  try {
    metrics.monitor = summary_of(table.newest_monitor);
  } catch (const nlohmann::json::exception&) {
    problems.push_back(fmt::format(
        "the newest object \"monitor\" of {} lacks keys that this eggroll expects; it was left out", path.string()));
  }
  return metrics;
}

std::optional<RunMetrics> summarize_metrics(const std::filesystem::path& path) {
  constexpr size_t kTrainingPoints = 60;
  if (!is_there(path)) return std::nullopt;
  std::vector<std::string> problems;  // the file stays, and whoever reads it is told
  RunMetrics metrics = read_run_metrics(path, problems, kTrainingPoints);
  return metrics.lines > 0 ? std::optional(std::move(metrics)) : std::nullopt;
}

double quantile(std::vector<double> values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double low = *nth;
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(nth + 1, values.end());
  return low + (place - static_cast<double>(below)) * (high - low);
}

}  // namespace eggroll
