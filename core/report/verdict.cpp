#include "report/verdict.h"

#include <fmt/format.h>
#include <algorithm>

#include "eggroll/error.h"
#include "report/statistics.h"
#include "report/withdrawn.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

std::optional<size_t> place_of(const Study& study, const std::string& axis) {
  for (size_t i = 0; i < study.axes.size(); ++i) {
    if (study.axes[i].name == axis) return i;
  }
  return std::nullopt;
}

Verdict undecided(std::string why) { return {Outcome::kUndecided, std::move(why), {}, 1.0}; }

Verdict no_axis(const std::string& axis) { return undecided(fmt::format("the runs do not differ in {}", axis)); }

// The runs that the claim speaks of.
std::vector<const StudyRun*> runs_of(const Claim& claim, const Study& study) {
  std::vector<const StudyRun*> runs;
  for (const StudyRun& run : study.runs) {
    const bool fits = std::all_of(claim.where.begin(), claim.where.end(), [&](const auto& condition) {
      const auto axis = place_of(study, condition.first);
      // An axis in which the runs do not differ is not kept with the study.
      const auto& axes = run.run->record.sweep ? run.run->record.sweep->axes : nlohmann::ordered_json();
      if (!axis)
        return axes.contains(condition.first) && same_axis_value(axis_text(axes[condition.first]), condition.second);
      return same_axis_value(run.values[*axis], condition.second);
    });
    if (fits) runs.push_back(&run);
  }
  return runs;
}

void number_runs(Verdict& verdict) {
  std::sort(verdict.runs.begin(), verdict.runs.end());
  verdict.runs.erase(std::unique(verdict.runs.begin(), verdict.runs.end()), verdict.runs.end());
}

// Whether the interval lies wholly in the range, wholly outside it, or neither.
Outcome within(const Interval& interval, double low, double high) {
  if (interval.low >= low && interval.high <= high) return Outcome::kConfirmed;
  return interval.high < low || interval.low > high ? Outcome::kRefuted : Outcome::kUndecided;
}

// Twice the smaller of two one-sided p-values: that the mean lies inside the range (the larger one of its two borders),
// and that it lies outside (the smaller one).
double p_within(const Mean& mean, double low, double high) {
  const double inside = std::max(p_above(mean, low), p_below(mean, high));
  const double outside = std::min(p_below(mean, low), p_above(mean, high));
  return std::min(1.0, 2.0 * std::min(inside, outside));
}

Outcome on_side(const Interval& interval, double border, Expectation expected) {
  const bool below = interval.high < border;
  const bool above = interval.low > border;
  if (!below && !above) return Outcome::kUndecided;
  return below == (expected == Expectation::kLower) ? Outcome::kConfirmed : Outcome::kRefuted;
}

Verdict judge_comparison(const Comparison& test, const Claim& claim, const Study& study) {
  const auto axis = place_of(study, test.axis);
  if (!axis) return no_axis(test.axis);
  const std::vector<RunPair> pairs = pairs_of(runs_of(claim, study), *axis, test.value, test.with, claim.metric);
  if (pairs.empty()) return undecided("no pair of runs that ended has this figure");
  Verdict verdict;
  for (const RunPair& pair : pairs) {
    verdict.runs.insert(verdict.runs.end(), {pair.of_value->number, pair.with->number});
  }
  const Mean mean = mean_over_seeds(differences_of(pairs));
  verdict.estimate = Estimate{"difference", mean.mean, mean.interval, mean.n};
  verdict.finding = "mean difference " + text_of(mean, pairs.size(), "pair");
  const bool equal = test.expect == Expectation::kEqual;
  if (equal) verdict.finding += fmt::format("; claimed: equal within {}", text_of(test.within));
  if (mean.interval) {
    verdict.outcome =
        equal ? within(*mean.interval, -test.within, test.within) : on_side(*mean.interval, 0.0, test.expect);
    verdict.p = equal ? p_within(mean, -test.within, test.within) : p_unlike(mean, 0.0);
  }
  return verdict;
}

Verdict judge_slope(const Slope& test, const Claim& claim, const Study& study) {
  const auto axis = place_of(study, test.axis);
  if (!axis) return no_axis(test.axis);
  struct Group {
    std::vector<std::pair<double, double>> points;
    std::vector<size_t> runs;
  };
  std::map<std::pair<uint64_t, std::vector<std::string>>, Group> groups;
  for (const StudyRun* run : runs_of(claim, study)) {
    const auto x = real_of(run->values[*axis]);
    const auto y = metric_of(*run->run, claim.metric);
    if (!x || !y) continue;
    std::vector<std::string> others = run->values;
    others[*axis].clear();
    Group& group = groups[{run->run->record.seed, others}];
    group.points.emplace_back(*x, *y);
    group.runs.push_back(run->number);
  }
  Verdict verdict;
  std::vector<OfSeed> slopes;
  size_t without = 0;
  for (const auto& [place, group] : groups) {
    const auto slope = log_log_slope(group.points);
    if (!slope) {
      ++without;
      continue;
    }
    slopes.push_back({place.first, *slope});
    verdict.runs.insert(verdict.runs.end(), group.runs.begin(), group.runs.end());
  }
  if (slopes.empty()) return undecided("no seed has two values of the axis with figures above 0");
  const Mean mean = mean_over_seeds(slopes);
  verdict.estimate = Estimate{"slope", mean.mean, mean.interval, mean.n};
  verdict.finding = "mean slope " + text_of(mean, slopes.size(), "slope");
  verdict.finding += fmt::format("; claimed: {} within {}", text_of(test.expect), text_of(test.within));
  if (without > 0) verdict.finding += fmt::format("; {} seeds or combinations have no slope", without);
  if (mean.interval) {
    verdict.outcome = within(*mean.interval, test.expect - test.within, test.expect + test.within);
    verdict.p = p_within(mean, test.expect - test.within, test.expect + test.within);
  }
  return verdict;
}

Verdict judge_share(const Share& test, const Claim& claim, const Study& study) {
  Verdict verdict;
  size_t inside = 0;
  size_t without = 0;
  for (const StudyRun* run : runs_of(claim, study)) {
    const auto figure = metric_of(*run->run, claim.metric);
    if (!figure) {
      ++without;
      continue;
    }
    verdict.runs.push_back(run->number);
    if (test.below ? *figure < test.limit : *figure > test.limit) ++inside;
  }
  if (verdict.runs.empty()) return undecided("no run that ended has this figure");
  const size_t n = verdict.runs.size();
  const Interval interval = wilson(inside, n);
  verdict.estimate = Estimate{"share", static_cast<double>(inside) / static_cast<double>(n), interval, n};
  verdict.finding =
      fmt::format("{} of {} runs are {} {} (95 % interval {} to {} of all); claimed: {} than {}", inside, n,
                  test.below ? "below" : "above", text_of(test.limit), percent(interval.low), percent(interval.high),
                  test.expect == Expectation::kLower ? "fewer" : "more", percent(test.than));
  if (without > 0) verdict.finding += fmt::format("; {} runs without the figure are left out", without);
  verdict.outcome = on_side(interval, test.than, test.expect);
  verdict.p = binomial_p(inside, n, test.than);
  return verdict;
}

// If some runs have lost the metrics that the claim's figure comes from, the other runs must not decide alone.
std::optional<Verdict> not_judged(const Claim& claim, const Study& study) {
  if (claim.metric == "bits" || claim.metric == "average_bits") return std::nullopt;  // the record itself has them
  Verdict verdict{Outcome::kNotJudged, "", {}, 1.0};
  size_t all = 0;
  for (const StudyRun* run : runs_of(claim, study)) {
    if (!has_ended_well(run->run->record)) continue;
    ++all;
    if (run->run->metrics.lines == 0) verdict.runs.push_back(run->number);
  }
  if (verdict.runs.empty()) return std::nullopt;
  verdict.finding =
      fmt::format("the figure {} is lost for {} of {}: the record has no summary, and no metrics.jsonl lies beside it",
                  claim.metric, verdict.runs.size(), count_text(all, "run"));
  return verdict;
}

std::string capital(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string lateness_text(const Lateness& late) {
  return late.ended > 0 ? fmt::format("stated after {} of {} runs had ended", late.ended, late.runs)
                        : fmt::format("stated after {} of {} runs had begun", late.begun, late.runs);
}

}  // namespace

Verdict judge(const Claim& claim, const Study& study) {
  if (std::optional<Verdict> missing = not_judged(claim, study)) return *missing;
  Verdict verdict = std::visit(
      [&](const auto& test) {
        using Test = std::decay_t<decltype(test)>;
        if constexpr (std::is_same_v<Test, Comparison>) {
          return judge_comparison(test, claim, study);
        } else if constexpr (std::is_same_v<Test, Slope>) {
          return judge_slope(test, claim, study);
        } else {
          return judge_share(test, claim, study);
        }
      },
      claim.test);
  number_runs(verdict);
  return verdict;
}

std::string outcome_name(Outcome outcome) {
  constexpr const char* kNames[] = {"confirmed", "refuted", "undecided", "not judged"};
  return kNames[static_cast<size_t>(outcome)];
}

std::vector<Judged> judge_all(const Study& study) {
  std::vector<Judged> result;
  for (const StudyClaim& stated : study.claims) {
    Judged judged;
    judged.is_current = stated.is_current;
    bool exploratory = stated.late.has_value();
    try {
      const Claim claim = claim_from_json(stated.claim, fmt::format("claim {} of {}", result.size() + 1, study.name));
      judged.says = claim.says;
      judged.verdict = judge(claim, study);
      exploratory = exploratory || claim.exploratory;
    } catch (const Error& error) {
      judged.says = "a claim that cannot be read";
      judged.verdict = {Outcome::kNotJudged, error.what(), {}, 1.0};
    }
    if (exploratory) judged.exploratory = "exploratory" + (stated.late ? ", " + lateness_text(*stated.late) : "");
    if (is_withdrawn(study)) judged.caution = kWithdrawnMark;
    result.push_back(std::move(judged));
  }
  return result;
}

void correct_by_holm(std::vector<std::vector<Judged>>& studies) {
  std::vector<Judged*> all;
  std::vector<double> p_values;
  for (std::vector<Judged>& study : studies) {
    for (Judged& judged : study) {
      if (!judged.exploratory.empty()) continue;
      all.push_back(&judged);
      p_values.push_back(judged.verdict.p);
    }
  }
  const std::vector<double> corrected = holm(p_values);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->corrected_p = corrected[i];
    all[i]->among = all.size();
  }
}

std::string verdict_text(const Judged& judged) {
  if (judged.exploratory.empty()) return outcome_name(judged.verdict.outcome);
  constexpr const char* kReadings[] = {"these runs agree with it", "these runs speak against it",
                                       "these runs leave it open", "not judged"};
  return judged.exploratory + "; " + kReadings[static_cast<size_t>(judged.verdict.outcome)];
}

std::string correction_text(const Judged& judged) {
  const Outcome outcome = judged.verdict.outcome;
  if (!judged.exploratory.empty() || (outcome != Outcome::kConfirmed && outcome != Outcome::kRefuted)) return "";
  constexpr double kLevel = 0.05;
  return fmt::format("{} (p {:.2g}, corrected {:.2g})", judged.corrected_p < kLevel ? "survives" : "does not survive",
                     judged.verdict.p, judged.corrected_p);
}

std::string answer_of(const Judged& judged) {
  const std::string stop = judged.says.ends_with('.') ? " " : ". ";
  const std::string finding = capital(judged.verdict.finding);
  const std::string past = judged.is_current ? "" : " The experiment no longer states this claim.";
  if (!judged.exploratory.empty()) {
    const std::string verdict = verdict_text(judged).substr(judged.exploratory.size() + 2);
    return fmt::format("{}{}: {}{}{}: {}.{}", judged.caution, capital(judged.exploratory), judged.says, stop,
                       capital(verdict), judged.verdict.finding, past);
  }
  const std::string correction = correction_text(judged);
  return fmt::format("{}{}: {}{}{}{}.{}", judged.caution, capital(verdict_text(judged)), judged.says, stop, finding,
                     correction.empty()
                         ? ""
                         : fmt::format("; {} Holm's correction over {}{}", correction.substr(0, correction.find(" (")),
                                       count_text(judged.among, "claim"), correction.substr(correction.find(" ("))),
                     past);
}

}  // namespace eggroll
