#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/sections.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

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

void add_comparison(Draft& draft, const Study& study, const std::string& data, const std::vector<Standing>& standings,
                    const std::vector<AgainstBest>& comparisons) {
  const auto compared = std::count_if(comparisons.begin(), comparisons.end(),
                                      [](const AgainstBest& one) { return one.difference.has_value(); });
  if (compared == 0) return;
  draft.heading(3, "Comparison with the best configuration" + data_suffix(study, data));
  draft.paragraph(fmt::format(
      "Each row compares a configuration with the best one, {}, in pairs of runs that have the same seed. The column "
      "\"bits\" is the difference in held-out {}: above 0, the configuration needs more bits than the best one. Its "
      "95 % interval is over the seeds and is not corrected. The two-sided p is Student's; the corrected p is Holm's, "
      "for {}. A configuration is \"behind\" if its corrected p is below 0.05. \"Not told apart\" means that its "
      "interval holds 0; this does not show that the two are equal. \"Told apart by its own interval alone\" means "
      "that "
      "the interval leaves out 0 and the corrected p is 0.05 or more. The best configuration was chosen by the same "
      "runs, "
      "on the same held-out text, so the differences are somewhat too large.",
      study.spoken_label(standings.front().configuration.values), unit_of(study, data),
      count_text(static_cast<size_t>(compared), "comparison")));
  std::vector<double> numbers;
  for (const AgainstBest& one : comparisons) {
    if (one.difference) append(numbers, *one.difference);
  }
  const Decimals text(numbers);
  Table table;
  table.columns = {"#", "configuration", "bits", "95 % interval", "pairs", "p", "corrected p", "reading", "runs"};
  for (size_t i = 1; i < standings.size(); ++i) {
    const auto& [difference, p, corrected, place] = comparisons[i];
    std::vector<Text> row = {Text(std::to_string(i + 1), static_cast<double>(i + 1)),
                             study.label(standings[i].configuration.values)};
    if (difference) {
      row.insert(row.end(), {Text(text(difference->mean), difference->mean), interval_cell(*difference, text),
                             Text(std::to_string(difference->n), static_cast<double>(difference->n)),
                             Text(p_text(p), p), Text(p_text(corrected), corrected), place_name(place)});
    } else {
      row.insert(row.end(),
                 {Text(""), Text(""), Text(""), Text(""), Text(""), "not compared: fewer than two seeds in common"});
    }
    row.emplace_back("", standings[i].runs);
    table.rows.push_back(std::move(row));
  }
  draft.table(slug(study.name + data_suffix(study, data)) + "-comparison", table);
}

Table leaderboard_table(const Study& study, const std::vector<Standing>& standings, bool any_average) {
  Table table;
  table.columns = {"#"};
  for (const Axis& axis : study.axes) table.columns.push_back(axis.name);
  for (const char* column : {"bits", "95 % interval", "n", "lowest", "highest"}) {
    table.columns.emplace_back(column);
  }
  if (any_average) table.columns.emplace_back(run_number("average_bits").title);
  table.columns.insert(table.columns.end(), {run_number("tokens_per_second").title, "runs"});
  std::vector<double> bits;
  std::vector<double> means;
  std::vector<double> rates;
  for (const Standing& standing : standings) {
    append(bits, standing.bits);
    means.push_back(standing.bits.mean);
    bits.push_back(standing.highest);
    if (const auto rate = median_of(standing.configuration.runs, "tokens_per_second")) rates.push_back(*rate);
  }
  const Decimals text = Decimals(bits).with_digits_of(means);
  const Counts rate_text(rates);
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
    row.emplace_back(text(standing.lowest), standing.lowest);
    row.emplace_back(text(standing.highest), standing.highest);
    const std::vector<double> averages = values_of(standing.configuration.runs, "average_bits");
    const double average = averages.empty() ? 0.0 : mean_of(averages).mean;
    if (any_average) row.push_back(averages.empty() ? Text("") : Text(text(average), average));
    const auto rate = median_of(standing.configuration.runs, "tokens_per_second");
    row.push_back(rate ? Text(rate_text(*rate), *rate) : Text(""));
    row.emplace_back("", standing.runs);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_leaderboard_of(Draft& draft, const Study& study, const std::string& data) {
  const std::vector<Standing> standings = standings_of(study, data);
  if (standings.empty()) return;
  draft.heading(3, "Leaderboard" + data_suffix(study, data));
  const Standing& best = standings.front();
  const std::vector<AgainstBest> comparisons = compare_with_best(standings);
  const auto alike = std::count_if(comparisons.begin(), comparisons.end(),
                                   [](const AgainstBest& one) { return one.place == Place::kNotToldApart; });
  std::string words = fmt::format("Held-out {}; lower is better. The best is {}: {}.", unit_of(study, data),
                                  study.label(best.configuration.values), text_of(best.bits, "seed"));
  if (alike > 0) {
    words +=
        fmt::format(" {} not told apart from it.", alike == 1 ? "1 other is" : fmt::format("{} others are", alike));
  }
  if (!best.bits.interval && standings.size() > 1) words += " One seed cannot tell others apart from it.";
  const bool any_average = has_average(study);
  if (any_average) words += " The weights' average has a column of its own; all other columns are of the weights.";
  draft.paragraph(Text(words, best.runs));
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

  draft.table(slug(study.name + data_suffix(study, data)) + "-leaderboard",
              leaderboard_table(study, standings, any_average));
  add_comparison(draft, study, data, standings, comparisons);
  for (const Axis& axis : study.axes) {
    if (!axis.alike.empty()) {
      std::string keys;
      for (const std::string& key : axis.alike) keys += (keys.empty() ? "" : ", ") + key;
      draft.paragraph(fmt::format("{} varies together with {}: their effects cannot be told apart.", axis.name, keys));
    }
  }
}

}  // namespace

std::string data_suffix(const Study& study, const std::string& data) {
  return data_in(study).size() > 1 ? ", " + data : "";
}

Text interval_cell(const Mean& mean, const Decimals& text) {
  if (!mean.interval) return "none";
  return Text(fmt::format("{} to {}", text(mean.interval->low), text(mean.interval->high)), mean.interval->low);
}

void append(std::vector<double>& numbers, const Mean& mean) {
  numbers.push_back(mean.mean);
  if (mean.interval) numbers.insert(numbers.end(), {mean.interval->low, mean.interval->high});
}

// Means over the runs of what data and simple models give.
std::vector<std::pair<std::string, double>> yardsticks_of(const std::vector<const StudyRun*>& runs) {
  std::map<std::string, std::vector<double>> values;
  for (const StudyRun* run : runs) {
    const RunRecord& record = run->run->record;
    for (const auto& [name, bits] : record.baselines.named()) values[name].push_back(bits);
    if (!record.dataset || !record.dataset->facts.contains("entropy_rate_bits")) continue;
    const nlohmann::ordered_json& rate = record.dataset->facts.at("entropy_rate_bits");
    if (rate.is_number()) values["entropy rate"].push_back(rate.get<double>());
  }
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [name, all] : values) result.emplace_back(name, mean_of(all).mean);
  return result;
}

void add_leaderboard(Draft& draft, const Study& study) {
  for (const std::string& data : data_in(study)) add_leaderboard_of(draft, study, data);
}

}  // namespace eggroll
