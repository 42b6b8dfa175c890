#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "report/axis_names.h"
#include "report/plots.h"
#include "report/sections.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostGroups = 4;  // of the values of one setting
constexpr size_t kLeastTrials = 8;

// A trial and its seeds' results at its end.
struct TrialStanding {
  uint64_t trial = 0;
  uint64_t steps = 0;
  TrialEnd end;  // its score is the search's metric, the mean over its seeds; absent if a run failed
  std::vector<std::string> values;
  std::vector<size_t> runs;
};

// The trials, the best first.
std::vector<TrialStanding> trials_of(const Study& study, const TrialRecord& search) {
  std::map<uint64_t, std::vector<const StudyRun*>> by_trial;
  for (const StudyRun& run : study.runs) {
    if (const auto& sweep = run.run->record.sweep; sweep && sweep->trial) {
      by_trial[sweep->trial->trial].push_back(&run);
    }
  }
  std::vector<TrialStanding> trials;
  for (const auto& [number, runs] : by_trial) {
    TrialStanding standing{number, 0, {0, 0.0}, runs.front()->values, numbers_of(runs)};
    for (const StudyRun* run : runs) {
      const RunRecord& record = run->run->record;
      standing.end.rung = std::max(standing.end.rung, record.sweep->trial->rung);
      standing.steps = std::max(standing.steps, record.steps);
      const auto score = metric_of(*run->run, search.metric);
      standing.end.score = standing.end.score && score
                               ? std::optional(*standing.end.score + *score / static_cast<double>(runs.size()))
                               : std::nullopt;
    }
    trials.push_back(std::move(standing));
  }
  std::stable_sort(trials.begin(), trials.end(), [&](const TrialStanding& a, const TrialStanding& b) {
    return is_better(a.end, b.end, search.wants_higher);
  });
  return trials;
}

// The number of each trial's group by the values of one setting: each value is a group, or if there are more than
// kMostGroups numbers, each quarter of the trials.
std::vector<size_t> groups_of(const std::vector<TrialStanding>& trials, const Axis& axis, size_t place) {
  std::vector<size_t> groups(trials.size());
  const bool are_numbers = std::all_of(axis.values.begin(), axis.values.end(),
                                       [](const std::string& value) { return real_of(value).has_value(); });
  if (!are_numbers || axis.values.size() <= kMostGroups) {
    for (size_t i = 0; i < trials.size(); ++i) {
      const auto found = std::find(axis.values.begin(), axis.values.end(), trials[i].values[place]);
      groups[i] = static_cast<size_t>(found - axis.values.begin());
    }
    return groups;
  }
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto value = [&](size_t i) { return *real_of(trials[i].values[place]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return value(a) < value(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    // Equal values belong to one group.
    const bool repeats = i > 0 && value(order[i]) == value(order[i - 1]);
    groups[order[i]] = repeats ? groups[order[i - 1]] : i * kMostGroups / order.size();
  }
  return groups;
}

// The share of the variance of the trials' places that their groups account for, less what chance gives them: epsilon
// squared (Kelley, 1935). At least 0; absent if there are too few trials for the groups.
std::optional<double> importance_of(const std::vector<size_t>& groups) {
  const size_t n = groups.size();
  std::map<size_t, std::pair<double, double>> sums;  // number and sum of places
  for (size_t place = 0; place < n; ++place) {
    auto& [count, sum] = sums[groups[place]];
    count += 1.0;
    sum += static_cast<double>(place);
  }
  if (sums.size() < 2 || n < sums.size() + 2) return std::nullopt;
  const double mean = static_cast<double>(n - 1) / 2.0;
  double total = 0.0;
  for (size_t place = 0; place < n; ++place)
    total += (static_cast<double>(place) - mean) * (static_cast<double>(place) - mean);
  double between = 0.0;
  for (const auto& [group, part] : sums) {
    const double difference = part.second / part.first - mean;
    between += part.first * difference * difference;
  }
  const double within = (total - between) / static_cast<double>(n - sums.size());
  return std::max(0.0, (between - static_cast<double>(sums.size() - 1) * within) / total);
}

// The values of the best quarter of the trials: "0.2015 to 0.3755", or each once.
std::string best_values(const std::vector<TrialStanding>& trials, const Axis& axis, size_t place) {
  std::vector<std::string> seen;
  for (size_t i = 0; i < (trials.size() + 3) / 4; ++i) {
    if (std::find(seen.begin(), seen.end(), trials[i].values[place]) == seen.end())
      seen.push_back(trials[i].values[place]);
  }
  const auto before = [&](const std::string& a, const std::string& b) {
    return std::find(axis.values.begin(), axis.values.end(), a) < std::find(axis.values.begin(), axis.values.end(), b);
  };
  std::sort(seen.begin(), seen.end(), before);
  const bool are_numbers =
      std::all_of(seen.begin(), seen.end(), [](const std::string& value) { return real_of(value).has_value(); });
  if (are_numbers && seen.size() > 2) return seen.front() + " to " + seen.back();
  std::string text;
  for (const std::string& value : seen) text += (text.empty() ? "" : ", ") + value;
  return text;
}

// "trial 8 (width=16 alpha=0.2515)".
std::string settings_text(const Study& study, const std::vector<std::string>& values) {
  std::string text;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", last_part(study.axes[a].name), study.value_text(a, values[a]));
  }
  return fmt::format("{} ({})", study.label(values), text);
}

void add_trials(Draft& draft, const Study& study, const std::string& metric, const std::vector<TrialStanding>& trials) {
  std::vector<double> scores;
  for (const TrialStanding& trial : trials) scores.push_back(trial.end.score.value_or(0.0));
  const Decimals text(scores);
  Table table;
  table.columns = {"#", "trial", "went on", "steps", metric};
  for (const Axis& axis : study.axes) {
    const std::string name = last_part(axis.name);
    const auto has_it = [&](const Axis& other) { return last_part(other.name) == name; };
    table.columns.push_back(std::count_if(study.axes.begin(), study.axes.end(), has_it) > 1 ? axis.name : name);
  }
  table.columns.emplace_back("runs");
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialStanding& trial = trials[i];
    const auto number = [](uint64_t value) { return Text(std::to_string(value), static_cast<double>(value)); };
    std::vector<Text>& row = table.rows.emplace_back(
        std::vector<Text>{number(i + 1), number(trial.trial), number(trial.end.rung), number(trial.steps),
                          trial.end.score ? Text(text(*trial.end.score), *trial.end.score) : Text("failed")});
    for (size_t a = 0; a < study.axes.size(); ++a) {
      const std::string value = study.value_text(a, trial.values[a]);
      const std::optional<double> as_number = real_of(value);
      row.push_back(as_number ? Text(value, *as_number) : Text(value));
    }
    row.emplace_back("", trial.runs);
  }
  draft.table(slug(study.name) + "-trials", table);
}

void add_importance(Draft& draft, const Study& study, const std::vector<TrialStanding>& trials) {
  if (trials.size() < kLeastTrials) return;
  draft.heading(3, "Importance of settings");
  draft.paragraph(fmt::format(
      "How much of the order of the {} trials each setting accounts for by itself: the share of the variance of their "
      "places that lies between the setting's values (quarters of the trials where there are more than {} numbers), "
      "corrected for chance (epsilon squared). The sampler tried good values more often, and settings that matter only "
      "together do not show. \"Best quarter\" has the values of the best quarter of the trials.",
      trials.size(), kMostGroups));
  struct Importance {
    std::string setting;
    std::optional<double> share;
    std::string values;
  };
  std::vector<Importance> rows;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    rows.push_back({study.axes[a].name, importance_of(groups_of(trials, study.axes[a], a)),
                    best_values(trials, study.axes[a], a)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Importance& a, const Importance& b) {
    return a.share.value_or(0.0) > b.share.value_or(0.0);
  });
  Table table;
  table.columns = {"setting", "share", "best quarter"};
  for (const Importance& row : rows) {
    table.rows.push_back({row.setting, row.share ? Text(percent(*row.share), *row.share) : Text(""), row.values});
  }
  draft.table(slug(study.name) + "-importance", table);
}

void add_coordinates(Draft& draft, const Study& study, const std::vector<TrialStanding>& trials) {
  std::vector<ParallelAxis> axes;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    axes.push_back({spoken_axis(study.axes[a].name), {}, false});
    for (const std::string& value : study.axes[a].values) axes.back().values.push_back(study.value_text(a, value));
  }
  axes.push_back({"place", {}, true});
  for (size_t i = trials.size(); i > 0; --i) axes.back().values.push_back(std::to_string(i));
  uint64_t furthest = 0;
  for (const TrialStanding& trial : trials) furthest = std::max(furthest, trial.end.rung);
  std::vector<std::string> groups;
  for (uint64_t rung = 0; rung <= furthest; ++rung) {
    uint64_t steps = 0;
    for (const TrialStanding& trial : trials) steps = trial.end.rung == rung ? std::max(steps, trial.steps) : steps;
    groups.push_back(fmt::format("{} {} steps", furthest == 0 ? "trials of" : "ended after", steps));
  }
  std::vector<ParallelLine> lines;
  for (size_t i = 0; i < trials.size(); ++i) {
    ParallelLine line{{}, trials[i].end.rung};
    for (size_t a = 0; a < study.axes.size(); ++a) line.values.push_back(study.value_text(a, trials[i].values[a]));
    line.values.push_back(std::to_string(i + 1));
    lines.push_back(std::move(line));
  }
  draft.figure(slug(study.name) + "-coordinates", parallel_script("Settings of the trials", axes, lines, groups),
               "Parallel coordinates: each line is a trial and crosses each axis at its value; the last axis is its "
               "place, 1 at the top.");
}

}  // namespace

void add_search(Draft& draft, const Study& study) {
  // Every trial has these. A run that is no trial is left out.
  const auto any = std::find_if(study.runs.begin(), study.runs.end(), [](const StudyRun& run) {
    return run.run->record.sweep && run.run->record.sweep->trial;
  });
  const TrialRecord& search = *any->run->record.sweep->trial;
  const std::vector<TrialStanding> trials = trials_of(study, search);
  draft.heading(3, "Trials");
  const TrialStanding& best = trials.front();
  std::string words =
      fmt::format("{} of a search. Those that the search let go on furthest come first, then those with the {} {}.",
                  count_text(trials.size(), "trial"),
                  search.wants_higher       ? "highest"
                  : search.metric == "bits" ? "fewest"
                                            : "lowest",
                  search.metric == "bits" ? "held-out " + unit_of(study, data_in(study).front()) : search.metric);
  if (best.end.score) {
    words += fmt::format(
        " The best is {}, with {} after {} steps. It was chosen among {} by these figures, so they are too good for "
        "it; "
        "runs on fresh seeds say what it is worth (the study whose name ends in -confirmed, where there is one).",
        settings_text(study, best.values), text_of(*best.end.score), best.steps, trials.size());
  }
  draft.paragraph(Text(words, best.runs));
  add_trials(draft, study, search.metric, trials);
  add_importance(draft, study, trials);
  add_coordinates(draft, study, trials);
}

}  // namespace eggroll
