#include "experiment/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "config/hash.h"
#include "eggroll/error.h"
#include "experiment/launcher.h"
#include "experiment/outcome.h"
#include "record/run_lock.h"
#include "record/run_numbers.h"
#include "record/stated_claims.h"
#include "system/files.h"
#include "system/number_text.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Draws in a row that repeat a trial: after some they are random, as the estimator's may be all alike; after many
// nothing else is left to try.
constexpr uint64_t kRepeatsBeforeRandom = 20;
constexpr uint64_t kMostRepeats = 1000;

ConfigNode without_sweep(const ConfigSearch& search, std::vector<std::string> overrides) {
  overrides.emplace_back("~sweep");
  ConfigNode config = compose(search, overrides);
  erase_launcher(config);
  return with_absolute_paths(std::move(config));
}

TrialEnd trial_end(const Trial& trial) {
  return trial.results.empty() ? TrialEnd{} : TrialEnd{trial.results.size() - 1, trial.results.back().score};
}

// Numbers of the trials, the best first.
std::vector<uint64_t> ranked(const SearchSettings& settings, const std::vector<Trial>& trials) {
  std::vector<uint64_t> numbers(trials.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::stable_sort(numbers.begin(), numbers.end(), [&](uint64_t a, uint64_t b) {
    return is_better(trial_end(trials[a]), trial_end(trials[b]), settings.wants_higher);
  });
  return numbers;
}

uint64_t best_of(const SearchSettings& settings, const std::vector<Trial>& trials) {
  return ranked(settings, trials).at(0);
}

// The mean over the seeds; nothing if one of them has not ended.
std::optional<TrialResult> result_of(const std::vector<PointStanding>& standings, const std::string& metric) {
  TrialResult result{0.0, 0};
  for (const PointStanding& standing : standings) {
    if (standing.state == PointState::kWaiting) return std::nullopt;
    const RunRecord& record = *standing.record;
    result.steps = std::max(result.steps, record.steps);
    const std::optional<double> number = metric_of(record, record.summary.value_or(RunMetrics()), metric);
    if (!number || !std::isfinite(*number)) {
      result.score.reset();
    } else if (result.score) {
      *result.score += *number / static_cast<double>(standings.size());
    }
  }
  return result;
}

uint64_t first_of(const SearchRound& round) {
  uint64_t first = round.sweep.points.at(0).trial->trial;
  for (const SweepPoint& point : round.sweep.points) first = std::min(first, point.trial->trial);
  return first;
}

// Returns whether they are gone. The process that ended the run may still lock it; the next round tries again.
bool drop_checkpoints_of(const RunFolder& folder) try {
  if (!latest_checkpoint(folder.path)) return true;
  const RunLock lock(folder.path);
  remove_checkpoints(folder.path);
  return true;
} catch (const Error&) {
  return false;
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
      frame_(open_sweep(base_)) {
  const ConfigNode& section = base_.at("sweep");
  if (const ConfigNode* question = section.find("question")) frame_.grid.question = question->text();
  if (section.find("budget") != nullptr) frame_.grid.budget = read_budget(base_);
  if (section.find("limits") != nullptr) frame_.grid.limits = read_limits(base_);
  const ConfigNode* claims = section.find("claims");
  claims_ = claims == nullptr ? ordered_json::array({settings_.default_claim()})
                              : read_claims(*claims, {{{kSettingsAxis, kFound}}, {{kSettingsAxis, kOwn}}});
  const ConfigNode base = without_sweep(search, overrides_);
  own_hash_ = run_hash(base);
  // Stop rules are no part of a run's hash, but they decide a trial's score.
  base_hash_ = sha256_hex(own_hash_ + to_json(base.at("stop")).dump());
  if (is_there(frame_.folder / "points.jsonl") && !is_there(frame_.folder / kSearchLogName)) {
    throw Error(fmt::format("{} holds a sweep that is no search; give the search another name (name=...)",
                            frame_.folder.string()));
  }
  require_newest_log();
}

SearchLog Search::log() const { return {frame_.folder, settings_.text, base_hash_, claims_, settings_.params.size()}; }

// A point begins after the log has its trial, and what that came to at the rungs before. A log that lacks them is an
// older copy, or was cut short: the search would draw other trials.
void Search::require_newest_log() const {
  std::vector<std::pair<fs::path, TrialRecord>> begun;  // before the log is read, which another runner may write
  for (const fs::path& folder : paths_in(frame_.folder / "points")) {
    try {
      const std::optional<PointFile> point = read_point(folder);
      if (point && point->sweep.trial) begun.emplace_back(folder, *point->sweep.trial);
    } catch (const Error&) {
      continue;  // it is written again before the point runs
    }
  }
  const SearchLog known = log();
  for (const auto& [folder, point] : begun) {
    if (point.trial < known.trials().size() && known.trials()[point.trial].results.size() >= point.rung) continue;
    throw Error(fmt::format(
        "{} is damaged: it lacks trials or results that the run in {} began after; restore the newest copy, "
        "or remove the sweep's folder to search anew",
        (frame_.folder / kSearchLogName).string(), folder.string()));
  }
}

std::optional<SearchRound> Search::next(bool retry_failed) const {
  std::optional<SearchRound> round = next_round(retry_failed);
  if (round) round->sweep.spent = spent(round->sweep);
  return round;
}

std::optional<SearchRound> Search::next_round(bool retry_failed) const {
  std::vector<Trial> trials = log().trials();
  std::vector<uint64_t> open = open_at(trials, 0, settings_.trials);
  if (!open.empty()) return round_of(trials, open, 0, settings_.trials);
  std::vector<Trial> drawn = draw(trials);
  const uint64_t begun = trials.size();
  if (!drawn.empty()) {
    open.resize(drawn.size());
    std::iota(open.begin(), open.end(), begun);
    trials.insert(trials.end(), drawn.begin(), drawn.end());
    SearchRound round = round_of(trials, open, 0, settings_.trials);
    round.drawn = std::move(drawn);
    return round;
  }
  for (uint64_t rung = 1; rung < settings_.rungs(begun); ++rung) {
    if (settings_.reaching(trials, rung, begun).empty()) throw all_failed(settings_.end_text(rung - 1, begun));
    open = open_at(trials, rung, begun);
    if (!open.empty()) return round_of(trials, open, rung, begun);
  }
  const uint64_t last = settings_.rungs(begun) - 1;
  const auto has_ended = [&](const Trial& trial) { return trial.results.size() > last && trial.results[last].score; };
  if (std::none_of(trials.begin(), trials.end(), has_ended)) throw all_failed(settings_.end_text(last, begun));
  if (settings_.confirm.empty() || found_own()) return std::nullopt;
  SearchRound round{confirmation(), "", {}, true};
  round.title = fmt::format("the settings that were found and the experiment's own, on {}",
                            count_text(settings_.confirm.size(), "fresh seed"));
  const auto is_open = [&](const SweepPoint& point) {
    const PointState state = standing_of(round.sweep, point).state;
    return state == PointState::kWaiting || (retry_failed && state == PointState::kFailed);
  };
  const std::vector<SweepPoint>& points = round.sweep.points;
  return std::any_of(points.begin(), points.end(), is_open) ? std::optional(std::move(round)) : std::nullopt;
}

// Trials that reach the rung but have no result there.
std::vector<uint64_t> Search::open_at(const std::vector<Trial>& trials, uint64_t rung, uint64_t begun) const {
  std::vector<uint64_t> open = settings_.reaching(trials, rung, begun);
  std::erase_if(open, [&](uint64_t trial) { return trials[trial].results.size() != rung; });
  return open;
}

Error Search::all_failed(const std::string& end) const {
  return Error(
      fmt::format("all trials of the search in {} that ran {} failed; their records say why, and "
                  "--retry-failed runs them again",
                  frame_.folder.string(), end));
}

// The next trials: none if there are enough, or if nothing new is left to try.
std::vector<Trial> Search::draw(const std::vector<Trial>& trials) const {
  const uint64_t known = trials.size();
  uint64_t end = settings_.trials;
  if (settings_.sampler == SamplerKind::kTpe) {
    end = std::min(end, known < settings_.startup ? settings_.startup : known + settings_.batch);
  }
  std::set<std::string> seen;
  const auto is_new = [&](const Trial& trial) {
    return seen.insert(text_at(settings_.params, trial.coordinates)).second;
  };
  std::vector<Observed> observed;
  for (const Trial& trial : trials) {
    is_new(trial);
    const std::optional<double>& score = trial.results.at(0).score;
    observed.push_back({trial.coordinates, score ? std::optional(settings_.cost(*score)) : std::nullopt});
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

SearchRound Search::round_of(const std::vector<Trial>& trials, const std::vector<uint64_t>& numbers, uint64_t rung,
                             uint64_t begun) const {
  SearchRound round{frame_, "", {}, false};
  round.sweep.grid.seeds = settings_.seeds;
  std::vector<AskedPoint> points;
  for (const uint64_t number : numbers) {
    GridPoint at = point_at(settings_.params, trials[number].coordinates);
    const ordered_json axes = axes_of(at);
    points.push_back({std::move(at), axes, settings_.end_of(rung, begun),
                      TrialRecord{number, rung, settings_.metric, settings_.wants_higher}});
  }
  add_points(round.sweep, search_, overrides_, points, find_);
  round.sweep.left_behind = 0;  // trials of other rounds
  round.sweep.planned = settings_.trials * settings_.seeds.size();
  round.title = fmt::format("{} of {}, {}", numbers.size(), count_text(settings_.trials, "trial"),
                            settings_.end_text(rung, begun));
  return round;
}

Sweep Search::ends() const {
  Sweep sweep = frame_;
  sweep.grid.seeds = {settings_.seeds.front()};
  std::vector<AskedPoint> points;
  for (const SearchParam& param : settings_.params) {
    const size_t values = param.interval ? 2 : param.choices.size();
    for (size_t i = 0; i < values; ++i) {
      const double place =
          param.interval ? static_cast<double>(i) : (static_cast<double>(i) + 0.5) / static_cast<double>(values);
      GridPoint at = {{param.key, {param.at(place)}}};
      ordered_json axes = axes_of(at);
      points.push_back({std::move(at), std::move(axes), {}, {}});
    }
  }
  add_points(sweep, search_, overrides_, points, find_);
  return sweep;
}

Sweep Search::known() const {
  const std::vector<Trial> trials = log().trials();
  std::vector<uint64_t> numbers(trials.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return round_of(trials, numbers, 0, settings_.trials).sweep;
}

// Settings that are the best after all, since failed trials were tried again, are confirmed in a folder of their own.
Sweep Search::confirmation() const {
  const SearchLog known = log();
  const uint64_t best = best_of(settings_, known.trials());
  Sweep sweep = frame_;
  sweep.name += fmt::format("-trial-{}-confirmed", best);
  sweep.folder = sweep.folder / "confirmation" / fmt::format("trial-{}", best);
  sweep.grid.seeds = settings_.confirm;
  sweep.grid.claims = claims_;
  for (ordered_json& claim : sweep.grid.claims) {
    // The author of the claim may know the trials' scores.
    if (!holds_claim(known.claims(), claim)) claim["exploratory"] = true;
  }
  const GridPoint found = point_at(settings_.params, known.trials()[best].coordinates);
  add_points(sweep, search_, overrides_, {confirming(kFound, found), confirming(kOwn, {})}, find_);
  return sweep;
}

// The part of the budget that points of other rounds, and this launch, have spent.
Spent Search::spent(const Sweep& sweep) const {
  Spent spent;
  spent.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  std::set<fs::path> own;
  for (const SweepPoint& point : sweep.points) own.insert(sweep.folder_of(point).path);
  const auto add_runs = [&](const fs::path& points) {
    for (const fs::path& run : paths_in(points)) {
      if (own.contains(run)) continue;
      const LastMetrics last = last_metrics(RunFolder{run}.metrics());
      spent.steps += last.step;
      spent.tokens += last.member_tokens;
    }
  };
  add_runs(frame_.folder / "points");
  for (const fs::path& confirmed : paths_in(frame_.folder / "confirmation")) add_runs(confirmed / "points");
  return spent;
}

void Search::begin(SearchRound& round) const {
  create_folders(frame_.folder / "points");
  if (!round.drawn.empty()) {
    const FileLock lock(frame_.folder / "lock");
    SearchLog known = log();
    // Another runner would draw the same trials.
    if (known.trials().size() == first_of(round)) {
      known.add_trials(round.drawn);
      known.write();
    }
  }
  write_sweep(round.sweep);
}

bool Search::conclude(const SearchRound& round) const {
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
  known.write();
  drop_checkpoints(known.trials());
  return true;
}

void Search::forget_failures() const {
  const std::vector<Row> rows = table();
  if (std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.last.score.has_value(); })) return;
  const FileLock lock(frame_.folder / "lock");
  SearchLog known = log();
  known.forget_failures();
  known.write();
}

// A trial stays at its rung if as many others have beaten it there as go on. Its checkpoints may be large.
void Search::drop_checkpoints(const std::vector<Trial>& trials) const {
  for (uint64_t rung = 0; rung + 1 < settings_.rungs(settings_.trials); ++rung) {
    std::vector<uint64_t> out;
    const std::vector<uint64_t> best = settings_.reaching(trials, rung + 1, settings_.trials);
    for (uint64_t trial = 0; trial < trials.size(); ++trial) {
      const std::vector<TrialResult>& results = trials[trial].results;
      const bool is_out = std::find(best.begin(), best.end(), trial) == best.end();
      if (results.size() == rung + 1 && results.back().score && is_out && !dropped_.contains(trial)) {
        out.push_back(trial);
      }
    }
    if (out.empty()) continue;
    const SearchRound round = round_of(trials, out, rung, settings_.trials);
    for (const SweepPoint& point : round.sweep.points) {
      if (drop_checkpoints_of(round.sweep.folder_of(point))) dropped_.insert(point.trial->trial);
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
    rows.push_back(
        {number, text_at(settings_.params, trial.coordinates), trial.results.back(), trial.results.size() - 1});
  }
  return rows;
}

bool Search::found_own() const {
  const SearchLog known = log();
  std::vector<std::string> overrides = overrides_;
  for (const AxisValue& value :
       point_at(settings_.params, known.trials()[best_of(settings_, known.trials())].coordinates)) {
    overrides.push_back(value.overrides[0]);
  }
  return run_hash(without_sweep(search_, overrides)) == own_hash_;
}

}  // namespace eggroll
