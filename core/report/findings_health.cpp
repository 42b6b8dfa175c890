#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/host_settings.h"
#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "eggroll/settings.h"
#include "report/sections.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr double kFrozen = 1e-4;         // an update rate below it moves next to nothing
constexpr double kUngated = 0.6;         // one above it lets nearly all votes pass
constexpr double kWorseThanBest = 1.05;  // the end against the best evaluation
constexpr size_t kMostLogs = 10;
constexpr size_t kMostLogLines = 12;
constexpr size_t kMostCommands = 5;

std::string reason_of(const CollectedRun& run) {
  const RunRecord& record = run.record;
  if (record.failure) return record.failure->detail + (record.error ? ": " + *record.error : "");
  if (record.error) return *record.error;
  if (record.stopped_because) return *record.stopped_because;
  if (record.status == RunStatus::kRunning) return "still running, or its process died and left no reason";
  if (run.was_killed) return kWhyKilled;
  return "saved; it can continue from there";
}

void add_endings(Draft& draft, const Study& study) {
  Table table;
  table.columns = {"run", "status", "steps done", "configuration", "seed", "why"};
  std::vector<const StudyRun*> logs;
  for (const StudyRun* run : study.all_runs()) {
    const RunRecord& record = run->run->record;
    if (record.status == RunStatus::kCompleted) continue;
    table.rows.push_back({Text("", std::vector<size_t>{run->number}), status_name(record.status),
                          Text(std::to_string(record.steps), static_cast<double>(record.steps)),
                          study.label(run->values), Text(std::to_string(record.seed), static_cast<double>(record.seed)),
                          reason_of(*run->run)});
    if (record.failure && !record.failure->log.empty()) logs.push_back(run);
  }
  if (table.rows.empty()) {
    draft.paragraph("Every run was completed.");
    return;
  }
  draft.add(std::move(table));
  for (size_t i = 0; i < std::min(logs.size(), kMostLogs); ++i) {
    const std::vector<std::string>& log = logs[i]->run->record.failure->log;
    std::string text;
    for (size_t line = log.size() - std::min(log.size(), kMostLogLines); line < log.size(); ++line) {
      text += (text.empty() ? "" : "\n") + log[line];
    }
    draft.paragraph(Text("The last lines of " + logs[i]->run->name + ":", std::vector<size_t>{logs[i]->number}));
    draft.add(Code{text});
  }
  if (logs.size() > kMostLogs) {
    draft.paragraph(
        fmt::format("The last lines of {} more failed runs are in their records.", logs.size() - kMostLogs));
  }
}

// The faults of runs that ended well.
std::vector<Text> pathologies_of(const Study& study) {
  std::map<std::string, std::vector<size_t>> found;
  for (const StudyRun* run : study.all_runs()) {
    const RunRecord& record = run->run->record;
    const RunMetrics& metrics = run->run->metrics;
    const auto note = [&](const std::string& text) { found[text].push_back(run->number); };
    if (const std::optional<std::string> caution = overlap_caution(record.overlap)) note(*caution + ".");
    if (metrics.update_rate && metrics.lines > 1) {
      const std::optional<Phases> rate = update_rate_of(record, metrics);
      const double late = rate ? rate->late : 0.0;
      if (metrics.update_rate->late == 0.0) {
        note("No weight moved in the last quarter of the steps; lower the threshold or raise the step.");
      } else if (rate && late < kFrozen) {
        note(
            "On average, a step of the last quarter moved less than 0.01 % of the weights with votes; lower the "
            "threshold.");
      } else if (late > kUngated) {
        note(
            "On average, a step of the last quarter moved more than 60 % of the weights with votes. Nearly all votes "
            "pass, those of noise too; raise the threshold.");
      }
    }
    const double pairs = config_number(record, "train", "population").value_or(0.0) / 2.0;
    if (pairs > 0 && metrics.most_pairs_without_fitness.value_or(0.0) >= pairs) {
      note("In at least one step every pair had fitness 0, so all votes were 0.");
    }
    if (!has_ended_well(record) || !record.final) continue;
    const double bits = record.final->bits_per_unit;
    if (record.baselines.unigram && bits >= *record.baselines.unigram) {
      note("The run ended no better than the unigram model: at most it learned how frequent each token is.");
    }
    if (metrics.held_out.empty()) continue;
    // Evaluations of the curve are compared with one another: they read the same tokens.
    double last = metrics.held_out.back().bits;
    for (const CurvePoint& point : metrics.held_out) {
      if (point.step == record.final->step)
        last = point.bits;  // the run may end with the weights of its best evaluation
    }
    if (last >= metrics.held_out.front().bits) note("The run ended no better than it began.");
    double best = last;
    for (const CurvePoint& point : metrics.held_out) best = std::min(best, point.bits);
    // A factor says nothing near 0 bits.
    if (last > kWorseThanBest * best && last - best > 0.05) {
      note("The run ended more than 5 % above its best evaluation; a schedule for the step or the threshold may help.");
    }
  }
  std::vector<Text> items;
  for (const auto& [text, runs] : found) items.emplace_back(text, runs);
  return items;
}

// A point's overrides: its sweep's, `~sweep`, and the point's own values.
std::vector<std::string> given_to_sweep(const RunRecord& record) {
  const std::vector<std::string>& all = record.overrides;
  return {all.begin(), std::find(all.begin(), all.end(), "~sweep")};
}

// Commands that anyone can type: without the place of the results, and with files by their names alone.
class Commands {
 public:
  void add(std::string command, const std::vector<std::string>& overrides) {
    for (const std::string& word : overrides) {
      const std::string key = word.substr(word.find_first_not_of('+'));
      if (!key.starts_with("results.")) command.append(" ").append(shell_word(without_folders(word)));
    }
    text_ += (text_.empty() ? "" : "\n") + command;
  }

  const std::string& text() const { return text_; }

  // The commands, and what to have ready for them. record: a run that they make.
  void show(Draft& draft, const RunRecord& record) const {
    draft.add(Code{text_});
    if (files_.empty()) return;
    std::string names;
    for (const std::string& name : files_) names += (names.empty() ? "" : ", ") + name;
    const bool is_one = files_.size() == 1;
    draft.paragraph(fmt::format("{} {}{}.", names,
                                is_one ? "is your copy of this file" : "are your copies of these files",
                                record.dataset ? "; the sha256 of the data is " + record.dataset->sha256 : ""));
  }

 private:
  // The value with the last name of each path in it: of data always, of other settings where it is absolute.
  ConfigNode named(const ConfigNode& value, bool is_data) {
    if (value.kind() == ConfigNode::Kind::kList) {
      ConfigNode::List list;
      for (const ConfigNode& one : value.list()) list.push_back(named(one, is_data));
      return {std::move(list), value.source()};
    }
    if (value.kind() != ConfigNode::Kind::kText) return value;
    const std::filesystem::path path = value.text();
    if (!path.is_absolute() && !is_data) return value;
    const std::filesystem::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
    if (is_data || name != path) files_.insert(name);
    return {name.string(), value.source()};
  }

  std::string without_folders(const std::string& word) {
    try {
      const Override change = parse_override(word);
      if (!change.value || change.value->find('/') == std::string::npos) {
        const bool is_file = change.value && is_file_of_data(change.key);
        if (is_file) files_.insert(*change.value);
        return word;
      }
      const OverrideValue value = parse_override_value(*change.value, change.source);
      if (value.choices.empty()) return word;
      std::string text;
      for (const ConfigNode& choice : value.choices) {
        const ConfigNode shown = named(choice, is_file_of_data(change.key));
        text += (text.empty() ? "" : ",") + to_line(shown);
      }
      return word.substr(0, word.find('=') + 1) + text;
    } catch (const Error&) {
      return word;  // of another version, say
    }
  }

  static bool is_file_of_data(const std::string& key) {
    return std::any_of(kDataFiles.begin(), kDataFiles.end(),
                       [&](const std::string& file) { return key == "dataset." + file; });
  }

  std::string text_;
  std::set<std::string> files_;
};

// The number of seeds that would tell two configurations apart, if it can be estimated.
std::string seeds_to_decide(const Mean& difference) {
  constexpr size_t kMostSeeds = 1000;
  const std::string words = fmt::format(": their difference is {}", text_of(difference, "seed"));
  const std::optional<size_t> seeds = values_to_decide(difference, kMostSeeds);
  if (!seeds || difference.mean <= 0.0) return words + ".";
  return words +
         fmt::format(". If this difference is the true one, about {} seeds would show it in four of five tries.",
                     *seeds);
}

// Whether the limits of a key leave smaller, or larger, values than this one. Plugins' limits are not known here.
bool leaves_others_in(const RunRecord& record, const std::string& key, double value, bool smaller) {
  const HostSetting* known = find_host_setting(key);
  if (known == nullptr) return true;
  // The population is a multiple of the members of a stream.
  const char* other = key == "train.population" && smaller            ? "/train/members_per_stream"
                      : key == "train.members_per_stream" && !smaller ? "/train/population"
                                                                      : nullptr;
  if (other != nullptr) {
    const nlohmann::ordered_json::json_pointer place(other);
    if (record.config.contains(place) && record.config.at(place) == value) return false;
  }
  return leaves_others(*known, value, smaller);
}

}  // namespace

void add_failures(Draft& draft, const Study& study) {
  draft.heading(3, "Failures and pathologies");
  add_endings(draft, study);
  std::vector<Text> pathologies = pathologies_of(study);
  if (pathologies.empty()) {
    draft.paragraph("No run shows a known pathology.");
  } else {
    draft.bullets(std::move(pathologies));
  }
}

void add_reproduction(Draft& draft, const Study& study) {
  draft.heading(3, "Reproduce");
  for (const std::string& data : data_in(study)) {
    const std::vector<Standing> standings = standings_of(study, data);
    if (standings.empty()) continue;
    Commands commands;
    size_t shown = 0;
    for (const StudyRun* run : standings.front().configuration.runs) {
      if (!metric_of(*run->run, "bits") || shown == kMostCommands) continue;
      commands.add("eggroll run", run->run->record.overrides);
      ++shown;
    }
    const RunRecord& record = standings.front().configuration.runs.front()->run->record;
    const size_t all = standings.front().runs.size();
    const std::string which = shown < all ? fmt::format(" (the first {} of {} runs)", shown, all) : "";
    draft.paragraph(
        Text(fmt::format("To run the best configuration on {} again{}, use commit {} and the plugins listed under "
                         "Provenance:",
                         data, which, record.environment.host_commit),
             standings.front().runs));
    commands.show(draft, record);
  }
  if (!study.of_sweep) return;
  std::vector<std::string> given = given_to_sweep(study.runs.front().run->record);
  for (const StudyRun& run : study.runs) {
    const std::vector<std::string> own = given_to_sweep(run.run->record);
    std::erase_if(given, [&](const std::string& word) { return std::find(own.begin(), own.end(), word) == own.end(); });
  }
  if (given.empty()) return;
  draft.paragraph("To run the whole grid again:");
  Commands grid;
  grid.add("eggroll sweep", given);
  draft.add(Code{grid.text()});
}

void add_questions(Draft& draft, const Study& study, const std::vector<Judged>& judged) {
  std::vector<Text> items;
  for (const Judged& claim : judged) {
    if (claim.verdict.outcome == Outcome::kUndecided || claim.verdict.outcome == Outcome::kNotJudged) {
      items.emplace_back(fmt::format("{} ({}): {}", claim.says, claim.verdict.finding, verdict_text(claim)),
                         claim.verdict.runs);
    }
  }
  for (const std::string& data : data_in(study)) {
    const std::vector<Standing> standings = standings_of(study, data);
    if (standings.empty()) continue;
    const Standing& best = standings.front();
    for (size_t a = 0; a < study.axes.size(); ++a) {
      const Axis& axis = study.axes[a];
      const std::string& value = best.configuration.values[a];
      const bool numbers = std::all_of(axis.values.begin(), axis.values.end(),
                                       [](const std::string& text) { return real_of(text).has_value(); });
      const bool smallest = value == axis.values.front();
      if (!numbers || (!smallest && value != axis.values.back())) continue;
      if (!leaves_others_in(best.configuration.runs.front()->run->record, axis.name, *real_of(value), smallest))
        continue;
      items.emplace_back(
          fmt::format("The best value of {} is {}, the {} that was tried; {} values may be better.", axis.name, value,
                      smallest ? "smallest" : "largest", smallest ? "smaller" : "larger"),
          best.runs);
    }
    if (standings.size() < 2) continue;
    const Standing& second = standings[1];
    const AgainstBest against = compare_with_best(standings)[1];
    std::vector<size_t> runs = best.runs;
    runs.insert(runs.end(), second.runs.begin(), second.runs.end());
    if (against.place == Place::kNotCompared) {
      items.emplace_back(
          "It is open which of the two best configurations is better, because they share fewer than two seeds; run "
          "more "
          "seeds.",
          runs);
    } else if (against.place == Place::kNotToldApart || against.place == Place::kToldApartAlone) {
      items.emplace_back(
          "It is open which of the two best configurations is better" + seeds_to_decide(*against.difference), runs);
    }
  }
  if (study.planned && *study.planned > study.runs.size()) {
    items.emplace_back(
        fmt::format("{} of {} planned points have no record yet.", *study.planned - study.runs.size(), *study.planned));
  }
  if (items.empty()) return;
  draft.heading(3, "Open questions");
  draft.bullets(std::move(items));
}

}  // namespace eggroll
