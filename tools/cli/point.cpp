// eggroll point: one point of a sweep whose launcher handed it to another machine.
#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "cli/commands.h"
#include "cli/sweep_view.h"
#include "eggroll/error.h"
#include "experiment/runner.h"
#include "experiment/submission.h"

namespace eggroll {
namespace {

std::atomic<int> stops{0};
std::atomic<int> stop_signal{0};

// Whoever ends a job gives it little time: any signal saves at once.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    stop_signal.store(number);
    stops.store(2);
  };
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace

int point_command(const std::filesystem::path& submission, uint64_t number, const std::string& where) {
  catch_signals();
  const Element element = read_element(submission, number);
  SweepView view(element.sweep);
  SweepHooks hooks;
  hooks.started = [&](const RunningPoint& running) { view.started(running); };
  hooks.ended = [&](const SweepPoint& point, const RunRecord* record) { view.ended(point, record); };
  hooks.stops = &stops;
  const SweepResult result = run_sweep(element.sweep, {Slot{where, {}, ""}}, element.options, hooks);
  if (stops.load() > 0) return 128 + stop_signal.load();
  const std::filesystem::path folder = element.sweep.folder_of(element.sweep.points[0]).path;
  if (!result.failed.empty())
    throw Error(fmt::format("the point failed; {} says why", (folder / "record.json").string()));
  if (result.status.elsewhere > 0) fmt::print("another runner has {}\n", folder.string());
  return 0;
}

}  // namespace eggroll
