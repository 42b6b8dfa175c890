// eggroll points, eggroll sweep.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/point_text.h"
#include "cli/runs.h"
#include "cli/stops.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "config/hash.h"
#include "eggroll/error.h"
#include "eggroll/session_plan.h"
#include "experiment/check_points.h"
#include "experiment/freeze.h"
#include "experiment/launcher.h"
#include "experiment/point_hold.h"
#include "experiment/search.h"
#include "processes/processes.h"
#include "record/claim.h"
#include "system/machine.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr int kPointsLeft = 3;     // the exit code where points did not end, none failed and nobody stopped the sweep
constexpr size_t kLeastWhat = 16;  // characters of what a point is, however narrow the terminal

// The first cure for several values of a key.
constexpr const char* kAsAxis = "put them into sweep.product, sweep.seeds or sweep.search.params to try each, or ";

// Throws Error if a point could not run. It says each reason once, with the first point that has it.
void require_runnable(const Sweep& sweep, const std::vector<PointCheck>& checks) {
  std::map<std::string, std::vector<size_t>> reasons;
  size_t wrong = 0;
  for (size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].error.empty()) continue;
    reasons[checks[i].error].push_back(i);
    ++wrong;
  }
  if (wrong == 0) return;
  std::vector<std::string> lines;
  for (const auto& [reason, points] : reasons) {
    const SweepPoint& first = sweep.points[points[0]];
    const std::string more = points.size() > 1 ? fmt::format(" and {} more", points.size() - 1) : "";
    lines.push_back(fmt::format("{} seed={}{}: {}", first.axes.dump(), first.seed, more, reason));
  }
  for (size_t i = 0; i + 1 < lines.size(); ++i) std::fputs((lines[i] + "\n").c_str(), stderr);
  throw Error(fmt::format("{} of {} points cannot run, and nothing was begun; correct the sweep or exclude them: {}",
                          wrong, sweep.points.size(), lines.back()));
}

std::string tokens_text(uint64_t tokens) {
  const double t = static_cast<double>(tokens);
  if (t >= 1e9) return fmt::format("{:.2f} G", t / 1e9);
  return t >= 1e6 ? fmt::format("{:.2f} M", t / 1e6) : fmt::format("{:.1f} k", t / 1e3);
}

// The speed of finished points in member tokens per second, by model, backend and population, which decide most of it.
class Pace {
 public:
  // standings: one for each point.
  Pace(const Sweep& sweep, const std::vector<PointStanding>& standings) {
    for (size_t i = 0; i < standings.size(); ++i) {
      if (standings[i].state != PointState::kDone) continue;
      const RunRecord& record = *standings[i].record;
      if (record.wall_seconds <= 0) continue;
      auto& [tokens, seconds] = seen_[kind_of(sweep.points[i])];
      tokens += static_cast<double>(record.member_tokens);
      seconds += record.wall_seconds;
    }
  }
  std::optional<double> seconds(const SweepPoint& point) const {
    const auto found = seen_.find(kind_of(point));
    if (found == seen_.end()) return std::nullopt;
    return static_cast<double>(point.member_tokens()) * found->second.second / found->second.first;
  }

 private:
  static std::string kind_of(const SweepPoint& point) {
    return to_json(point.config.at("model")).dump() + to_json(point.config.at("backend")).dump() +
           std::to_string(point.config.at("train.population").integer());
  }
  std::map<std::string, std::pair<double, double>> seen_;
};

constexpr const char* kBegun = "begun";

// "new", "running", "waiting", kBegun where it goes on from what its record says, or how it ended.
std::string state_of(const Sweep& sweep, const SweepPoint& point, const PointStanding& standing) {
  if (point.is_new) return "new";
  if (PointHold::is_taken(sweep.folder_of(point).path)) return "running";
  if (!standing.record) return "waiting";
  return standing.state == PointState::kWaiting ? kBegun : status_name(standing.record->status);
}

std::string leftovers(const Sweep& sweep) {
  std::string text;
  if (sweep.repeated > 0) text += fmt::format("; {} more repeat one of these runs", sweep.repeated);
  if (sweep.left_behind > 0) text += fmt::format("; {} in the folder are no longer in the grid", sweep.left_behind);
  return text;
}

// Says how the command line narrows the sweep.
void print_said(const Sweep& sweep) {
  for (const std::string& sentence : sweep.grid.said) fmt::print("{}\n", sentence);
}

struct ListedPoint {
  const SweepPoint* point = nullptr;
  std::string state;
  std::optional<RunRecord> record;
  std::optional<double> seconds;  // that it needs, if a similar point is done
};

// What `eggroll points` says of a sweep.
struct PointList {
  std::vector<ListedPoint> points;
  size_t done = 0;
  size_t failed = 0;
  uint64_t tokens_left = 0;
  std::optional<double> seconds_left = 0.0;  // absent where a point's are not known
  // The most that a point takes, and of what; absent where points run elsewhere.
  std::optional<uint64_t> memory_bytes;
  std::string device;

  size_t left() const { return points.size() - done - failed; }
};

// Throws Error if a point could not run.
PointList list_points(const Sweep& sweep) {
  const bool here = open_launcher(sweep.launcher, {})->runs_here();
  const std::vector<PointCheck> checks = check_points(sweep.points, plugin_folders_of(sweep.points[0].config), here);
  require_runnable(sweep, checks);
  require_reusable(sweep, checks);
  std::vector<PointStanding> standings;
  for (const SweepPoint& point : sweep.points) standings.push_back(standing_of(sweep, point));
  const Pace pace(sweep, standings);
  PointList list;
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    list.points.push_back({&point, state_of(sweep, point, standings[i]), standings[i].record, pace.seconds(point)});
    list.done += standings[i].state == PointState::kDone ? size_t{1} : size_t{0};
    list.failed += standings[i].state == PointState::kFailed ? size_t{1} : size_t{0};
    if (standings[i].state != PointState::kWaiting) continue;
    const std::optional<double>& needs = list.points.back().seconds;
    list.tokens_left += point.member_tokens();
    list.seconds_left = list.seconds_left && needs ? std::optional(*list.seconds_left + *needs) : std::nullopt;
  }
  if (here) {
    list.memory_bytes = 0;
    for (const PointCheck& check : checks) list.memory_bytes = std::max(*list.memory_bytes, check.memory_bytes);
    list.device = checks[0].device;
  }
  return list;
}

void print_points(const Sweep& sweep, const PointList& list) {
  std::vector<std::string> states;
  size_t widest = 5;  // the width of the column's heading
  for (const ListedPoint& listed : list.points) {
    states.push_back(listed.state == kBegun ? fmt::format("at step {}", listed.record->steps) : listed.state);
    widest = std::max(widest, states.back().size());
  }
  constexpr size_t kTokens = 15;  // the width of the column of member tokens, which is left out first
  const size_t others = 27 + kTokens + widest;
  const WhatColumn what = what_column(sweep.points, std::max(row_width(), others + kLeastWhat) - others, kTokens);
  const auto tokens_column = [&](const std::string& text) {
    return what.fits ? fmt::format("{:>{}}  ", text, kTokens - 2) : "";
  };
  print_said(sweep);
  fmt::print("point  hash      {}about   {:<{}}  {}\n", tokens_column("member tokens"), "state", widest, what.heading);
  for (size_t i = 0; i < list.points.size(); ++i) {
    const SweepPoint& point = *list.points[i].point;
    const std::optional<double>& needs = list.points[i].seconds;
    fmt::print("{:04}   {}  {}{:<6}  {:<{}}  {}\n", point.index, point.hash.substr(0, 8),
               tokens_column(tokens_text(point.member_tokens())), needs ? duration_text(*needs) : "-", states[i],
               widest, what.rows[i]);
  }
  fmt::print("{} points in {}{}: {} done, {}{} left with {} member tokens, about {}{}\n", list.points.size(),
             sweep.folder.string(), leftovers(sweep), list.done,
             list.failed > 0 ? fmt::format("{} failed, ", list.failed) : "", list.left(), tokens_text(list.tokens_left),
             list.left() == 0    ? "0s"
             : list.seconds_left ? duration_text(*list.seconds_left)
                                 : "? (for some of them no similar point is done)",
             list.memory_bytes
                 ? fmt::format("; at most {} of memory on {}", memory_text(*list.memory_bytes), list.device)
                 : "");
}

// search: null, or what is next in it.
void print_points_as_json(const Sweep& sweep, const PointList& list, const ordered_json& search) {
  ordered_json points = ordered_json::array();
  for (const ListedPoint& listed : list.points) {
    const SweepPoint& point = *listed.point;
    points.push_back({{"index", point.index},
                      {"hash", point.hash},
                      {"state", listed.state},
                      {"steps", listed.record ? listed.record->steps : 0},
                      {"planned_steps", point.steps()},
                      {"member_tokens", point.member_tokens()},
                      {"seconds", or_null(listed.seconds)},
                      {"seed", point.seed},
                      {"axes", point.axes},
                      {"folder", sweep.folder_of(point).path.string()}});
  }
  print_json({{"name", sweep.name},
              {"folder", sweep.folder.string()},
              {"search", search},
              {"said", sweep.grid.said},
              {"points", points},
              {"done", list.done},
              {"failed", list.failed},
              {"left", list.left()},
              {"member_tokens_left", list.tokens_left},
              {"seconds_left", or_null(list.seconds_left)},
              {"repeated", sweep.repeated},
              {"left_behind", sweep.left_behind},
              {"memory_bytes", or_null(list.memory_bytes)},
              {"device", or_null(list.device)}});
}

int show_points(const Sweep& sweep, bool json, const ordered_json& search = nullptr) {
  const PointList list = list_points(sweep);
  if (json) {
    print_points_as_json(sweep, list, search);
  } else {
    if (!search.is_null()) {
      fmt::print("next in {}: {}\n", search.at("folder").get<std::string>(), search.at("next").get<std::string>());
    }
    print_points(sweep, list);
  }
  return 0;
}

}  // namespace

int points_command(const HostOptions& host, const Overrides& overrides, bool json) {
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides, kAsAxis);
  if (!is_search(compose(search, overrides))) return show_points(compose_sweep(search, overrides, existing_run), json);
  const Search rounds(search, overrides, existing_run);
  const std::string folder = rounds.folder().string();
  if (const std::optional<SearchRound> next = rounds.next()) {
    return show_points(next->sweep, json, {{"folder", folder}, {"next", next->title}});
  }
  if (json) {
    Sweep ended;
    ended.name = rounds.folder().filename();
    ended.folder = rounds.folder();
    print_points_as_json(ended, {}, {{"folder", folder}, {"next", nullptr}});
  } else {
    fmt::print("the search in {0} has ended; see it: eggroll report {0}\n", folder);
  }
  return 0;
}

namespace {

struct Settings {
  double bits = 0.0;  // sum over its seeds
  size_t seeds = 0;
};

// The settings with the fewest held-out bits on the average of their seeds, and how to see all.
void print_best(const Sweep& sweep) {
  std::map<std::string, Settings> all;
  std::string unit;
  for (const SweepPoint& point : sweep.points) {
    const RunRecord record = read_record(sweep.folder_of(point).record());
    if (!record.final || (!unit.empty() && record.final->unit != unit)) return;  // not all can be compared
    unit = record.final->unit;
    Settings& settings = all[axis_text(point.axes)];
    settings.bits += record.final->bits_per_unit;
    ++settings.seeds;
  }
  const auto mean = [](const auto& entry) { return entry.second.bits / static_cast<double>(entry.second.seeds); };
  const auto best =
      std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
  if (all.size() > 1) {
    say_line(fmt::format("fewest held-out bits of {} settings: {:.4f} per {} with {}{}", all.size(), mean(*best), unit,
                         best->first,
                         best->second.seeds > 1 ? fmt::format(" (mean of {} seeds)", best->second.seeds) : ""));
  }
  say(fmt::format("see all: eggroll report {}\n", sweep.folder.string()));
}

}  // namespace

Launch open_launch(const Sweep& sweep, const SweepArguments& arguments, const std::filesystem::path& plugins) {
  Launch launch{open_launcher(sweep.launcher, arguments.workers), {}};
  launch.options.retry_failed = arguments.retry_failed;
  launch.options.breaker = arguments.keep_going ? 0 : arguments.fail_fast ? 1 : arguments.breaker;
  launch.options.plugins = freeze_plugins(plugin_folders_of(sweep.points[0].config), plugins);
  return launch;
}

static std::vector<PointCheck> checks_of(const Sweep& sweep, const Launch& launch) {
  return check_points(sweep.points, {{std::filesystem::absolute(launch.options.plugins), "frozen for the sweep"}},
                      launch.launcher->runs_here());
}

static void say_other_builds(const std::string& names) {
  if (names.empty()) return;
  say(fmt::format("other builds of {} made points that are done, with the same programs and rules as today's\n",
                  names));
}

void check_frozen(const Sweep& sweep, const Launch& launch) {
  const std::vector<PointCheck> checks = checks_of(sweep, launch);
  require_runnable(sweep, checks);
  say_other_builds(require_reusable(sweep, checks));
}

void check_done(const Sweep& sweep, const Launch& launch) {
  say_other_builds(require_reusable(sweep, checks_of(sweep, launch)));
}

void check_some_frozen(const Sweep& sweep, const Launch& launch) {
  const std::vector<PointCheck> checks = checks_of(sweep, launch);
  require_reusable(sweep, checks);
  const bool some = std::any_of(checks.begin(), checks.end(), [](const PointCheck& one) { return one.error.empty(); });
  if (!some) require_runnable(sweep, checks);
}

SweepResult run_points(const Sweep& sweep, const Launch& launch) {
  SweepView view(sweep);
  SweepHooks hooks;
  hooks.started = [&](const RunningPoint& running) { view.started(running); };
  hooks.ended = [&](const SweepPoint& point, const RunRecord* record) { view.ended(point, record); };
  hooks.tick = [&](const SweepStatus& status) { view.tick(status); };
  hooks.said = [&](const std::string& line) { view.said(line); };
  hooks.stops = &stops;
  SweepResult result = launch.launcher->run(sweep, launch.options, hooks);
  view.clear();
  return result;
}

void heed_stops(const Launch& launch) {
  outlive_reader();
  catch_stops(false);
  // On a cluster, points go on without the command, so it has nothing to save.
  if (launch.launcher->runs_here()) catch_hangup(stop_at_once);
}

int stopped_by_signal() {
  say("stopped; the same command goes on from here\n");
  return 128 + stop_signal.load();
}

int sweep_command(const HostOptions& host, const Overrides& overrides, const SweepArguments& arguments) {
  require_no_launcher("a sweep");
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides, kAsAxis);
  if (is_search(compose(search, overrides))) return search_command(search, overrides, arguments);
  Sweep sweep = compose_sweep(search, overrides, existing_run);
  Launch launch = open_launch(sweep, arguments, sweep.folder / "plugins");
  launch.options.waits = true;
  check_frozen(sweep, launch);
  write_sweep(sweep);
  print_said(sweep);
  heed_stops(launch);
  say(fmt::format("{} points in {}{}\n", sweep.points.size(), sweep.folder.string(), leftovers(sweep)));
  const SweepResult result = run_points(sweep, launch);
  const SweepStatus& s = result.status;
  say(fmt::format("{} of {} points done, {} failed, {} left\n", s.done, s.total, s.failed, s.waiting));
  if (s.elsewhere > 0 && s.ended_because.empty()) {
    say(fmt::format("{} of them run in other processes; run the sweep again when these have ended\n", s.elsewhere));
  } else if (s.waiting > 0 && s.ended_because.empty()) {
    say("a signal ended points that were left; the same command goes on with them\n");
  }
  if (stops.load() > 0) return stopped_by_signal();
  if (!result.failed.empty()) {
    std::vector<std::string> names;
    for (const SweepPoint* point : result.failed) names.push_back(fmt::format("{:04}", point->index));
    std::sort(names.begin(), names.end());  // the points ended in a random order
    throw Error(
        fmt::format("{}{} of {} points failed ({}); their records in {} say why, and --retry-failed runs them "
                    "again",
                    s.ended_because.empty() ? "" : s.ended_because + ": ", names.size(), s.total,
                    fmt::join(names, ", "), (sweep.folder / "points").string()));
  }
  if (!s.ended_because.empty() && s.done < s.total) {
    throw Error(fmt::format("{} with {} of {} points done; raise it and run the same command to go on", s.ended_because,
                            s.done, s.total));
  }
  if (s.done < s.total) return kPointsLeft;
  print_best(sweep);
  return 0;
}

}  // namespace eggroll
