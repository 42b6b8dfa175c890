#include "experiment/runner.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <list>
#include <thread>
#include <utility>

#include "eggroll/error.h"
#include "experiment/point_hold.h"
#include "experiment/process.h"
#include "experiment/search_log.h"
#include "experiment/tally.h"
#include "record/run_lock.h"
#include "system/files.h"
#include "system/machine.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kBeat = std::chrono::seconds(5);
constexpr auto kPollFiles = std::chrono::milliseconds(500);  // at metrics, and again at points that others had
constexpr double kGraceSeconds = 10.0;                       // from the request to save to the kill

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A point whose process runs.
struct Active {
  const SweepPoint* point;
  const Worker* worker;
  PointHold hold;
  PointProcess process;
  std::optional<std::pair<Failure::Kind, std::string>> over_limit;
  std::optional<Clock::time_point> asked;  // to save and end

  Active(const SweepPoint& which, const Worker& where, PointHold held, const std::vector<std::string>& arguments,
         const fs::path& log)
      : point(&which), worker(&where), hold(std::move(held)), process(arguments, log, where) {}

  void ask_to_end() {
    if (asked) return;
    asked = Clock::now();
    process.signal(SIGTERM);
  }
};

bool is_free(const RunFolder& folder) try {
  const RunLock lock(folder.path);
  return true;
} catch (const Error&) {
  return false;  // a process of a runner that has just died
}

class Runner {
 public:
  Runner(const Sweep& sweep, const std::vector<Worker>& workers, const LaunchOptions& options, const SweepHooks& hooks)
      : sweep_(sweep), options_(options), hooks_(hooks), tally_(sweep, options) {
    for (const Worker& worker : workers) free_workers_.push_back(&worker);
    for (const SweepPoint& point : sweep.points) {
      if (!tally_.is_over(point)) waiting_.push_back(&point);
    }
  }

  SweepResult run() {
    if (!waiting_.empty()) tally_.has_spent();
    while (true) {
      heed_signals();
      reap();
      keep_limits();
      if (tally_.ended_because().empty()) start_points();
      if (active_.empty() && !waits_for_others()) break;
      poll();
      std::this_thread::sleep_for(kPoll);
    }
    return {status(), tally_.failed()};
  }

 private:
  bool waits_for_others() {
    if (!options_.waits || elsewhere_ == 0 || !tally_.ended_because().empty()) return false;
    if (hooks_.said && !std::exchange(said_that_it_waits_, true)) {
      hooks_.said(fmt::format("waiting for {} that another process runs", count_text(elsewhere_, "point")));
    }
    return true;
  }

  void heed_signals() {
    const int stops = hooks_.stops != nullptr ? hooks_.stops->load() : 0;
    if (stops > 0) tally_.end("asked to stop");
    if (stops > 1) {
      for (Active& active : active_) active.ask_to_end();
    }
    if (stops > 2) {
      for (Active& active : active_) active.process.signal(SIGKILL);
    }
  }

  void start_points() {
    if (Clock::now() < next_scan_) return;
    elsewhere_ = 0;
    for (auto next = waiting_.begin(); next != waiting_.end() && !free_workers_.empty();) {
      next = start(**next) ? waiting_.erase(next) : std::next(next);
    }
    if (!free_workers_.empty()) next_scan_ = Clock::now() + kPollFiles;
  }

  // Returns whether the point no longer waits: it runs, or another runner has finished it.
  bool start(const SweepPoint& point) {
    const RunFolder folder = sweep_.folder_of(point);
    create_folders(own_folder(folder.path));
    std::optional<PointHold> hold = PointHold::take(folder.path);
    if (!hold || !is_free(folder)) {
      ++elsewhere_;
      return false;
    }
    // Another runner of the search may have gone on with this trial.
    if (point.trial && is_judged(sweep_.folder, point.trial->trial, point.trial->rung)) return true;
    if (tally_.is_over(point)) return true;
    write_point(sweep_, point);
    const Worker& worker = *free_workers_.back();
    AppendFile(folder.log()).append(fmt::format("{}{} {}\n", kProcessBegins, utc_now(), worker.name));
    active_.emplace_back(
        point, worker, std::move(*hold),
        std::vector<std::string>{"resume", "--hook", "--only-plugins", options_.plugins.string(), folder.path.string()},
        folder.log());
    free_workers_.pop_back();
    if (hooks_.started) hooks_.started({&point, worker.name, 0.0, last_metrics(folder.metrics())});
    return true;
  }

  void reap() {
    for (auto active = active_.begin(); active != active_.end();) {
      const std::optional<int> status = active->process.poll();
      if (!status) {
        ++active;
        continue;
      }
      conclude(*active, *status);
      free_workers_.push_back(active->worker);
      active = active_.erase(active);
    }
  }

  void conclude(const Active& active, int wait_status) {
    const SweepPoint& point = *active.point;
    PointStanding standing = standing_of(sweep_, point);
    std::optional<RunRecord> record;
    if (active.over_limit) {
      record = record_death(sweep_, point, active.over_limit->first, active.over_limit->second);
    } else if (wait_status == 0 && standing.state == PointState::kDone) {
      record = std::move(standing.record);
    } else if (was_interrupted(active, wait_status, standing.record)) {
      ++interrupted_;
    } else {
      const auto kind = WIFSIGNALED(wait_status) ? Failure::Kind::kSignal : Failure::Kind::kExit;
      record = record_death(sweep_, point, kind, ending_of(wait_status));
    }
    record ? tally_.ended(point, *record) : tally_.look_at(point);
    if (hooks_.ended) hooks_.ended(point, record ? &*record : nullptr);
  }

  // Ended by a request to stop, from the runner or from outside, so that it can go on later. A batch system signals the
  // runner and the point at the same time, and the point may not yet handle signals.
  static bool was_interrupted(const Active& active, int wait_status, const std::optional<RunRecord>& record) {
    if (WIFSIGNALED(wait_status)) {
      return active.asked || WTERMSIG(wait_status) == SIGTERM || WTERMSIG(wait_status) == SIGHUP;
    }
    const int number = WEXITSTATUS(wait_status) - 128;
    const bool is_request = number == SIGTERM || number == SIGINT || number == SIGHUP;
    // A point whose plugin did not let it save has a record that says `running`.
    return is_request && record && (record->status == RunStatus::kInterrupted || record->status == RunStatus::kRunning);
  }

  void keep_limits() {
    const PointLimits& limits = sweep_.grid.limits;
    for (Active& active : active_) {
      if (limits.seconds && !active.over_limit && active.process.seconds() > *limits.seconds) {
        active.over_limit = {Failure::Kind::kTime, fmt::format("more than {} s", *limits.seconds)};
        active.ask_to_end();
      }
      if (limits.memory_bytes && !active.over_limit && active.process.memory_bytes() > *limits.memory_bytes) {
        const double gib = static_cast<double>(*limits.memory_bytes) / (1 << 30);
        active.over_limit = {Failure::Kind::kMemory, fmt::format("more than {:.3g} GiB", gib)};
        active.process.signal(SIGKILL);
      }
      if (active.asked && since(*active.asked) > kGraceSeconds) active.process.signal(SIGKILL);
    }
  }

  // From time to time: reads the running points' progress, checks the budget and renews the holds.
  void poll() {
    if (Clock::now() < next_poll_) return;
    next_poll_ = Clock::now() + kPollFiles;
    const bool beat = Clock::now() >= next_beat_;
    if (beat) next_beat_ = Clock::now() + kBeat;
    for (Active& active : active_) {
      tally_.look_at(*active.point);
      if (beat) active.hold.beat();
    }
    if (tally_.has_spent()) {
      for (Active& active : active_) active.ask_to_end();
    }
    if (hooks_.tick) hooks_.tick(status());
  }

  SweepStatus status() const {
    std::vector<RunningPoint> running;
    for (const Active& active : active_) {
      running.push_back({active.point, active.worker->name, active.process.seconds(), tally_.reached(*active.point)});
    }
    return tally_.status(std::move(running), {waiting_.begin(), waiting_.end()}, interrupted_, elsewhere_);
  }

  const Sweep& sweep_;
  const LaunchOptions& options_;
  const SweepHooks& hooks_;
  Tally tally_;
  std::vector<const Worker*> free_workers_;
  std::list<const SweepPoint*> waiting_;
  size_t interrupted_ = 0;  // in this launch, and for the next
  std::list<Active> active_;
  size_t elsewhere_ = 0;
  bool said_that_it_waits_ = false;
  Clock::time_point next_scan_{};
  Clock::time_point next_poll_{};
  Clock::time_point next_beat_ = Clock::now() + kBeat;
};

}  // namespace

SweepResult run_sweep(const Sweep& sweep, const std::vector<Worker>& workers, const LaunchOptions& options,
                      const SweepHooks& hooks) {
  return Runner(sweep, workers, options, hooks).run();
}

}  // namespace eggroll
