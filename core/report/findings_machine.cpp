#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "record/plot_frame.h"
#include "report/plots.h"
#include "report/sections.h"
#include "report/withdrawn.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostPoints = 500;
constexpr size_t kMostBars = 20;
constexpr double kCapacitySeconds = 300.0;

// A threshold in standard deviations of the evidence that it is compared with: evidence that decays by `residual` a
// step has 1 / sqrt(1 - residual^2) times the deviation of one step's votes.
double deviations_of(const RunRecord& record, double threshold) {
  const double residual = config_number(record, "optimizer", "residual").value_or(0.0);
  return threshold * std::sqrt(std::max(0.0, 1.0 - residual * residual));
}

std::optional<Phases> rate_of(const StudyRun& run) { return update_rate_of(run.run->record, run.run->metrics); }

double mean_over(const std::vector<const StudyRun*>& runs, double (*value)(const StudyRun&)) {
  double sum = 0.0;
  for (const StudyRun* run : runs) sum += value(*run) / static_cast<double>(runs.size());
  return sum;
}

// Each configuration with its runs that meet the condition; a configuration without any is left out.
template <class Condition>
std::vector<Configuration> configurations_where(const Study& study, Condition&& holds) {
  std::vector<Configuration> result;
  for (Configuration& configuration : study.configurations()) {
    std::erase_if(configuration.runs, [&](const StudyRun* run) { return !holds(*run); });
    if (!configuration.runs.empty()) result.push_back(std::move(configuration));
  }
  return result;
}

// Runs on one kind of device with as many threads and members.
struct SpeedGroup {
  std::vector<const StudyRun*> runs;
  std::vector<double> rates;
  std::vector<double> steps;  // seconds, medians
  std::vector<double> memory;
};

using SpeedPlace = std::pair<std::string, double>;  // device and population

std::map<SpeedPlace, SpeedGroup> speed_groups(const Study& study) {
  std::map<SpeedPlace, SpeedGroup> groups;
  for (const StudyRun* run : study.all_runs()) {
    const RunRecord& record = run->run->record;
    const auto population = config_number(record, "train", "population");
    const double rate = run->run->metrics.tokens_per_second.value_or(0.0);
    if (!(rate > 0.0) || !(population.value_or(0.0) > 0.0)) continue;
    const std::string device = record.device.value_or("unknown device") + ", " + count_text(record.threads, "thread");
    SpeedGroup& group = groups[{device, *population}];
    group.runs.push_back(run);
    group.rates.push_back(rate);
    group.steps.push_back(run->run->metrics.step_seconds->median);
    if (record.memory_bytes) group.memory.push_back(static_cast<double>(*record.memory_bytes));
  }
  return groups;
}

// The exponent of speed over population: one slope for each seed and values of the other axes.
void add_exponent(Draft& draft, const Study& study) {
  std::map<std::pair<uint64_t, std::vector<std::string>>, std::vector<std::pair<double, double>>> groups;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    if (study.axes[a].name != "train.population") continue;
    for (const StudyRun& run : study.runs) {
      const auto population = real_of(run.values[a]);
      if (!population || !run.run->metrics.tokens_per_second) continue;
      std::vector<std::string> others = run.values;
      others[a].clear();
      groups[{run.run->record.seed, others}].emplace_back(*population, *run.run->metrics.tokens_per_second);
    }
  }
  std::vector<OfSeed> slopes;
  for (const auto& [place, points] : groups) {
    if (const auto slope = log_log_slope(points)) slopes.push_back({place.first, *slope});
  }
  if (slopes.empty()) return;
  draft.paragraph("Member tokens per second follow a power of the population. The exponent is " +
                  text_of(mean_over_seeds(slopes), slopes.size(), "slope") +
                  ", with one slope for each seed and each combination of the other axes.");
}

std::string range_text(const std::vector<double>& values, std::string (*write)(double)) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? write(*low) : fmt::format("{} to {}", write(*low), write(*high));
}

// No figure is made of runs that have one threshold or that change next to nothing.
void add_votes_figure(Draft& draft, const Study& study, const std::vector<std::pair<double, double>>& points) {
  constexpr double kLeastRate = 1e-6;
  constexpr double kLeastSpread = 0.02;
  std::vector<std::pair<double, double>> shown;
  for (const auto& point : points) {
    if (point.second >= kLeastRate) shown.push_back(point);
  }
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  if (shown.empty() || high->first - low->first < kLeastSpread * high->first) return;
  const size_t stride = (shown.size() + kMostPoints - 1) / kMostPoints;
  std::vector<std::pair<double, double>> drawn;
  for (size_t i = 0; i < shown.size(); i += stride) drawn.push_back(shown[i]);
  draft.figure(
      slug(study.name) + "-threshold", votes_script(title_of(study) + ": threshold and update rate", drawn),
      fmt::format("The share that a step changes of the weights with votes against the threshold, for {} of {} runs. "
                  "The figure does not show runs that change less than a millionth of them.",
                  drawn.size(), points.size()));
}

}  // namespace

void add_threshold(Draft& draft, const Study& study) {
  const auto has_threshold = [](const StudyRun& run) {
    return run.run->metrics.threshold && run.run->metrics.update_rate;
  };
  const std::vector<Configuration> configurations =
      configurations_where(study, [&](const StudyRun& run) { return has_threshold(run) && rate_of(run).has_value(); });
  std::vector<size_t> left_out;
  for (const StudyRun& run : study.runs) {
    if (has_threshold(run) && !rate_of(run)) left_out.push_back(run.number);
  }
  if (configurations.empty() && left_out.empty()) return;
  draft.heading(3, "Threshold against update rate");
  if (!left_out.empty()) {
    draft.paragraph(Text(
        fmt::format("{} left out: only the members that read a row of a table voted on it, and the record does not say "
                    "how many weights had votes in a step.",
                    left_out.size() == 1 ? "1 run is" : fmt::format("{} runs are", left_out.size())),
        left_out));
  }
  if (configurations.empty()) return;
  draft.paragraph(
      "A step moves a weight if its vote lies further from 0 than the threshold. Thresholds are in standard deviations "
      "of what the optimizer compares with them: votes by chance, or a decaying sum of such votes. The "
      "update rate is the share that a step moves of the weights that had votes in it. The column \"by chance\" is the "
      "share that would move if all votes were chance and normally distributed. An update rate above this share shows "
      "signal, or votes that are not normally distributed. Each number is the mean over the seeds at the first step, "
      "half way, at the last step, or over the last quarter of the steps.");
  Table table;
  table.columns = {
      "configuration", "threshold: first",        "half way", "last", "update rate: first", "half way", "last",
      "last quarter",  "by chance, last quarter", "runs"};
  std::vector<std::pair<double, double>> points;
  for (const Configuration& configuration : configurations) {
    const auto cell = [&](double (*value)(const StudyRun&), std::string (*write)(double)) {
      const double mean = mean_over(configuration.runs, value);
      return Text(write(mean), mean);
    };
    using Run = const StudyRun&;
    table.rows.push_back(
        {study.label(configuration.values),
         cell([](Run r) { return deviations_of(r.run->record, r.run->metrics.threshold->start); }, text_of),
         cell([](Run r) { return deviations_of(r.run->record, r.run->metrics.threshold->middle); }, text_of),
         cell([](Run r) { return deviations_of(r.run->record, r.run->metrics.threshold->end); }, text_of),
         cell([](Run r) { return rate_of(r)->start; }, percent),
         cell([](Run r) { return rate_of(r)->middle; }, percent), cell([](Run r) { return rate_of(r)->end; }, percent),
         cell([](Run r) { return rate_of(r)->late; }, percent),
         cell([](Run r) { return normal_tails(deviations_of(r.run->record, r.run->metrics.threshold->late)); },
              percent),
         Text("", numbers_of(configuration.runs))});
    for (const StudyRun* run : configuration.runs) {
      const RunMetrics& metrics = run->run->metrics;
      points.emplace_back(deviations_of(run->run->record, metrics.threshold->late), rate_of(*run)->late);
    }
  }
  add_votes_figure(draft, study, points);
  draft.add(std::move(table));
}

void add_speed(Draft& draft, const Study& study) {
  const std::map<SpeedPlace, SpeedGroup> groups = speed_groups(study);
  if (groups.empty()) return;
  draft.heading(3, "Speed and memory by population");
  draft.paragraph(
      "Each row puts together all runs with one device and one population. A run's speed is the median over its steps; "
      "the table gives the median and the range over the runs. The two columns for 5 minutes say how many such steps "
      "and member tokens fit into 5 minutes if nothing is evaluated.");
  Table table;
  table.columns = {"device", "population",       "member tokens/s", "range",  "against the smallest",
                   "step",   "5 minutes: steps", "member tokens",   "memory", "runs"};
  std::vector<PointLine> lines;
  double smallest = 0.0;
  for (const auto& [place, group] : groups) {
    const auto& [device, population] = place;
    const double rate = quantile(group.rates, 0.5);
    const double step = quantile(group.steps, 0.5);
    if (lines.empty() || lines.back().label != device) {
      lines.push_back({device, {}});
      smallest = rate;
    }
    lines.back().points.emplace_back(population, rate);
    table.rows.push_back(
        {device, Text(fmt::format("{:.0f}", population), population), Text(short_count(rate), rate),
         range_text(group.rates, short_count), Text(fmt::format("{:.3g} x", rate / smallest), rate / smallest),
         Text(seconds_text(step), step), Text(short_count(kCapacitySeconds / step), kCapacitySeconds / step),
         Text(short_count(kCapacitySeconds * rate), kCapacitySeconds * rate),
         group.memory.empty() ? "" : range_text(group.memory, bytes_text), Text("", numbers_of(group.runs))});
  }
  const bool has_line =
      std::any_of(lines.begin(), lines.end(), [](const PointLine& line) { return line.points.size() > 1; });
  if (has_line) {
    const size_t all = lines.size();
    if (lines.size() > kLineStyles) lines.resize(kLineStyles);
    draft.figure(
        slug(study.name) + "-speed", speed_script(title_of(study) + ": speed", lines),
        fmt::format("Member tokens per second against the population: the median over runs, for {} of {} devices.",
                    lines.size(), all));
  }
  add_exponent(draft, study);
  draft.add(std::move(table));
}

void add_time(Draft& draft, const Study& study) {
  Table table;
  table.columns = {
      "configuration", "wall time", "forward passes", "rest of the steps", "outside the steps", "step: 5 %", "median",
      "95 %",          "runs"};
  std::vector<TimeBar> bars;
  for (const Configuration& configuration : configurations_where(study, [](const StudyRun& run) {
         return has_ended_well(run.run->record) && run.run->metrics.forward_share && run.run->record.wall_seconds > 0;
       })) {
    TimeBar bar{study.spoken_label(configuration.values), 0.0, 0.0, 0.0};
    double wall = 0.0;
    double steps = 0.0;
    double forward = 0.0;
    Quantiles step;
    const auto n = static_cast<double>(configuration.runs.size());
    for (const StudyRun* run : configuration.runs) {
      const RunMetrics& metrics = run->run->metrics;
      wall += run->run->record.wall_seconds;
      steps += metrics.steps_total_seconds;
      forward += *metrics.forward_share * metrics.steps_total_seconds;
      step.p5 += metrics.step_seconds->p5 / n;
      step.median += metrics.step_seconds->median / n;
      step.p95 += metrics.step_seconds->p95 / n;
    }
    // Steps that were done twice, before and after an interruption, are in both or in neither.
    const double total = std::max(wall, steps);
    bar.forward = forward / total;
    bar.rest = (steps - forward) / total;
    bar.outside = (total - steps) / total;
    const auto seconds = [](double value) { return Text(seconds_text(value), value); };
    const auto share = [](double value) { return Text(percent(value), value); };
    table.rows.push_back({study.label(configuration.values), seconds(wall / n), share(bar.forward), share(bar.rest),
                          share(bar.outside), seconds(step.p5), seconds(step.median), seconds(step.p95),
                          Text("", numbers_of(configuration.runs))});
    bars.push_back(std::move(bar));
  }
  if (bars.empty()) return;
  draft.heading(3, "Where the time goes");
  const size_t all = bars.size();
  if (bars.size() > kMostBars) bars.resize(kMostBars);
  draft.figure(slug(study.name) + "-time", time_script(title_of(study) + ": where the time goes", bars),
               fmt::format("How the wall time divides, for {} of {} configurations.", bars.size(), all));
  draft.add(std::move(table));
}

void add_saturation(Draft& draft, const Study& study) {
  Table table;
  table.columns = {"configuration",
                   "values at ±127, most",
                   "weights at ±127, most",
                   "dead channels, most",
                   "votes above chance",
                   "verdicts",
                   "runs"};
  std::map<std::string, std::vector<size_t>> verdicts;
  for (const Configuration& configuration :
       configurations_where(study, [](const StudyRun& run) { return run.run->metrics.monitor.has_value(); })) {
    std::optional<NamedShare> value;
    std::optional<NamedShare> weights;
    std::optional<NamedShare> dead;
    std::vector<double> deviations;
    size_t said = 0;
    const auto keep = [](std::optional<NamedShare>& most, const std::optional<NamedShare>& found) {
      if (found && (!most || found->share > most->share)) most = found;
    };
    for (const StudyRun* run : configuration.runs) {
      const MonitorSummary& monitor = *run->run->metrics.monitor;
      keep(value, monitor.most_saturated_value);
      keep(weights, monitor.most_saturated_tensor);
      keep(dead, monitor.most_constant_value);
      if (monitor.vote_deviations) deviations.push_back(*monitor.vote_deviations);
      said += monitor.verdicts.size();
      for (const std::string& text : monitor.verdicts) verdicts[text].push_back(run->number);
    }
    const auto cell = [](const std::optional<NamedShare>& most) {
      return most ? Text(fmt::format("{} {}", most->name, percent(most->share)), most->share) : Text("");
    };
    table.rows.push_back({study.label(configuration.values), cell(value), cell(weights), cell(dead),
                          deviations.empty() ? Text("") : Text(range_text(deviations, text_of), deviations.front()),
                          Text(std::to_string(said), static_cast<double>(said)),
                          Text("", numbers_of(configuration.runs))});
  }
  if (table.rows.empty()) return;
  draft.heading(3, "Saturation");
  draft.paragraph(
      "What the monitor saw last in each run. The columns with \"most\" give the highest share over the seeds: of int8 "
      "values at ±127, of int8 weights at ±127, and of dead channels, which no token changes. The column \"votes above "
      "chance\" says by how many standard deviations more votes are far from 0 than chance gives, as a range over the "
      "seeds.");
  draft.add(std::move(table));
  std::vector<Text> items;
  constexpr size_t kMostVerdicts = 12;
  for (const auto& [text, runs] : verdicts) {
    if (items.size() < kMostVerdicts) items.emplace_back(text, runs);
  }
  draft.bullets(std::move(items));
  if (verdicts.size() > kMostVerdicts) {
    draft.paragraph(fmt::format("{} more verdicts are in the records.", verdicts.size() - kMostVerdicts));
  }
}

}  // namespace eggroll
