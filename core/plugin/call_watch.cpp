// The thread that watches calls into plugins.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "plugin/call_slots.h"
#include "system/machine.h"

namespace eggroll {
namespace {

using std::chrono::seconds;

constexpr auto kTick = std::chrono::milliseconds(250);
constexpr seconds kShortPatience{10};
constexpr seconds kLongPatience{60};
constexpr seconds kGrace{10};  // after a signal

class CallWatch {
 public:
  void start() {
    if (is_started_.exchange(true)) return;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // where the system gives no more threads, calls are not watched
    }
  }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  void end_after(const std::atomic<int>& signal, const std::string& go_on) {
    const std::lock_guard<std::mutex> lock(mutex_);
    signal_ = &signal;
    go_on_ = go_on;
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, kTick, [this] { return is_over_; })) {
      const CallClock::time_point now = CallClock::now();
      const int number = signal_ == nullptr ? 0 : signal_->load();
      if (number != 0 && !signalled_) signalled_ = now;
      for (const CallSlot& slot : call_slots) {
        const std::optional<CallUnderWay> seen = look_at(slot);
        if (!seen || seen->call->patience == Patience::kUnwatched) continue;
        tell(*seen, now);
        if (signalled_) end(*seen, now, number);
      }
    }
  }

  static void tell(const CallUnderWay& seen, CallClock::time_point now) {
    const bool is_short = seen.call->patience == Patience::kShort;
    if (now - seen.began < (is_short ? kShortPatience : kLongPatience) || seen.call->is_told.exchange(true)) return;
    say(fmt::format("{} has been at work {} for {} s{}; Ctrl-C or SIGTERM ends it", seen.call->who, seen.call->where,
                    std::chrono::duration_cast<seconds>(now - seen.began).count(),
                    is_short ? "" : ", as a large step may"));
  }

  // A call that is rightly slow has been slow before.
  void end(const CallUnderWay& seen, CallClock::time_point now, int number) const {
    const CallClock::duration longest(seen.call->longest.load());
    const CallClock::duration took = now - seen.began;
    if (now - std::max(*signalled_, seen.began) < kGrace || took < 2 * longest) return;
    say(fmt::format("{} has been at work {} for {} s and {} came, so the run ends without saving; {}", seen.call->who,
                    seen.call->where, std::chrono::duration_cast<seconds>(took).count(), signal_name(number), go_on_));
    end_process(128 + number);
  }

  // On a terminal the progress may stand on the line.
  static void say(const std::string& sentence) {
    const std::string line = fmt::format("{}eggroll: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\n" : "", sentence);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  std::atomic<bool> is_started_ = false;
  bool is_over_ = false;
  const std::atomic<int>* signal_ = nullptr;
  std::string go_on_;
  std::optional<CallClock::time_point> signalled_;  // when the signal was seen
};

CallWatch& watch() {
  static auto& only = *new CallWatch();
  return only;
}

}  // namespace

void start_call_watch() { watch().start(); }
void stop_call_watch() { watch().stop(); }
void end_hung_calls(const std::atomic<int>& signal, const std::string& go_on) { watch().end_after(signal, go_on); }

}  // namespace eggroll
