#include "experiment/slurm_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "eggroll/error.h"
#include "experiment/freeze.h"
#include "experiment/point_hold.h"
#include "experiment/submission.h"
#include "experiment/tally.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kGlance = std::chrono::milliseconds(50);  // at signals
constexpr auto kHoldBeat = std::chrono::seconds(5);
constexpr int kMostFruitless = 3;

// An array that may be in the queue. Its elements are this launch's if this launch holds the submission.
struct Array {
  fs::path folder;
  std::vector<std::string> hashes;
  std::optional<PointHold> hold;
};

// Where a point was at the last look at the queue: nowhere, in an element of another launch, or in one of this launch.
enum class Place { kFree, kElsewhere, kWaiting, kRunning };

// A point that is not over.
struct OpenPoint {
  const SweepPoint* point = nullptr;
  std::optional<std::string> retries;  // see SubmittedPoint
  uint64_t furthest = 0;               // step
  int fruitless = 0;                   // jobs in a row that brought it no further
  std::optional<fs::path> output;      // of the last job that this launch gave it
  Place place = Place::kFree;
  Clock::time_point runs_since;  // where it runs
  std::string where;
};

class SlurmLaunch {
 public:
  SlurmLaunch(const SlurmSettings& settings, const Sweep& sweep, const LaunchOptions& options, const SweepHooks& hooks)
      : settings_(settings), sweep_(sweep), options_(options), hooks_(hooks), tally_(sweep, options) {
    for (const SweepPoint& point : sweep.points) {
      if (tally_.is_over(point)) continue;
      const fs::path record = sweep.folder_of(point).record();
      OpenPoint open;
      open.point = &point;
      // A failure from now on is another failure.
      if (standing_of(sweep, point).state == PointState::kFailed) open.retries = sha256_file(record);
      open.furthest = tally_.reached(point).step;
      open_.push_back(std::move(open));
    }
  }

  SweepResult run() {
    if (!open_.empty()) {
      most_elements_ = most_elements();
      executable_ = fs::absolute(freeze_executable(sweep_.folder / "executables"));
      while (!finished()) std::this_thread::sleep_for(kGlance);
    }
    return {status(), tally_.failed()};
  }

 private:
  bool finished() {
    const int stops = hooks_.stops != nullptr ? hooks_.stops->load() : 0;
    if (stops > 0) tally_.end("asked to stop");
    if (stops > 1) saves_ = true;
    beat();
    if (Clock::now() < next_look_ && stops == stops_seen_) return false;
    stops_seen_ = stops;
    next_look_ = Clock::now() +
                 std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings_.poll_seconds));
    const bool knows = look();
    if (hooks_.tick) hooks_.tick(status());
    if (stops > 2 || open_.empty()) return true;
    if (!knows || !running_.empty() || !waiting_.empty()) return false;
    // A point may be held by a machine that is gone, until it is stale.
    const bool expected =
        std::any_of(open_.begin(), open_.end(), [](const OpenPoint& p) { return p.output.has_value(); });
    return !expected || !tally_.ended_because().empty();
  }

  // Looks at the queue before the folders: an element that has left the queue has already written its last record.
  // Returns whether Slurm answered.
  bool look() try {
    see_queue(ask_queue());
    take_ended();
    saves_ = tally_.has_spent() || saves_;
    answered_ = true;
    if (tally_.ended_because().empty() && !open_.empty()) {
      if (!submit_free()) return true;
    } else {
      cancel({waiting_.begin(), waiting_.end()}, true);
      if (saves_) cancel_running();
    }
    complaint_.clear();
    return true;
  } catch (const SlurmError& error) {
    if (!answered_) throw;
    complain(error);
    return false;
  }

  // Slurm may not answer for a while. What it runs goes on, and the next look asks again.
  void complain(const SlurmError& error) {
    if (complaint_ != error.what() && hooks_.said) hooks_.said(error.what());
    complaint_ = error.what();
  }

  void see_queue(const std::vector<QueuedElement>& queue) {
    running_.clear();
    waiting_.clear();
    std::map<std::string, OpenPoint*> by_hash;
    std::map<const OpenPoint*, Place> before;
    for (OpenPoint& open : open_) {
      by_hash[open.point->hash] = &open;
      before[&open] = std::exchange(open.place, Place::kFree);
    }
    for (auto& [name, array] : arrays_) take_over(array);
    for (const QueuedElement& element : queue) {
      const Array* array = array_of(element.name);
      if (array == nullptr || element.number >= array->hashes.size()) continue;
      if (array->hold) (element.runs ? running_ : waiting_).insert(element.job);
      const auto found = by_hash.find(array->hashes[element.number]);
      if (found == by_hash.end()) continue;
      OpenPoint& open = *found->second;
      if (array->hold) {
        see_element(open, *array, element, before[&open]);
      } else if (open.place == Place::kFree) {
        open.place = Place::kElsewhere;
      }
    }
    for (OpenPoint& open : open_) {
      const bool was_queued = before[&open] == Place::kWaiting || before[&open] == Place::kRunning;
      if (was_queued && open.place == Place::kFree) left(open, before[&open]);
    }
  }

  // The point's element has left the queue; take_ended() finds out whether it made progress.
  void left(OpenPoint& open, Place before) {
    tally_.look_at(*open.point);
    const uint64_t step = tally_.reached(*open.point).step;
    open.fruitless = step > open.furthest ? 0 : open.fruitless + 1;
    open.furthest = std::max(open.furthest, step);
    if (before == Place::kRunning && !tally_.ended_because().empty()) saved_.push_back(open.point);
  }

  void see_element(OpenPoint& open, const Array& array, const QueuedElement& element, Place before) {
    open.output = array.folder / fmt::format("{}.out", element.number);
    if (open.place == Place::kRunning) return;  // by another element
    open.place = element.runs ? Place::kRunning : Place::kWaiting;
    if (!element.runs || before == Place::kRunning) return;
    open.runs_since = Clock::now();
    open.where = fmt::format("slurm {}_{}", element.job, element.number);
    tally_.look_at(*open.point);
    if (hooks_.started) hooks_.started({open.point, open.where, 0.0, tally_.reached(*open.point)});
  }

  // The array of that name if it belongs to this sweep: to this launch, or to another that runs or has ended.
  const Array* array_of(const std::string& name) {
    const std::string prefix = array_name("");
    if (!name.starts_with(prefix)) return nullptr;
    const auto known = arrays_.find(name);
    if (known != arrays_.end()) return &known->second;
    const fs::path folder = submission_folder(sweep_, name.substr(prefix.size()));
    if (!fs::exists(folder)) return nullptr;
    Array& array = arrays_.emplace(name, Array{folder, submitted_hashes(folder), std::nullopt}).first->second;
    take_over(array);
    return &array;
  }

  static void take_over(Array& array) {
    if (array.hold) return;
    if (std::optional<PointHold> hold = PointHold::take(array.folder)) array.hold.emplace(std::move(*hold));
  }

  std::string array_name(const std::string& id) const { return fmt::format("eggroll-{}-{}", sweep_.name, id); }

  // Takes out the points that have ended, in the order in which they ended.
  void take_ended() {
    std::vector<std::pair<const SweepPoint*, RunRecord>> ends;
    for (auto open = open_.begin(); open != open_.end();) {
      const SweepPoint& point = *open->point;
      PointStanding standing = standing_of(sweep_, point);
      const bool again = standing.state == PointState::kFailed && open->retries &&
                         sha256_file(sweep_.folder_of(point).record()) == *open->retries;
      if (standing.state == PointState::kWaiting || again) {
        if (open->place == Place::kRunning) tally_.look_at(point);
        ++open;
        continue;
      }
      ends.emplace_back(&point, std::move(*standing.record));
      open = open_.erase(open);
    }
    std::stable_sort(ends.begin(), ends.end(),
                     [](const auto& a, const auto& b) { return a.second.ended_utc < b.second.ended_utc; });
    for (const auto& [point, record] : ends) {
      std::erase(saved_, point);
      end(*point, record);
    }
    for (const SweepPoint* point : saved_) {
      if (hooks_.ended) hooks_.ended(*point, nullptr);
    }
    saved_.clear();
  }

  void end(const SweepPoint& point, const RunRecord& record) {
    tally_.ended(point, record);
    if (hooks_.ended) hooks_.ended(point, &record);
  }

  // Returns whether Slurm accepted all of the submission.
  bool submit_free() {
    elsewhere_ = 0;
    std::vector<OpenPoint*> free;
    for (auto open = open_.begin(); open != open_.end();) {
      const auto now = open++;
      const bool is_free = now->place == Place::kFree;
      const bool is_taken = is_free && PointHold::is_taken(sweep_.folder_of(*now->point).path);
      if (now->place == Place::kElsewhere || is_taken) ++elsewhere_;
      if (!is_free || is_taken) continue;
      if (now->fruitless < kMostFruitless) {
        free.push_back(&*now);
      } else if (give_up(*now)) {
        open_.erase(now);
      }
    }
    for (auto next = free.begin(); next != free.end();) {
      // at_once limits one array, so several arrays at the same time would exceed it together.
      if (settings_.at_once && !(running_.empty() && waiting_.empty())) break;
      const auto end = next + std::min<std::ptrdiff_t>(free.end() - next, static_cast<std::ptrdiff_t>(most_elements_));
      try {
        submit_array({next, end});
      } catch (const SlurmError& error) {
        if (running_.empty() && waiting_.empty()) throw Error(error.what());
        complain(error);  // perhaps a limit on queued jobs, which ends when some have run
        return false;
      }
      next = end;
    }
    return true;
  }

  // Returns whether the point could be recorded as failed.
  bool give_up(const OpenPoint& open) {
    const SweepPoint& point = *open.point;
    const RunFolder folder = sweep_.folder_of(point);
    create_folders(folder.path);
    const std::optional<PointHold> hold = PointHold::take(folder.path);
    if (!hold) return false;
    write_point(sweep_, point);
    AppendFile log(folder.log());
    log.append(
        fmt::format("eggroll: {} jobs in a row ended without making a step and without giving a reason; "
                    "raise launcher.time or launcher.memory, or read their output: {}\n",
                    kMostFruitless, open.output->string()));
    if (fs::exists(*open.output)) log.append(read_file(*open.output));
    end(point, record_death(sweep_, point, Failure::Kind::kExit, fmt::format("{} jobs", kMostFruitless)));
    return true;
  }

  void submit_array(const std::vector<OpenPoint*>& points) {
    std::vector<SubmittedPoint> submitted;
    Array array;
    for (const OpenPoint* open : points) {
      submitted.push_back({open->point, open->retries});
      array.hashes.push_back(open->point->hash);
    }
    const std::string id = write_submission(sweep_, submitted, options_.plugins);
    array.folder = submission_folder(sweep_, id);
    write_atomically(script_in(array.folder), script_text(executable_, array.folder));
    array.hold.emplace(*PointHold::take(array.folder));
    const SlurmArray asked{array_name(id), array.folder, points.size()};
    arrays_.emplace(asked.name, std::move(array));
    const std::string job = submit(settings_, asked);
    waiting_.insert(job);
    for (size_t i = 0; i < points.size(); ++i) {
      points[i]->place = Place::kWaiting;
      points[i]->output = asked.folder / fmt::format("{}.out", i);
    }
    if (!hooks_.said) return;
    hooks_.said(fmt::format("submitted {} points as job {}, see {}", points.size(), job, asked.folder.string()));
  }

  void cancel_running() {
    std::vector<std::string> jobs;
    for (const std::string& job : running_) {
      if (asked_to_save_.insert(job).second) jobs.push_back(job);
    }
    cancel(jobs, false);
  }

  void beat() {
    if (Clock::now() < next_beat_) return;
    next_beat_ = Clock::now() + kHoldBeat;
    for (const auto& [name, array] : arrays_) {
      if (array.hold) array.hold->beat();
    }
  }

  SweepStatus status() const {
    std::vector<RunningPoint> running;
    std::vector<const SweepPoint*> waiting;
    for (const OpenPoint& open : open_) {
      if (open.place == Place::kRunning) {
        const double seconds = std::chrono::duration<double>(Clock::now() - open.runs_since).count();
        running.push_back({open.point, open.where, seconds, tally_.reached(*open.point)});
      } else {
        waiting.push_back(open.point);
      }
    }
    return tally_.status(std::move(running), waiting, 0, elsewhere_);
  }

  const SlurmSettings& settings_;
  const Sweep& sweep_;
  const LaunchOptions& options_;
  const SweepHooks& hooks_;
  Tally tally_;
  std::list<OpenPoint> open_;
  std::map<std::string, Array> arrays_;  // by name
  std::set<std::string> running_;        // jobs of this launch with elements that run, when the queue was last asked
  std::set<std::string> waiting_;        // and with elements that do not yet
  std::set<std::string> asked_to_save_;
  std::vector<const SweepPoint*> saved_;  // left the queue while the launch ends
  size_t elsewhere_ = 0;
  uint64_t most_elements_ = 0;
  fs::path executable_;
  bool saves_ = false;
  bool answered_ = false;  // Slurm has, once
  std::string complaint_;  // the last one said, if it still holds
  int stops_seen_ = 0;
  Clock::time_point next_look_{};
  Clock::time_point next_beat_ = Clock::now() + kHoldBeat;
};

}  // namespace

SweepResult SlurmLauncher::run(const Sweep& sweep, const LaunchOptions& options, const SweepHooks& hooks) {
  return SlurmLaunch(settings_, sweep, options, hooks).run();
}

}  // namespace eggroll
