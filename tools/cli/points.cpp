// eggroll points.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/point_text.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "config/hash.h"
#include "eggroll/session_plan.h"
#include "experiment/check_points.h"
#include "experiment/point_hold.h"
#include "experiment/search.h"
#include "record/json.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr size_t kLeastWhat = 16;  // characters of what a point is, however narrow the terminal

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

// "new", "running", "waiting", kBegun if it goes on from the step of its record, or how it ended.
std::string state_of(const Sweep& sweep, const SweepPoint& point, const PointStanding& standing) {
  if (point.is_new) return "new";
  if (PointHold::is_taken(sweep.folder_of(point).path)) return "running";
  if (!standing.record) return "waiting";
  return standing.state == PointState::kWaiting ? kBegun : status_name(standing.record->status);
}

struct ListedPoint {
  const SweepPoint* point = nullptr;
  std::string state;
  std::optional<RunRecord> record;
  std::optional<double> seconds;  // what it needs by the pace of similar points, if one is done
};

// The report of `eggroll points` on a sweep.
struct PointList {
  std::vector<ListedPoint> points;
  size_t done = 0;
  size_t failed = 0;
  uint64_t tokens_left = 0;
  std::optional<double> seconds_left = 0.0;  // absent if the seconds of a point are not known
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
               tokens_column(short_count(static_cast<double>(point.member_tokens()))),
               needs ? duration_text(*needs) : "-", states[i], widest, what.rows[i]);
  }
  fmt::print("{} points in {}{}: {} done, {}{} left with {} member tokens, about {}{}\n", list.points.size(),
             sweep.folder.string(), leftovers(sweep), list.done,
             list.failed > 0 ? fmt::format("{} failed, ", list.failed) : "", list.left(),
             short_count(static_cast<double>(list.tokens_left)),
             list.left() == 0    ? "0s"
             : list.seconds_left ? duration_text(*list.seconds_left)
                                 : "? (for some of them no similar point is done)",
             list.memory_bytes
                 ? fmt::format("; at most {} of memory on {}", memory_text(*list.memory_bytes), list.device)
                 : "");
}

// search: null, or its next action.
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

}  // namespace

void commands::declare_points(CommandLine& line) {
  static Overrides overrides;
  static bool json = false;
  CLI::App* command =
      line.add_composing("points", "Check and list a sweep's points: eggroll points experiment=count-convergence",
                         overrides, [&line] { return points_command(line.host, overrides, json); });
  add_json(command, json);
}

}  // namespace eggroll
