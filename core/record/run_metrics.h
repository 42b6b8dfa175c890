// What a report needs from one run's metrics.jsonl. The run's record keeps it too.
#ifndef EGGROLL_RECORD_RUN_METRICS_H
#define EGGROLL_RECORD_RUN_METRICS_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eggroll {

struct CurvePoint {
  uint64_t step = 0;
  double member_tokens = 0.0;
  double seconds = 0.0;  // of the steps up to this one, without evaluations
  double bits = 0.0;     // per unit

  bool operator==(const CurvePoint&) const = default;
};

// A number at the first step, half way and at the last, and its mean over the last quarter of the steps.
struct Phases {
  double start = 0.0;
  double middle = 0.0;
  double end = 0.0;
  double late = 0.0;

  bool operator==(const Phases&) const = default;
};

struct Quantiles {
  double p5 = 0.0;
  double median = 0.0;
  double p95 = 0.0;
};

// A value or tensor of the program, and the share that was found of it.
struct NamedShare {
  std::string name;
  double share = 0.0;
};

// The monitor's newest look.
struct MonitorSummary {
  uint64_t step = 0;
  std::optional<NamedShare> most_saturated_value;   // at +-127
  std::optional<NamedShare> most_saturated_tensor;  // weights at +-127
  std::optional<NamedShare> most_constant_value;    // channels that no token changes
  std::optional<double> vote_deviations;            // of the votes above chance
  std::vector<std::string> verdicts;
};

struct RunMetrics {
  uint64_t lines = 0;
  uint64_t last_step = 0;
  std::vector<CurvePoint> held_out;   // evaluations, all of the same tokens
  std::vector<CurvePoint> training;   // neighbouring lines are averaged if there are more lines than wanted points
  std::optional<Phases> update_rate;  // share of the perturbed weights that a step changes
  std::optional<Phases> update_rate_of_voted;        // of those that had votes in the step; absent in older records
  std::optional<Phases> threshold;                   // in standard deviations of chance
  std::optional<Quantiles> step_seconds;             // of a step
  double steps_total_seconds = 0.0;                  // of all steps
  std::optional<double> forward_share;               // of the steps' time
  std::optional<double> tokens_per_second;           // member tokens over seconds of the median step
  std::optional<double> most_pairs_without_fitness;  // of one step
  std::vector<std::pair<std::string, double>> late;  // for each key, its mean over the last quarter of the steps
  std::optional<MonitorSummary> monitor;
  std::vector<std::pair<std::string, double>> hook;  // the numbers of the newest evaluation that has some

  // The number that a claim's metric "hook.NAME" means.
  std::optional<double> hook_number(const std::string& metric) const;
  std::optional<double> late_mean(const std::string& key) const;
  // The late mean of an optimizer's scalar.
  std::optional<double> late_mean_of_scalar(const std::string& name) const;
};

inline constexpr size_t kMostTrainingPoints = 200;

struct MetricTable;

// Appends what was damaged, missing or left out to problems. path names the file in them.
RunMetrics run_metrics_of(const MetricTable& table, const std::filesystem::path& path,
                          std::vector<std::string>& problems, size_t most_training_points = kMostTrainingPoints);
// Reads the file. A last line without its end is a problem too.
RunMetrics read_run_metrics(const std::filesystem::path& path, std::vector<std::string>& problems,
                            size_t most_training_points = kMostTrainingPoints);

// The summary for the record of a run that has ended, with 60 points of the training curve. Empty if the file is
// missing or holds no whole line.
std::optional<RunMetrics> summarize_metrics(const std::filesystem::path& path);

// Interpolates linearly between the two nearest sorted values, of which there must be at least one; q is from 0 to 1.
double quantile(std::vector<double> values, double q);

}  // namespace eggroll

#endif
