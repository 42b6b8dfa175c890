// eggroll sweep.
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
#include "eggroll/error.h"
#include "experiment/freeze.h"
#include "experiment/search.h"
#include "processes/processes.h"
#include "record/claim.h"

namespace eggroll {
namespace {

constexpr int kPointsLeft = 3;  // the exit code where points did not end, none failed and nobody stopped the sweep

struct SeedMean {
  double bits = 0.0;  // sum over its seeds
  size_t seeds = 0;
};

// The settings with the fewest held-out bits on the average of their seeds, and how to see all.
void print_best(const Sweep& sweep) {
  std::map<std::string, SeedMean> all;
  std::string unit;
  for (const SweepPoint& point : sweep.points) {
    const RunRecord record = read_record(sweep.folder_of(point).record());
    if (!record.final || (!unit.empty() && record.final->unit != unit)) return;  // not all can be compared
    unit = record.final->unit;
    SeedMean& mean_of = all[axis_text(point.axes)];
    mean_of.bits += record.final->bits_per_unit;
    ++mean_of.seeds;
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

std::string leftovers(const Sweep& sweep) {
  std::string text;
  if (sweep.repeated > 0) text += fmt::format("; {} more repeat one of these runs", sweep.repeated);
  if (sweep.left_behind > 0) text += fmt::format("; {} in the folder are no longer in the grid", sweep.left_behind);
  return text;
}

void print_said(const Sweep& sweep) {
  for (const std::string& sentence : sweep.grid.said) fmt::print("{}\n", sentence);
}

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

namespace {

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

}  // namespace

void commands::declare_sweep(CommandLine& line) {
  static Overrides overrides;
  static SweepArguments arguments;
  CLI::App* command = line.add_composing(
      "sweep", "Run the points of a sweep that are not done: eggroll sweep experiment=count-convergence --jobs 2",
      overrides, [&line] { return sweep_command(line.host, overrides, arguments); });
  CLI::Option* jobs = command
                          ->add_option("--jobs", arguments.workers.jobs,
                                       "Number of points that run at once and share the cores (default: 1)")
                          ->check(CLI::Range(1, 4096));
  command->add_option("--workers", arguments.workers.workers, "Where points run: \"cores=0-3 gpu=0;cores=4-7 gpu=1\"")
      ->excludes(jobs);
  command->add_flag("--retry-failed", arguments.retry_failed, "Run failed points again, from their last checkpoint");
  CLI::Option* breaker =
      command->add_option("--breaker", arguments.breaker, "End the sweep after this number of failures in a row")
          ->capture_default_str()
          ->check(CLI::Range(1, 1000000));
  CLI::Option* fail_fast = command->add_flag("--fail-fast", arguments.fail_fast, "End the sweep at the first failure");
  command->add_flag("--keep-going", arguments.keep_going, "Continue the sweep however many points fail")
      ->excludes(breaker)
      ->excludes(fail_fast);
}

}  // namespace eggroll
