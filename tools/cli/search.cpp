// eggroll sweep, where the sweep is a search: one round of points after the other.
#include "experiment/search.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <thread>

#include "cli/launch.h"
#include "cli/runs.h"
#include "cli/stops.h"
#include "cli/terminal.h"
#include "eggroll/error.h"
#include "record/run_numbers.h"
#include "report/statistics.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

constexpr auto kLookAgain = std::chrono::seconds(1);  // at points that another process runs

void print_row(const Search::Row& row) {
  const std::string score = row.last.score ? fmt::format("{:.4f}", *row.last.score) : "failed";
  say(fmt::format("{:>5}  {:>9}  {:>8}  {}\n", row.trial, row.last.steps, score, row.settings));
}

// Every trial, the best first. Returns how many failed.
size_t print_trials(const Search& search) {
  size_t failed = 0;
  const std::vector<Search::Row> rows = search.table();
  if (rows.size() < search.settings().trials) {
    say(fmt::format("{} in place of {}, because all settings of the ranges were tried\n",
                    count_text(rows.size(), "trial"), search.settings().trials));
  }
  say(fmt::format("trial      steps  {:>8}  settings\n", search.settings().metric));
  for (const Search::Row& row : rows) {
    print_row(row);
    failed += row.last.score ? 0U : 1U;
  }
  return failed;
}

// Found minus own, over the fresh seeds. Returns how many runs failed.
size_t print_confirmation(const Search& search) {
  if (search.settings().confirm.empty()) return 0;
  if (search.found_own()) {
    say("the best settings are the experiment's own, so that nothing is to be confirmed\n");
    return 0;
  }
  const Sweep sweep = search.confirmation();
  size_t failed = 0;
  std::map<uint64_t, std::map<std::string, double>> figures;
  for (const SweepPoint& point : sweep.points) {
    const RunRecord record = read_record(sweep.folder_of(point).record());
    failed += record.status == RunStatus::kFailed ? 1U : 0U;
    const auto figure = metric_of(record, record.summary.value_or(RunMetrics()), search.settings().metric);
    if (figure) figures[point.seed][point.axes.front().get<std::string>()] = *figure;
  }
  std::vector<double> found;
  std::vector<double> own;
  std::vector<double> differences;
  for (const auto& [seed, of_seed] : figures) {
    if (of_seed.size() < 2) continue;
    found.push_back(of_seed.at("found"));
    own.push_back(of_seed.at("own"));
    differences.push_back(found.back() - own.back());
  }
  if (differences.empty()) return failed;
  const Mean difference = mean_of(differences);
  say(fmt::format("on {}: found {:.4f}, the experiment's own {:.4f}, difference {:+.4f}{}\n",
                  count_text(differences.size(), "fresh seed"), mean_of(found).mean, mean_of(own).mean, difference.mean,
                  difference.interval ? fmt::format(" (95 % interval {:+.4f} to {:+.4f})", difference.interval->low,
                                                    difference.interval->high)
                                      : ""));
  return failed;
}

}  // namespace

int search_command(const ConfigSearch& config, const Overrides& overrides, const SweepArguments& arguments) {
  const Search search(config, overrides, existing_run);
  for (const std::string& sentence : search.said()) fmt::print("{}\n", sentence);
  if (arguments.retry_failed) search.forget_failures();
  std::optional<Launch> launch;
  std::string announced;
  bool retry_confirmation = arguments.retry_failed;
  while (std::optional<SearchRound> round = search.next(retry_confirmation)) {
    if (!launch) {
      launch = open_launch(round->sweep, arguments, search.folder() / "plugins");
      search.is_new() ? check_frozen(search.ends(), *launch) : check_done(search.known(), *launch);
      heed_stops(*launch);
    }
    const std::string which = round->title + round->sweep.points[0].hash;
    launch->options.retry_failed = arguments.retry_failed && which != announced;
    if (which != announced) {
      check_some_frozen(round->sweep, *launch);
      say(fmt::format("{}: {}\n", search.folder().string(), round->title));
      announced = which;
    }
    retry_confirmation = retry_confirmation && !round->confirms;
    search.begin(*round);
    const SweepResult result = run_points(round->sweep, *launch);
    const bool is_concluded = search.conclude(*round);
    if (stops.load() > 0) return stopped_by_signal();
    const SweepStatus& status = result.status;
    launch->options.failures_before = status.failures_in_a_row;
    const uint32_t breaker = launch->options.breaker;
    if (breaker > 0 && status.failures_in_a_row >= breaker) {
      throw Error(fmt::format("{}; the records in {} say why, and --retry-failed runs them again", status.ended_because,
                              search.folder().string()));
    }
    if (!status.ended_because.empty() && !is_concluded) {
      throw Error(fmt::format("{}; raise it and run the same command to go on", status.ended_because));
    }
    // The others run in another process, which writes down what they came to.
    if (!is_concluded) std::this_thread::sleep_for(kLookAgain);
  }
  const size_t trials = print_trials(search);
  const size_t runs = print_confirmation(search);
  say(fmt::format("see all: eggroll report {}\n", search.folder().string()));
  if (trials + runs == 0) return 0;
  throw Error(fmt::format("{}{}{} failed; the records in {} say why, and --retry-failed runs them again",
                          trials > 0 ? count_text(trials, "trial") : "", trials > 0 && runs > 0 ? " and " : "",
                          runs > 0 ? count_text(runs, "run") + " of the confirmation" : "", search.folder().string()));
}

}  // namespace eggroll
