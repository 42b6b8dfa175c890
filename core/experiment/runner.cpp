#include "experiment/runner.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <list>
#include <thread>
#include <unordered_map>

#include "eggroll/error.h"
#include "experiment/claim_file.h"
#include "experiment/process.h"
#include "record/files.h"
#include "record/run_lock.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kBeat = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(500);  // at metrics, and again at points that others had
constexpr double kGraceSeconds = 10.0;                  // from the request to save to the kill

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A point whose process runs.
struct Active {
  const SweepPoint* point;
  const Slot* slot;
  ClaimFile claim;
  PointProcess process;
  std::optional<std::pair<Failure::Kind, std::string>> over_limit;
  std::optional<Clock::time_point> asked;  // to save and end

  Active(const SweepPoint& which, const Slot& where, ClaimFile claimed, const std::vector<std::string>& arguments,
         const fs::path& log)
      : point(&which), slot(&where), claim(std::move(claimed)), process(arguments, log, where) {}

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
  Runner(const Sweep& sweep, const SweepOptions& options, const SweepHooks& hooks)
      : sweep_(sweep), options_(options), hooks_(hooks) {
    for (const Slot& slot : options.slots) free_slots_.push_back(&slot);
    for (const SweepPoint& point : sweep.points) sort_in(point);
  }

  SweepResult run() {
    while (true) {
      heed_signals();
      reap();
      keep_limits();
      if (ended_because_.empty()) start_points();
      if (active_.empty()) break;
      look();
      std::this_thread::sleep_for(kPoll);
    }
    result_.status = status();
    return std::move(result_);
  }

 private:
  // At the start: what is there to do.
  void sort_in(const SweepPoint& point) {
    const PointStanding standing = standing_of(sweep_, point);
    if (standing.state == PointState::kDone) {
      count_done(point, *standing.record);
    } else if (standing.state == PointState::kFailed && !options_.retry_failed) {
      result_.failed.push_back(&point);
    } else {
      waiting_.push_back(&point);
    }
    reached_[&point] = last_metrics(sweep_.folder_of(point).metrics());
    tokens_before_ += reached_[&point].member_tokens;
  }

  void count_done(const SweepPoint& point, const RunRecord& record) {
    ++done_;
    if (!record.final || (best_ != nullptr && record.final->bits_per_unit >= best_bits_)) return;
    best_ = &point;
    best_bits_ = record.final->bits_per_unit;
  }

  void heed_signals() {
    const int stops = hooks_.stops != nullptr ? hooks_.stops->load() : 0;
    if (stops > 0 && ended_because_.empty()) ended_because_ = "asked to stop";
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
    for (auto next = waiting_.begin(); next != waiting_.end() && !free_slots_.empty();) {
      next = start(**next) ? waiting_.erase(next) : std::next(next);
    }
    if (!free_slots_.empty()) next_scan_ = Clock::now() + kLook;
  }

  // Whether the point need not wait any longer: it runs, or another runner has seen to it.
  bool start(const SweepPoint& point) {
    const RunFolder folder = sweep_.folder_of(point);
    fs::create_directories(folder.path);
    std::optional<ClaimFile> claim = ClaimFile::take(folder.path);
    if (!claim || !is_free(folder)) {
      ++elsewhere_;
      return false;
    }
    const PointStanding standing = standing_of(sweep_, point);
    if (standing.state == PointState::kDone) {
      count_done(point, *standing.record);
      return true;
    }
    if (standing.state == PointState::kFailed && !options_.retry_failed) {
      result_.failed.push_back(&point);
      return true;
    }
    write_point(sweep_, point);
    const Slot& slot = *free_slots_.back();
    AppendFile(folder.log()).append(fmt::format("== {} {}\n", utc_now(), slot.name));
    active_.emplace_back(
        point, slot, std::move(*claim),
        std::vector<std::string>{"resume", "--plugins", options_.plugins.string(), folder.path.string()}, folder.log());
    free_slots_.pop_back();
    if (hooks_.started) hooks_.started({&point, &slot, 0.0, last_metrics(folder.metrics())});
    return true;
  }

  void reap() {
    for (auto active = active_.begin(); active != active_.end();) {
      const std::optional<int> status = active->process.poll();
      if (!status) {
        ++active;
        continue;
      }
      settle(*active, *status);
      free_slots_.push_back(active->slot);
      active = active_.erase(active);
    }
  }

  void settle(const Active& active, int wait_status) {
    const SweepPoint& point = *active.point;
    const RunFolder folder = sweep_.folder_of(point);
    PointStanding standing = standing_of(sweep_, point);
    std::optional<RunRecord> record;
    if (active.over_limit) {
      record = record_death(sweep_, point, active.over_limit->first, active.over_limit->second);
    } else if (wait_status == 0 && standing.state == PointState::kDone) {
      record = std::move(standing.record);
    } else if (was_interrupted(active, wait_status, standing.record)) {
      interrupted_.push_back(&point);
    } else {
      const auto kind = WIFSIGNALED(wait_status) ? Failure::Kind::kSignal : Failure::Kind::kExit;
      record = record_death(sweep_, point, kind, ending_of(wait_status));
    }
    reached_[&point] = last_metrics(folder.metrics());
    if (record && record->status == RunStatus::kFailed) {
      result_.failed.push_back(&point);
      ++failures_in_a_row_;
      if (options_.breaker > 0 && failures_in_a_row_ >= options_.breaker && ended_because_.empty()) {
        ended_because_ =
            options_.breaker == 1 ? "a point failed" : fmt::format("{} points failed in a row", options_.breaker);
      }
    } else if (record) {
      failures_in_a_row_ = 0;
      count_done(point, *record);
    }
    if (hooks_.ended) hooks_.ended(point, record ? &*record : nullptr);
  }

  // Ended by a request, its own or another's, and can go on.
  static bool was_interrupted(const Active& active, int wait_status, const std::optional<RunRecord>& record) {
    const bool asked_early = WIFSIGNALED(wait_status) && active.asked;
    const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    const bool saved =
        (code == 128 + SIGTERM || code == 128 + SIGINT) && record && record->status == RunStatus::kInterrupted;
    return asked_early || saved;
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

  // Every now and then: what runs has reached, whether the budget is spent, that claims are held.
  void look() {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + kLook;
    const bool beat = Clock::now() >= next_beat_;
    if (beat) next_beat_ = Clock::now() + kBeat;
    for (Active& active : active_) {
      reached_[active.point] = last_metrics(sweep_.folder_of(*active.point).metrics());
      if (beat) active.claim.beat();
    }
    keep_budget();
    if (hooks_.tick) hooks_.tick(status());
  }

  void keep_budget() {
    const SweepBudget& budget = sweep_.grid.budget;
    uint64_t steps = 0;
    for (const auto& [point, last] : reached_) steps += last.step;
    const uint64_t tokens = tokens_reached();
    std::string spent;
    if (budget.seconds && since(started_) >= *budget.seconds) spent = fmt::format("{} seconds", *budget.seconds);
    if (budget.steps && steps >= *budget.steps) spent = fmt::format("{} steps", *budget.steps);
    if (budget.tokens && tokens >= *budget.tokens) spent = fmt::format("{} member tokens", *budget.tokens);
    if (spent.empty()) return;
    if (ended_because_.empty()) ended_because_ = fmt::format("sweep.budget is spent ({})", spent);
    for (Active& active : active_) active.ask_to_end();
  }

  uint64_t tokens_reached() const {
    uint64_t tokens = 0;
    for (const auto& [point, last] : reached_) tokens += last.member_tokens;
    return tokens;
  }

  SweepStatus status() const {
    SweepStatus status;
    status.total = sweep_.points.size();
    status.done = done_;
    status.failed = result_.failed.size();
    status.elsewhere = elsewhere_;
    status.waiting = waiting_.size() + interrupted_.size();
    status.best = best_;
    status.best_bits = best_bits_;
    status.ended_because = ended_because_;
    uint64_t left = 0;
    const auto add_left = [&](const SweepPoint* point) {
      left += point->member_tokens() - std::min(point->member_tokens(), reached_.at(point).member_tokens);
    };
    for (const Active& active : active_) {
      status.running.push_back({active.point, active.slot, active.process.seconds(), reached_.at(active.point)});
      add_left(active.point);
    }
    for (const SweepPoint* point : waiting_) add_left(point);
    const uint64_t tokens = tokens_reached();
    if (tokens > tokens_before_) {
      status.seconds_left = since(started_) * static_cast<double>(left) / static_cast<double>(tokens - tokens_before_);
    }
    return status;
  }

  const Sweep& sweep_;
  const SweepOptions& options_;
  const SweepHooks& hooks_;
  SweepResult result_;
  std::string ended_because_;
  std::vector<const Slot*> free_slots_;
  std::list<const SweepPoint*> waiting_;
  std::vector<const SweepPoint*> interrupted_;  // in this launch, and for the next
  std::list<Active> active_;
  size_t done_ = 0;
  size_t elsewhere_ = 0;
  const SweepPoint* best_ = nullptr;
  double best_bits_ = 0.0;
  std::unordered_map<const SweepPoint*, LastMetrics> reached_;
  uint64_t tokens_before_ = 0;  // this launch
  uint32_t failures_in_a_row_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_scan_{};
  Clock::time_point next_look_{};
  Clock::time_point next_beat_ = Clock::now() + kBeat;
};

}  // namespace

SweepResult run_sweep(const Sweep& sweep, const SweepOptions& options, const SweepHooks& hooks) {
  return Runner(sweep, options, hooks).run();
}

}  // namespace eggroll
