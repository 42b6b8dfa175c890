#include "experiment/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "eggroll/error.h"
#include "experiment/outcome.h"
#include "record/claim.h"
#include "record/run_lock.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/identity.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Draws in a row that repeat a trial: after some they are random, as the estimator's may be all alike; after many
// nothing else is left to try.
constexpr uint64_t kRepeatsBeforeRandom = 20;
constexpr uint64_t kMostRepeats = 1000;
constexpr const char* kSettingsAxis = "settings";
constexpr const char* kFound = "found";
constexpr const char* kOwn = "own";

ConfigNode without_sweep(const ConfigSearch& search, std::vector<std::string> overrides) {
  overrides.emplace_back("~sweep");
  ConfigNode config = compose(search, overrides);
  erase_launcher(config);
  return with_absolute_paths(std::move(config));
}

// Numbers of the trials, the best first; the failed ones last.
std::vector<uint64_t> ranked(const SearchSettings& settings, const std::vector<Trial>& trials) {
  std::vector<uint64_t> numbers(trials.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto before = [&](uint64_t a, uint64_t b) {
    const std::vector<TrialResult>& of_a = trials[a].results;
    const std::vector<TrialResult>& of_b = trials[b].results;
    if (of_a.size() != of_b.size()) return of_a.size() > of_b.size();
    if (of_a.empty() || of_a.back().figure.has_value() != of_b.back().figure.has_value()) {
      return !of_a.empty() && of_a.back().figure.has_value();
    }
    return of_a.back().figure && settings.cost(*of_a.back().figure) < settings.cost(*of_b.back().figure);
  };
  std::stable_sort(numbers.begin(), numbers.end(), before);
  return numbers;
}

uint64_t best_of(const SearchSettings& settings, const std::vector<Trial>& trials) {
  return ranked(settings, trials).at(0);
}

// The trials that the rung is for: the best of those that came to the one before it and did not fail there.
std::vector<uint64_t> reaching(const SearchSettings& settings, const std::vector<Trial>& trials, uint64_t rung) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < trials.size(); ++i) {
    if (rung == 0 || (trials[i].results.size() >= rung && trials[i].results[rung - 1].figure)) numbers.push_back(i);
  }
  if (rung == 0) return numbers;
  std::stable_sort(numbers.begin(), numbers.end(), [&](uint64_t a, uint64_t b) {
    return settings.cost(*trials[a].results[rung - 1].figure) < settings.cost(*trials[b].results[rung - 1].figure);
  });
  if (numbers.size() > settings.reach(rung)) numbers.resize(settings.reach(rung));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The mean over the seeds; nothing where one of them has not ended.
std::optional<TrialResult> result_of(const std::vector<PointStanding>& standings, const std::string& metric) {
  TrialResult result{0.0, 0};
  for (const PointStanding& standing : standings) {
    if (standing.state == PointState::kWaiting) return std::nullopt;
    const RunRecord& record = *standing.record;
    result.steps = std::max(result.steps, record.steps);
    const std::optional<double> figure = metric_of(record, record.summary.value_or(RunMetrics()), metric);
    if (!figure || !std::isfinite(*figure)) {
      result.figure.reset();
    } else if (result.figure) {
      *result.figure += *figure / static_cast<double>(standings.size());
    }
  }
  return result;
}

ordered_json default_claim(const SearchSettings& settings) {
  const char* expect = settings.wants_higher ? "higher" : "lower";
  return {{"says", fmt::format("The settings that the search found end with {} {} than the experiment's own", expect,
                               settings.metric == "bits" ? "held-out bits" : settings.metric)},
          {"metric", settings.metric},
          {"compare", {{"axis", kSettingsAxis}, {"value", kFound}, {"with", kOwn}}},
          {"expect", expect}};
}

// "model.width=32 fitness=sign".
std::string overrides_of(const std::vector<SearchParam>& params, const Trial& trial) {
  std::string text;
  for (const AxisValue& value : point_at(params, trial.unit)) {
    text.append(text.empty() ? "" : " ").append(value.overrides[0]);
  }
  return text;
}

uint64_t first_of(const SearchRound& round) {
  uint64_t first = round.sweep.points.at(0).trial->trial;
  for (const SweepPoint& point : round.sweep.points) first = std::min(first, point.trial->trial);
  return first;
}

AskedPoint confirming(const char* value, GridPoint at) { return {std::move(at), {{kSettingsAxis, value}}, {}, {}}; }

}  // namespace

Search::Search(const ConfigSearch& search, std::vector<std::string> overrides, FindRun find)
    : search_(search),
      overrides_(std::move(overrides)),
      find_(std::move(find)),
      base_(compose(search, overrides_)),
      chosen_(search, overrides_),
      settings_(read_search(base_, search, chosen_)),
      frame_(open_sweep(base_)),
      base_hash_(run_hash(without_sweep(search, overrides_))) {
  const ConfigNode& section = base_.at("sweep");
  if (const ConfigNode* question = section.find("question")) frame_.grid.question = question->text();
  if (section.find("budget") != nullptr) frame_.grid.budget = read_budget(base_);
  if (section.find("limits") != nullptr) frame_.grid.limits = read_limits(base_);
  log();
}

SearchLog Search::log() const { return {frame_.folder, settings_.text, base_hash_, settings_.params.size()}; }

std::optional<SearchRound> Search::next(bool retry_failed) const {
  const SearchLog known = log();
  std::vector<Trial> trials = known.trials();
  for (uint64_t rung = 0; rung < settings_.rungs(); ++rung) {
    const std::vector<uint64_t> here = reaching(settings_, trials, rung);
    if (rung > 0 && here.empty()) {
      throw Error(
          fmt::format("all trials of the search in {} that ran {} failed; their records say why, and --retry-failed "
                      "runs them again",
                      frame_.folder.string(), settings_.end_text(rung - 1)));
    }
    std::vector<uint64_t> open;
    for (const uint64_t trial : here) {
      if (trials[trial].results.size() == rung) open.push_back(trial);
    }
    if (!open.empty()) return round_of(trials, open, rung);
    if (rung > 0) continue;
    std::vector<Trial> drawn = draw(trials);
    if (drawn.empty()) continue;
    std::vector<uint64_t> numbers(drawn.size());
    std::iota(numbers.begin(), numbers.end(), trials.size());
    trials.insert(trials.end(), drawn.begin(), drawn.end());
    SearchRound round = round_of(trials, numbers, rung);
    round.drawn = std::move(drawn);
    return round;
  }
  if (settings_.confirm.empty() || found_own()) return std::nullopt;
  SearchRound round{confirmation(), "", {}, true};
  round.title = fmt::format("the settings that were found and the experiment's own, {} fresh seeds of each",
                            settings_.confirm.size());
  const auto is_open = [&](const SweepPoint& point) {
    const PointState state = standing_of(round.sweep, point).state;
    return state == PointState::kWaiting || (retry_failed && state == PointState::kFailed);
  };
  const std::vector<SweepPoint>& points = round.sweep.points;
  return std::any_of(points.begin(), points.end(), is_open) ? std::optional(std::move(round)) : std::nullopt;
}

// The trials that follow these: none where there are enough, or nothing new is left to try.
std::vector<Trial> Search::draw(const std::vector<Trial>& trials) const {
  const uint64_t known = trials.size();
  uint64_t end = settings_.trials;
  if (settings_.sampler == SamplerKind::kTpe) {
    end = std::min(end, known < settings_.startup ? settings_.startup : known + settings_.batch);
  }
  std::set<std::string> seen;
  const auto is_new = [&](const Trial& trial) { return seen.insert(overrides_of(settings_.params, trial)).second; };
  std::vector<Observed> observed;
  for (const Trial& trial : trials) {
    is_new(trial);
    const std::optional<double>& figure = trial.results.at(0).figure;
    observed.push_back({trial.unit, figure ? std::optional(settings_.cost(*figure)) : std::nullopt});
  }
  std::vector<Trial> drawn;
  uint64_t next = trials.empty() ? 0 : trials.back().draw + 1;
  for (uint64_t repeats = 0; known + drawn.size() < end && repeats < kMostRepeats; ++next) {
    const SamplerKind sampler = repeats < kRepeatsBeforeRandom ? settings_.sampler : SamplerKind::kRandom;
    Trial trial{next, draw_point(sampler, settings_.params, settings_.seed, next, observed), {}};
    repeats = is_new(trial) ? 0 : repeats + 1;
    if (repeats == 0) drawn.push_back(std::move(trial));
  }
  return drawn;
}

SearchRound Search::round_of(const std::vector<Trial>& trials, const std::vector<uint64_t>& numbers,
                             uint64_t rung) const {
  SearchRound round{frame_, "", {}, false};
  round.sweep.grid.seeds = settings_.seeds;
  std::vector<AskedPoint> points;
  for (const uint64_t number : numbers) {
    GridPoint at = point_at(settings_.params, trials[number].unit);
    const ordered_json axes = axes_of(at);
    points.push_back({std::move(at), axes, settings_.end_of(rung),
                      TrialRecord{number, rung, settings_.metric, settings_.wants_higher}});
  }
  add_points(round.sweep, search_, overrides_, points, find_);
  round.sweep.spent = spent(round.sweep);
  round.title = fmt::format("{} of {} trials, {}", numbers.size(), settings_.trials, settings_.end_text(rung));
  return round;
}

Sweep Search::confirmation() const {
  const SearchLog known = log();
  Sweep sweep = frame_;
  sweep.name += "-confirmed";
  sweep.folder /= "confirmation";
  sweep.grid.seeds = settings_.confirm;
  const GridPoint found = point_at(settings_.params, known.trials()[best_of(settings_, known.trials())].unit);
  const ConfigNode* claims = base_.at("sweep").find("claims");
  sweep.grid.claims = claims == nullptr ? ordered_json::array({default_claim(settings_)})
                                        : read_claims(*claims, {{{kSettingsAxis, kFound}}, {{kSettingsAxis, kOwn}}});
  add_points(sweep, search_, overrides_, {confirming(kFound, found), confirming(kOwn, {})}, find_);
  sweep.spent = spent(sweep);
  return sweep;
}

// By the points of other rounds, and by this launch.
Spent Search::spent(const Sweep& sweep) const {
  Spent spent;
  spent.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  std::set<fs::path> own;
  for (const SweepPoint& point : sweep.points) own.insert(sweep.folder_of(point).path);
  for (const fs::path& points : {frame_.folder / "points", frame_.folder / "confirmation" / "points"}) {
    std::error_code none;
    for (fs::directory_iterator entry(points, none); !none && entry != fs::directory_iterator();
         entry.increment(none)) {
      if (own.contains(entry->path())) continue;
      const LastMetrics last = last_metrics(RunFolder{entry->path()}.metrics());
      spent.steps += last.step;
      spent.tokens += last.member_tokens;
    }
  }
  return spent;
}

void Search::begin(SearchRound& round) const {
  create_folders(frame_.folder / "points");
  if (!round.drawn.empty()) {
    const FileLock lock(frame_.folder / "lock");
    SearchLog known = log();
    // Another runner draws the same.
    if (known.trials().size() == first_of(round)) known.add_trials(round.drawn);
  }
  write_sweep(round.sweep);
  round.sweep.left_behind = 0;  // trials of other rounds
}

bool Search::settle(const SearchRound& round) const {
  std::map<uint64_t, std::vector<PointStanding>> by_trial;
  for (const SweepPoint& point : round.sweep.points) {
    PointStanding standing = standing_of(round.sweep, point);
    if (round.confirms && standing.state == PointState::kWaiting) return false;
    if (point.trial) by_trial[point.trial->trial].push_back(std::move(standing));
  }
  std::map<uint64_t, TrialResult> results;
  for (const auto& [trial, standings] : by_trial) {
    const std::optional<TrialResult> result = result_of(standings, settings_.metric);
    if (!result) return false;
    results.emplace(trial, *result);
  }
  if (results.empty()) return true;
  const uint64_t rung = round.sweep.points[0].trial->rung;
  const FileLock lock(frame_.folder / "lock");
  SearchLog known = log();
  for (const auto& [trial, result] : results) {
    if (known.trials().at(trial).results.size() == rung) known.add_result(trial, result);
  }
  drop_checkpoints(known.trials());
  return true;
}

void Search::forget_failures() const {
  const std::vector<Row> rows = table();
  if (std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.last.figure.has_value(); })) return;
  const FileLock lock(frame_.folder / "lock");
  log().forget_failures();
}

// A trial that as many others have beaten at its rung as go on from there stays there. Its checkpoints may be large.
void Search::drop_checkpoints(const std::vector<Trial>& trials) const {
  for (uint64_t rung = 0; rung + 1 < settings_.rungs(); ++rung) {
    std::vector<uint64_t> out;
    const std::vector<uint64_t> best = reaching(settings_, trials, rung + 1);
    for (uint64_t trial = 0; trial < trials.size(); ++trial) {
      const std::vector<TrialResult>& results = trials[trial].results;
      const bool is_out = std::find(best.begin(), best.end(), trial) == best.end();
      if (results.size() == rung + 1 && results.back().figure && is_out) out.push_back(trial);
    }
    if (out.empty()) continue;
    const SearchRound round = round_of(trials, out, rung);
    for (const SweepPoint& point : round.sweep.points) {
      const RunFolder folder = round.sweep.folder_of(point);
      if (!latest_checkpoint(folder.path)) continue;
      const RunLock lock(folder.path);
      remove_checkpoints(folder.path);
    }
  }
}

std::vector<Search::Row> Search::table() const {
  const SearchLog known = log();
  const std::vector<Trial>& trials = known.trials();
  std::vector<Row> rows;
  for (const uint64_t number : ranked(settings_, trials)) {
    const Trial& trial = trials[number];
    if (trial.results.empty()) continue;
    rows.push_back({number, overrides_of(settings_.params, trial), trial.results.back(), trial.results.size() - 1});
  }
  return rows;
}

bool Search::found_own() const {
  const SearchLog known = log();
  std::vector<std::string> overrides = overrides_;
  for (const AxisValue& value : point_at(settings_.params, known.trials()[best_of(settings_, known.trials())].unit)) {
    overrides.push_back(value.overrides[0]);
  }
  return run_hash(without_sweep(search_, overrides)) == base_hash_;
}

}  // namespace eggroll
