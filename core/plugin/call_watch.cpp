// The timer that looks at calls into plugins which take long. It is no thread, because a thread would count against the
// limits of threads and memory that a user has set.
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "plugin/call_slots.h"
#include "system/machine.h"

namespace eggroll {
namespace {

using std::chrono::seconds;

constexpr seconds kShortPatience{10};
constexpr seconds kLongPatience{60};
constexpr seconds kGrace{10};  // after a signal
constexpr seconds kTick{1};

std::atomic<int> watched{0};  // calls under way
std::atomic<const std::atomic<int>*> stop_signal{nullptr};
std::array<char, 4096> go_on_text{};       // ended by '\0'
std::atomic<CallClock::rep> signalled{0};  // when the signal was seen; 0: not yet

// The handler may not allocate, so text that does not fit is cut off.
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::array<char, 8192> line{};
  const auto end = fmt::format_to_n(line.data(), line.size(), format, std::forward<Arguments>(arguments)...);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), std::min(end.size, line.size()));
}

// On a terminal the progress may stand on the line.
const char* line_begin() { return ::isatty(STDERR_FILENO) != 0 ? "\neggroll: " : "eggroll: "; }

int64_t whole_seconds(CallClock::duration time) { return std::chrono::duration_cast<seconds>(time).count(); }

void tell(const CallUnderWay& seen, CallClock::duration took) {
  const bool is_short = seen.call->patience == Patience::kShort;
  if (took < (is_short ? kShortPatience : kLongPatience) || seen.call->is_told.exchange(true)) return;
  say("{}{} has been at work {} for {} s{}; Ctrl-C or SIGTERM ends it\n", line_begin(), seen.call->who.c_str(),
      seen.call->where.c_str(), whole_seconds(took), is_short ? "" : ", as a large step may");
}

// A call that is slow by nature has been slow before.
void end_where_hung(const CallUnderWay& seen, CallClock::duration took, CallClock::duration since_signal, int number) {
  if (std::min(took, since_signal) < kGrace || took < 2 * CallClock::duration(seen.call->longest.load())) return;
  say("{}{} has been at work {} for {} s and {} came, so the run ends without saving; {}\n", line_begin(),
      seen.call->who.c_str(), seen.call->where.c_str(), whole_seconds(took),
      number == SIGINT   ? "SIGINT"
      : number == SIGHUP ? "SIGHUP"
                         : "SIGTERM",
      go_on_text.data());
  end_process(128 + number);
}

void look(int) {
  const CallClock::time_point now = CallClock::now();
  const std::atomic<int>* const from = stop_signal.load();
  const int number = from == nullptr ? 0 : from->load();
  CallClock::rep none = 0;
  if (number != 0) signalled.compare_exchange_strong(none, now.time_since_epoch().count());
  for (const CallSlot& slot : call_slots) {
    const std::optional<CallUnderWay> seen = look_at(slot);
    if (!seen || seen->call->patience == Patience::kUnwatched) continue;
    tell(*seen, now - seen->began);
    if (number == 0) continue;
    end_where_hung(*seen, now - seen->began, now.time_since_epoch() - CallClock::duration(signalled.load()), number);
  }
}

void set_timer(seconds first) {
  const itimerval times{{kTick.count(), 0}, {first.count(), 0}};
  ::setitimer(ITIMER_REAL, &times, nullptr);
}

}  // namespace

void catch_watch_timer() {
  struct sigaction action {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  ::sigaction(SIGALRM, &action, nullptr);
}

// A call that returns soon is not interrupted.
void begin_watched_call() {
  if (watched.fetch_add(1) == 0) set_timer(kTick);
}

void end_watched_call() {
  if (watched.fetch_sub(1) == 1) set_timer(seconds(0));
}

void end_hung_calls(const std::atomic<int>& signal, const std::string& go_on) {
  std::memcpy(go_on_text.data(), go_on.data(), std::min(go_on.size(), go_on_text.size() - 1));
  stop_signal.store(&signal);
}

}  // namespace eggroll
