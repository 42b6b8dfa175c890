#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/figures.h"
#include "report/plots.h"
#include "report/sections.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostCurves = 6;
constexpr size_t kMostEffectRows = 24;  // of the figure; the table has all

// The runs that read this data.
std::vector<const StudyRun*> on_data(const std::vector<const StudyRun*>& runs, const std::string& data) {
  std::vector<const StudyRun*> result;
  for (const StudyRun* run : runs) {
    if (data_of(run->run->record) == data) result.push_back(run);
  }
  return result;
}

std::string data_suffix(const Study& study, const std::string& data) {
  return data_in(study).size() > 1 ? ", " + data : "";
}

std::vector<double> values_of(const std::vector<const StudyRun*>& runs, const std::string& metric) {
  std::vector<double> values;
  for (const StudyRun* run : runs) {
    if (const auto value = metric_of(*run->run, metric)) values.push_back(*value);
  }
  return values;
}

std::optional<double> median_of(const std::vector<const StudyRun*>& runs, const std::string& metric) {
  const std::vector<double> values = values_of(runs, metric);
  return values.empty() ? std::nullopt : std::optional(quantile(values, 0.5));
}

Text number_cell(const std::optional<double>& value, std::string (*write)(double)) {
  return value ? Text(write(*value), *value) : Text("");
}

Text interval_cell(const Mean& mean, const Decimals& text) {
  if (!mean.interval) return "none";
  return Text(fmt::format("{} to {}", text(mean.interval->low), text(mean.interval->high)), mean.interval->low);
}

// A standing's place relative to the best.
std::string place_of(const Standing& standing, const Standing& best) {
  if (&standing == &best) return "best";
  const std::optional<bool> tied = tie(standing, best);
  if (!tied) return "no interval";
  if (*tied) return "tie";
  // The best over all its seeds may not be the best over the seeds that both have.
  const std::optional<Mean> difference = paired_difference(standing, best);
  return difference && difference->mean < 0.0 ? "ahead on shared seeds" : "behind";
}

void append(std::vector<double>& numbers, const Mean& mean) {
  numbers.push_back(mean.mean);
  if (mean.interval) numbers.insert(numbers.end(), {mean.interval->low, mean.interval->high});
}

// The bits of each seed.
std::map<uint64_t, double> bits_by_seed(const Standing& standing) {
  std::map<uint64_t, std::vector<double>> all;
  for (const StudyRun* run : standing.configuration.runs) {
    if (const auto bits = metric_of(*run->run, "bits")) all[run->run->record.seed].push_back(*bits);
  }
  std::map<uint64_t, double> means;
  for (const auto& [seed, bits] : all) means[seed] = mean_of(bits).mean;
  return means;
}

std::string reading_of(const Mean& difference) {
  if (!difference.interval) return "one seed";
  if (difference.interval->high < 0) return "lower";
  return difference.interval->low > 0 ? "higher" : "no difference shown";
}

// The seeds' evaluations, step by step, where all have one.
Band band_of(const std::vector<const StudyRun*>& runs, const std::string& label) {
  struct Sum {
    BandPoint point;
    size_t count = 0;
  };
  std::map<uint64_t, Sum> steps;
  for (const StudyRun* run : runs) {
    for (const CurvePoint& p : run->run->metrics.held_out) {
      Sum& sum = steps[p.step];
      if (sum.count == 0) sum.point = {p.member_tokens, 0.0, p.bits, p.bits};
      sum.point.mean += p.bits;
      sum.point.low = std::min(sum.point.low, p.bits);
      sum.point.high = std::max(sum.point.high, p.bits);
      ++sum.count;
    }
  }
  Band band{label, {}};
  for (auto& [step, sum] : steps) {
    if (sum.count < runs.size()) continue;
    sum.point.mean /= static_cast<double>(sum.count);
    band.points.push_back(sum.point);
  }
  return band;
}

// Means over the runs of what data and simple models give.
std::vector<std::pair<std::string, double>> yardsticks_of(const std::vector<const StudyRun*>& runs) {
  std::map<std::string, std::vector<double>> values;
  for (const StudyRun* run : runs) {
    const RunRecord& record = run->run->record;
    if (record.baselines.unigram) values["unigram"].push_back(*record.baselines.unigram);
    if (record.baselines.bigram) values["bigram"].push_back(*record.baselines.bigram);
    if (record.baselines.gzip) values["gzip"].push_back(*record.baselines.gzip);
    if (!record.dataset || !record.dataset->facts.contains("entropy_rate_bits")) continue;
    const nlohmann::ordered_json& rate = record.dataset->facts.at("entropy_rate_bits");
    if (rate.is_number()) values["entropy rate"].push_back(rate.get<double>());
  }
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [name, all] : values) result.emplace_back(name, mean_of(all).mean);
  return result;
}

void add_leaderboard_of(Draft& draft, const Study& study, const std::string& data) {
  const std::vector<Standing> standings = standings_of(study, data);
  if (standings.empty()) return;
  draft.heading(3, "Leaderboard" + data_suffix(study, data));
  const Standing& best = standings.front();
  const auto tied = std::count_if(standings.begin(), standings.end(),
                                  [&](const Standing& standing) { return place_of(standing, best) == "tie"; });
  std::string words = fmt::format("Held-out {}; lower is better. The best is {}: {}.", unit_of(study, data),
                                  study.label(best.configuration.values), text_of(best.bits, "seed"));
  if (tied > 0) words += fmt::format(" {} with it.", tied == 1 ? "1 other ties" : fmt::format("{} others tie", tied));
  if (!best.bits.interval && standings.size() > 1) words += " One seed cannot show which others tie with it.";
  const bool any_average = has_average(study);
  if (any_average) words += " The weights' average has a column of its own; all other columns are of the weights.";
  draft.paragraph(Text(words, best.runs));
  if (best.bits.interval && standings.size() > 1) {
    draft.paragraph(fmt::format(
        "Every other configuration is compared with the best one by paired differences, over the seeds that both have. "
        "A \"tie\" means that the 95 % interval of the difference contains 0; it does not show that the two are equal. "
        "\"Behind\" means that the whole interval lies above 0. If the two share fewer than two seeds, they tie if "
        "their own intervals overlap. No correction is made for the number of comparisons, which is {}, nor for "
        "choosing the best by the same runs.",
        standings.size() - 1));
  }
  std::string yardsticks;
  std::vector<const StudyRun*> all;
  std::vector<size_t> stopped;
  for (const Standing& standing : standings) {
    all.insert(all.end(), standing.configuration.runs.begin(), standing.configuration.runs.end());
  }
  for (const StudyRun* run : all) {
    if (run->run->record.status == RunStatus::kStopped) stopped.push_back(run->number);
  }
  if (!stopped.empty()) {
    draft.paragraph(
        Text(fmt::format("{} of these runs {} stopped early.", stopped.size(), stopped.size() == 1 ? "was" : "were"),
             stopped));
  }
  for (const auto& [name, bits] : yardsticks_of(all)) {
    yardsticks += fmt::format("{}{} {}", yardsticks.empty() ? "On the same data: " : ", ", name, text_of(bits));
  }
  if (!yardsticks.empty()) draft.paragraph(yardsticks + ".");

  Table table;
  table.columns = {"#"};
  for (const Axis& axis : study.axes) table.columns.push_back(axis.name);
  for (const char* column : {"bits", "95 % interval", "n", "against the best", "minus the best", "lowest", "highest"}) {
    table.columns.emplace_back(column);
  }
  if (any_average) table.columns.emplace_back("bits of the average");
  table.columns.insert(table.columns.end(), {"member tokens/s", "runs"});
  std::vector<double> bits;
  std::vector<double> differences;
  for (const Standing& standing : standings) {
    append(bits, standing.bits);
    bits.push_back(standing.highest);
    if (const auto difference = paired_difference(standing, best)) append(differences, *difference);
  }
  const Decimals text(bits);
  const Decimals difference_text(differences);
  for (size_t i = 0; i < standings.size(); ++i) {
    const Standing& standing = standings[i];
    std::vector<Text> row = {Text(std::to_string(i + 1), static_cast<double>(i + 1))};
    for (size_t a = 0; a < study.axes.size(); ++a) {
      const std::string& value = standing.configuration.values[a];
      const auto number = real_of(value);
      row.push_back(number ? Text(value, *number) : Text(study.value_text(a, value)));
    }
    row.emplace_back(text(standing.bits.mean), standing.bits.mean);
    row.push_back(interval_cell(standing.bits, text));
    row.emplace_back(std::to_string(standing.bits.n), static_cast<double>(standing.bits.n));
    row.emplace_back(place_of(standing, best));
    const std::optional<Mean> difference = i > 0 ? paired_difference(standing, best) : std::nullopt;
    row.push_back(difference ? Text(fmt::format("{} ({})", difference_text(difference->mean),
                                                interval_cell(*difference, difference_text).words),
                                    difference->mean)
                             : Text(""));
    row.emplace_back(text(standing.lowest), standing.lowest);
    row.emplace_back(text(standing.highest), standing.highest);
    const std::vector<double> averages = values_of(standing.configuration.runs, "average_bits");
    const double average = averages.empty() ? 0.0 : mean_of(averages).mean;
    if (any_average) row.push_back(averages.empty() ? Text("") : Text(text(average), average));
    row.push_back(number_cell(median_of(standing.configuration.runs, "tokens_per_second"), short_count));
    row.emplace_back("", standing.runs);
    table.rows.push_back(std::move(row));
  }
  draft.add(std::move(table));
  for (const Axis& axis : study.axes) {
    if (!axis.alike.empty()) {
      std::string keys;
      for (const std::string& key : axis.alike) keys += (keys.empty() ? "" : ", ") + key;
      draft.paragraph(fmt::format("{} varies together with {}: their effects cannot be told apart.", axis.name, keys));
    }
  }
}

// The effect of an axis' value, compared with the axis' first value.
struct Effect {
  size_t axis = 0;
  std::string value;
  Mean bits;  // over seeds
  size_t pairs = 0;
  std::optional<double> speed;  // a factor
  std::vector<size_t> runs;
};

std::vector<Effect> effects_of(const Study& study) {
  std::vector<const StudyRun*> runs;
  for (const StudyRun& run : study.runs) runs.push_back(&run);
  std::vector<Effect> effects;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    const Axis& axis = study.axes[a];
    for (size_t v = 1; v < axis.values.size(); ++v) {
      const std::vector<Pair> pairs = pairs_of(runs, a, axis.values[v], axis.values[0], "bits");
      if (pairs.empty()) continue;
      Effect effect{a, axis.values[v], mean_over_seeds(differences_of(pairs)), pairs.size(), std::nullopt, {}};
      for (const Pair& pair : pairs) effect.runs.insert(effect.runs.end(), {pair.of_value->number, pair.with->number});
      const std::vector<Pair> speeds = pairs_of(runs, a, axis.values[v], axis.values[0], "tokens_per_second");
      double logs = 0.0;
      for (const Pair& pair : speeds) logs += std::log(pair.ratio) / static_cast<double>(speeds.size());
      if (!speeds.empty()) effect.speed = std::exp(logs);
      effects.push_back(std::move(effect));
    }
  }
  return effects;
}

}  // namespace

std::vector<size_t> numbers_of(const std::vector<const StudyRun*>& runs) {
  std::vector<size_t> numbers;
  for (const StudyRun* run : runs) numbers.push_back(run->number);
  return numbers;
}

std::vector<std::string> data_in(const Study& study) {
  std::vector<std::string> kinds;
  std::set<std::string> seen;
  for (const StudyRun& run : study.runs) {
    const std::string data = data_of(run.run->record);
    if (seen.insert(data).second) kinds.push_back(data);
  }
  return kinds;
}

std::string unit_of(const Study& study, const std::string& data) {
  for (const StudyRun& run : study.runs) {
    const RunRecord& record = run.run->record;
    if (record.dataset && data_of(record) == data) return "bits per " + record.dataset->unit;
  }
  return "bits";
}

std::vector<Standing> standings_of(const Study& study, const std::string& data) {
  std::vector<Standing> standings;
  for (Configuration& configuration : study.configurations()) {
    Standing standing;
    standing.configuration = {configuration.values, on_data(configuration.runs, data)};
    std::vector<double> bits;
    for (const StudyRun* run : standing.configuration.runs) {
      const auto figure = metric_of(*run->run, "bits");
      if (!figure) continue;
      bits.push_back(*figure);
      standing.runs.push_back(run->number);
    }
    if (bits.empty()) continue;
    standing.bits = mean_of(bits);
    standing.lowest = *std::min_element(bits.begin(), bits.end());
    standing.highest = *std::max_element(bits.begin(), bits.end());
    standings.push_back(std::move(standing));
  }
  std::stable_sort(standings.begin(), standings.end(),
                   [](const Standing& a, const Standing& b) { return a.bits.mean < b.bits.mean; });
  return standings;
}

std::optional<Mean> paired_difference(const Standing& one, const Standing& other) {
  const std::map<uint64_t, double> others = bits_by_seed(other);
  std::vector<double> differences;
  for (const auto& [seed, bits] : bits_by_seed(one)) {
    const auto found = others.find(seed);
    if (found != others.end()) differences.push_back(bits - found->second);
  }
  return differences.size() < 2 ? std::nullopt : std::optional(mean_of(differences));
}

std::optional<bool> tie(const Standing& one, const Standing& other) {
  if (const std::optional<Mean> difference = paired_difference(one, other)) {
    return difference->interval->low <= 0.0 && difference->interval->high >= 0.0;
  }
  if (!one.bits.interval || !other.bits.interval) return std::nullopt;
  return overlap(*one.bits.interval, *other.bits.interval);
}

void add_leaderboard(Draft& draft, const Study& study) {
  for (const std::string& data : data_in(study)) add_leaderboard_of(draft, study, data);
}

void add_effects(Draft& draft, const Study& study) {
  const std::vector<Effect> effects = effects_of(study);
  if (effects.empty()) return;
  std::vector<double> numbers;
  for (const Effect& effect : effects) append(numbers, effect.bits);
  const Decimals text(numbers);
  Table table;
  table.columns = {"axis", "value", "minus", "bits", "95 % interval", "seeds", "pairs", "reading", "speed", "runs"};
  std::vector<std::pair<std::string, BandPoint>> rows;
  for (const Effect& effect : effects) {
    const Axis& axis = study.axes[effect.axis];
    const std::string value = study.value_text(effect.axis, effect.value);
    const std::string first = study.value_text(effect.axis, axis.values[0]);
    const Mean& bits = effect.bits;
    const auto count = [](size_t number) { return Text(std::to_string(number), static_cast<double>(number)); };
    table.rows.push_back({axis.name, value, first, Text(text(bits.mean), bits.mean), interval_cell(bits, text),
                          count(bits.n), count(effect.pairs), reading_of(bits),
                          effect.speed ? Text(fmt::format("{:.3g} x", *effect.speed), *effect.speed) : Text(""),
                          Text("", effect.runs)});
    const Interval interval = bits.interval.value_or(Interval{bits.mean, bits.mean});
    // The values of an axis of several keys name them.
    const std::string name = value == effect.value ? axis.name + ": " : "";
    rows.emplace_back(fmt::format("{}{} - {}", name, value, first),
                      BandPoint{0.0, bits.mean, interval.low, interval.high});
  }
  draft.heading(3, "Effects of the axes");
  draft.paragraph(
      "Each row compares a value of an axis with the first value of this axis, in pairs of runs that have the same "
      "seed and agree in all other axes. Pairs of one seed are averaged first; the 95 % interval is over the seeds. "
      "The column \"bits\" is the difference in final held-out bits per unit: below 0, the value is better than the "
      "first one. The column \"speed\" is the ratio of member tokens per second, as the geometric mean over the "
      "pairs.");
  const size_t shown = std::min(rows.size(), kMostEffectRows);
  const std::string left_out = shown < rows.size() ? fmt::format("; the first {} of {} rows", shown, rows.size()) : "";
  rows.resize(shown);
  draft.figure(slug(study.name) + "-effects", intervals_script("difference in held-out bits per unit", rows),
               "Paired differences in held-out bits with their 95 % intervals" + left_out + ".");
  draft.add(std::move(table));
}

void add_curves(Draft& draft, const Study& study) {
  for (const std::string& data : data_in(study)) {
    const std::vector<Standing> standings = standings_of(study, data);
    std::vector<Band> bands;
    std::vector<const StudyRun*> runs;
    size_t with_curves = 0;
    for (size_t i = 0; i < standings.size(); ++i) {
      std::vector<const StudyRun*> ended;
      for (const StudyRun* run : standings[i].configuration.runs) {
        if (metric_of(*run->run, "bits") && !run->run->metrics.held_out.empty()) ended.push_back(run);
      }
      if (ended.empty()) continue;
      Band band = band_of(ended, fmt::format("{}. {}", i + 1, study.label(standings[i].configuration.values)));
      if (band.points.size() < 2) continue;
      ++with_curves;
      if (bands.size() == kMostCurves) continue;
      bands.push_back(std::move(band));
      runs.insert(runs.end(), ended.begin(), ended.end());
    }
    if (bands.empty()) continue;
    const std::string unit = unit_of(study, data).substr(std::string("bits per ").size());
    draft.heading(3, "Learning curves" + data_suffix(study, data));
    draft.figure(
        slug(study.name + data_suffix(study, data)) + "-curves", curves_script(unit, bands, yardsticks_of(runs)),
        fmt::format(
            "Held-out bits of the unperturbed model, for the best {} of {} configurations. A line is the mean over the "
            "seeds; its band reaches from the lowest seed to the highest. The frame fits the last nine tenths of the "
            "curves and cuts off what is higher in the first tenth.",
            bands.size(), with_curves));
    draft.paragraph(Text("The figure shows " + count_text(runs.size(), "run"), numbers_of(runs)));
  }
}

}  // namespace eggroll
