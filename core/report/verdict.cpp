#include "report/verdict.h"

#include <fmt/format.h>
#include <algorithm>

#include "report/figures.h"
#include "report/statistics.h"
#include "system/text.h"

namespace eggroll {
namespace {

std::optional<size_t> place_of(const Study& study, const std::string& axis) {
  for (size_t i = 0; i < study.axes.size(); ++i) {
    if (study.axes[i].name == axis) return i;
  }
  return std::nullopt;
}

Verdict undecided(std::string why) { return {Outcome::kUndecided, std::move(why), {}}; }

Verdict no_axis(const std::string& axis) {
  return undecided(fmt::format("the runs there are do not differ in {}", axis));
}

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

// Where the interval lies wholly in the range, wholly beside it, or neither.
Outcome within(const Interval& interval, double low, double high) {
  if (interval.low >= low && interval.high <= high) return Outcome::kConfirmed;
  return interval.high < low || interval.low > high ? Outcome::kRefuted : Outcome::kUndecided;
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
  const std::vector<Pair> pairs = pairs_of(runs_of(claim, study), *axis, test.value, test.with, claim.metric);
  if (pairs.empty()) return undecided("no pair of runs has ended with this figure");
  Verdict verdict;
  std::vector<double> differences;
  for (const Pair& pair : pairs) {
    differences.push_back(pair.difference);
    verdict.runs.insert(verdict.runs.end(), {pair.of_value->number, pair.with->number});
  }
  const Mean mean = mean_of(differences);
  verdict.finding = fmt::format("mean difference {}", text_of(mean, "pair"));
  if (mean.interval) {
    verdict.outcome = test.expect == Expectation::kEqual ? within(*mean.interval, -test.within, test.within)
                                                         : on_side(*mean.interval, 0.0, test.expect);
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
  std::vector<double> slopes;
  size_t without = 0;
  for (const auto& [place, group] : groups) {
    const auto slope = log_log_slope(group.points);
    if (!slope) {
      ++without;
      continue;
    }
    slopes.push_back(*slope);
    verdict.runs.insert(verdict.runs.end(), group.runs.begin(), group.runs.end());
  }
  if (slopes.empty()) return undecided("no seed has two values of the axis with figures above 0");
  const Mean mean = mean_of(slopes);
  verdict.finding = fmt::format("mean slope {}", text_of(mean, "slope"));
  if (without > 0) verdict.finding += fmt::format("; {} seeds or combinations have no slope", without);
  if (mean.interval) verdict.outcome = within(*mean.interval, test.expect - test.within, test.expect + test.within);
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
  if (verdict.runs.empty()) return undecided("no run has ended with this figure");
  const size_t n = verdict.runs.size();
  const Interval interval = wilson(inside, n);
  verdict.finding =
      fmt::format("{} of {} runs are {} {} (95 % interval {} to {} of all)", inside, n, test.below ? "below" : "above",
                  text_of(test.limit), percent(interval.low), percent(interval.high));
  if (without > 0) verdict.finding += fmt::format("; {} runs without the figure are left out", without);
  verdict.outcome = on_side(interval, test.than, test.expect);
  return verdict;
}

}  // namespace

Verdict judge(const Claim& claim, const Study& study) {
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
  constexpr const char* kNames[] = {"confirmed", "refuted", "undecided"};
  return kNames[static_cast<size_t>(outcome)];
}

}  // namespace eggroll
