#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "record/curve.h"
#include "report/axis_names.h"
#include "report/plots.h"
#include "report/sections.h"
#include "report/withdrawn.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostEffectRows = 24;  // of the figure; the table has all

std::string reading_of(const Mean& difference) {
  if (!difference.interval) return "one seed";
  if (difference.interval->high < 0) return "lower";
  return difference.interval->low > 0 ? "higher" : "no difference shown";
}

// The seeds' evaluations at each step that all have, without the one before the first step, which is much higher.
Band band_of(const std::vector<const StudyRun*>& runs, const std::string& label) {
  struct Evaluations {
    double tokens = 0.0;
    std::vector<OfSeed> bits;
  };
  std::map<uint64_t, Evaluations> steps;
  for (const StudyRun* run : runs) {
    for (const CurvePoint& p : run->run->metrics.held_out) {
      if (p.step == 0) continue;
      steps[p.step].tokens = p.member_tokens;
      steps[p.step].bits.push_back({run->run->record.seed, p.bits});
    }
  }
  Band band{label, {}};
  for (const auto& [step, evaluations] : steps) {
    if (evaluations.bits.size() < runs.size()) continue;
    band.points.push_back(point_of(evaluations.tokens, mean_over_seeds(evaluations.bits)));
  }
  return band;
}

// "bits per byte"; "bits per unit" if the study has several kinds of data.
std::string unit_of_all(const Study& study) {
  const std::vector<std::string> kinds = data_in(study);
  return kinds.size() == 1 ? unit_of(study, kinds.front()) : "bits per unit";
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
      const std::vector<RunPair> pairs = pairs_of(runs, a, axis.values[v], axis.values[0], "bits");
      if (pairs.empty()) continue;
      Effect effect{a, axis.values[v], mean_over_seeds(differences_of(pairs)), pairs.size(), std::nullopt, {}};
      for (const RunPair& pair : pairs)
        effect.runs.insert(effect.runs.end(), {pair.of_value->number, pair.with->number});
      const std::vector<RunPair> speeds = pairs_of(runs, a, axis.values[v], axis.values[0], "tokens_per_second");
      double logs = 0.0;
      for (const RunPair& pair : speeds) logs += std::log(pair.ratio) / static_cast<double>(speeds.size());
      if (!speeds.empty()) effect.speed = std::exp(logs);
      effects.push_back(std::move(effect));
    }
  }
  return effects;
}

}  // namespace

BandPoint point_of(double x, const Mean& mean) {
  const Interval interval = mean.interval.value_or(Interval{mean.mean, mean.mean});
  return {x, mean.mean, interval.low, interval.high};
}

void add_effects(Draft& draft, const Study& study) {
  const std::vector<Effect> effects = effects_of(study);
  if (effects.empty()) return;
  std::vector<double> numbers;
  for (const Effect& effect : effects) append(numbers, effect.bits);
  const Decimals text(numbers);
  std::vector<double> speeds;
  for (const Effect& effect : effects) speeds.push_back(effect.speed.value_or(0.0));
  const Decimals speed_text(speeds);
  Table table;
  table.columns = {"axis", "value", "minus", "bits", "95 % interval", "seeds", "pairs", "reading", "speed", "runs"};
  std::vector<std::pair<std::string, BandPoint>> rows;
  for (const Effect& effect : effects) {
    const Axis& axis = study.axes[effect.axis];
    const Mean& bits = effect.bits;
    const auto count = [](size_t number) { return Text(std::to_string(number), static_cast<double>(number)); };
    table.rows.push_back({axis.name, study.value_text(effect.axis, effect.value),
                          study.value_text(effect.axis, axis.values[0]), Text(text(bits.mean), bits.mean),
                          interval_cell(bits, text), count(bits.n), count(effect.pairs), reading_of(bits),
                          effect.speed ? Text(speed_text(*effect.speed) + " x", *effect.speed) : Text(""),
                          Text("", effect.runs)});
    // For an axis of several keys, the values name the keys.
    const bool is_named = study.value_text(effect.axis, effect.value) != effect.value;
    rows.emplace_back(
        fmt::format("{}{} against {}", is_named ? "" : spoken_axis(axis.name) + ": ",
                    study.spoken_value(effect.axis, effect.value), study.spoken_value(effect.axis, axis.values[0])),
        point_of(0.0, bits));
  }
  draft.heading(3, "Effects of the axes");
  draft.paragraph(
      "Each row compares a value of an axis with the first value of this axis, in pairs of runs that have the same "
      "seed and agree in all other axes. Pairs of one seed are averaged first; the 95 % interval is over the seeds. "
      "The column \"bits\" is the difference in final held-out bits per unit: below 0, the value is better than the "
      "first one. No correction is made for the number of rows. The column \"speed\" is the ratio of member tokens per "
      "second, as the geometric mean over the pairs.");
  const size_t shown = std::min(rows.size(), kMostEffectRows);
  const std::string left_out = shown < rows.size() ? fmt::format("; the first {} of {} rows", shown, rows.size()) : "";
  rows.resize(shown);
  draft.figure(slug(study.name) + "-effects",
               intervals_script(title_of(study) + ": effects of the axes",
                                fmt::format("difference in {} (below 0: better)", unit_of_all(study)), rows),
               "Paired differences in held-out bits with their 95 % intervals" + left_out + ".");
  draft.table(slug(study.name) + "-effects", table);
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
      Band band = band_of(ended, fmt::format("{}. {}", i + 1, study.spoken_label(standings[i].configuration.values)));
      if (band.points.size() < 2) continue;  // no curve
      ++with_curves;
      if (bands.size() == kLineStyles) continue;
      bands.push_back(std::move(band));
      runs.insert(runs.end(), ended.begin(), ended.end());
    }
    if (bands.empty()) continue;
    const std::string unit = unit_of(study, data).substr(std::string("bits per ").size());
    draft.heading(3, "Learning curves" + data_suffix(study, data));
    draft.figure(
        slug(study.name + data_suffix(study, data)) + "-curves",
        curves_script({title_of(study) + data_suffix(study, data) + ": learning curves", "held-out bits per " + unit,
                       means_title(bands, "band"), bands, yardsticks_of(runs)}),
        fmt::format(
            "Held-out bits of the unperturbed model, for the best {} of {} configurations with two evaluations or more "
            "in training; the evaluation before the first step is left out. A line is the mean over the seeds, its "
            "band "
            "the 95 % interval of the mean. The frame fits the means after the first fifth of each curve and cuts off "
            "what lies far outside; what other methods need is named at its edge where it lies there.",
            bands.size(), with_curves));
    draft.paragraph(Text("The figure shows " + count_text(runs.size(), "run"), numbers_of(runs)));
  }
}

}  // namespace eggroll
