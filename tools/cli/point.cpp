// eggroll point: one point of a sweep whose launcher handed it to another machine.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/stops.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "eggroll/error.h"
#include "experiment/freeze.h"
#include "experiment/runner.h"
#include "experiment/submission.h"

namespace eggroll {
namespace {

// Runs one element of a submission (experiment/submission.h). where: the job's name for the point's log.
int point_command(const std::filesystem::path& submission, uint64_t number, const std::string& where) {
  outlive_reader();
  catch_stops(true);  // a job that is told to end has little time
  catch_hangup(stop_at_once);
  const Element element = read_element(submission, number);
  require_frozen(element.options.plugins);  // the job may begin long after the launch
  SweepView view(element.sweep);
  SweepHooks hooks;
  hooks.started = [&](const RunningPoint& running) { view.started(running); };
  hooks.ended = [&](const SweepPoint& point, const RunRecord* record) { view.ended(point, record); };
  hooks.stops = &stops;
  const SweepResult result = run_sweep(element.sweep, {Worker{where, {}, ""}}, element.options, hooks);
  if (stops.load() > 0) return 128 + stop_signal.load();
  const std::filesystem::path folder = element.sweep.folder_of(element.sweep.points[0]).path;
  if (!result.failed.empty())
    throw Error(fmt::format("the point failed; {} says why", (folder / "record.json").string()));
  if (result.status.elsewhere > 0) say(fmt::format("another process runs {}\n", folder.string()));
  return 0;
}

}  // namespace

void commands::declare_point(CommandLine& line) {
  static std::filesystem::path submission;
  static uint64_t number = 0;
  static std::string where = "a job";
  CLI::App* command = line.add("point", "Run one point of a sweep that was submitted to a cluster; the jobs call this",
                               [] { return point_command(submission, number, where); });
  command->add_option("submission", submission, "The folder, below a sweep's jobs")->required();
  command->add_option("element", number, "The point's number in it, from 0")->required();
  command->add_option("--where", where, "The name of this job in the point's log")->capture_default_str();
}

}  // namespace eggroll
