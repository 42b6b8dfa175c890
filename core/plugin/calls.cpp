#include "plugin/calls.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "eggroll/alternate_stack.h"
#include "plugin/call_slots.h"
#include "plugin/watchdog.h"
#include "system/machine.h"

namespace eggroll {

std::array<CallSlot, kCallsAtOnce> call_slots;

namespace {

constexpr std::array<int, 5> kCrashSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::array<struct sigaction, kCrashSignals.size()> actions_before{};
std::atomic<uint64_t> calls_made{0};
std::atomic<bool> is_quiet{false};
std::atomic<bool> is_said{false};  // what ended the process
std::atomic<pid_t> guarded{0};     // the process that must not exit; 0: none

uintptr_t this_thread() { return std::bit_cast<uintptr_t>(::pthread_self()); }

// The last call of this thread or, if it has none, of any thread: a plugin may have threads of its own.
const NamedCall* call_at_fault() {
  const NamedCall* found = nullptr;
  std::pair<bool, uint64_t> best{false, 0};
  for (const CallSlot& slot : call_slots) {
    const std::pair<bool, uint64_t> own{slot.thread.load() == this_thread(), slot.number.load()};
    const NamedCall* call = slot.call.load();
    if (call == nullptr || own < best) continue;
    best = own;
    found = call;
  }
  return found;
}

void say(std::string_view line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

// The signal then ends the process, or has the effect that it had before. An instruction that failed is run again.
void on_crash(int number, siginfo_t* info, void*) {
  const NamedCall* call = call_at_fault();
  if (call != nullptr && !is_quiet.load() && !is_said.exchange(true)) say(call->crash_line);
  const auto index = std::find(kCrashSignals.begin(), kCrashSignals.end(), number) - kCrashSignals.begin();
  struct sigaction ends {};
  ends.sa_handler = SIG_DFL;
  ::sigaction(number, call != nullptr ? &ends : &actions_before[static_cast<size_t>(index)], nullptr);
  if (info->si_code <= 0) ::raise(number);
}

void refuse_exit() {
  if (guarded.load() != ::getpid()) return;
  std::fflush(nullptr);
  const NamedCall* call = call_at_fault();
  say(call != nullptr ? call->exit_line : "eggroll: a plugin ended the program with exit(); fix the plugin\n");
  end_process(1);
}

NamedCall* named(const std::string& who, const std::string& during, Patience patience,
                 const std::filesystem::path& file) {
  static std::mutex lock;
  static auto& all = *new std::map<std::string, NamedCall>();
  const std::string where = during + (file.empty() ? "" : fmt::format(" ({})", printed(file.string())));
  const std::lock_guard<std::mutex> guard(lock);
  const auto [entry, is_new] = all.try_emplace(who + " " + where);
  NamedCall& call = entry->second;
  if (is_new) {
    call.who = who;
    call.where = where;
    call.patience = patience;
    call.crash_line = fmt::format("eggroll: {} crashed {}; fix the plugin, or choose another\n", who, where);
    call.exit_line =
        fmt::format("eggroll: {} ended the program with exit() {}; fix the plugin, or choose another\n", who, where);
  }
  return &call;
}

}  // namespace

CallNote::CallNote(const std::string& who, const std::string& during, Patience patience,
                   const std::filesystem::path& file)
    : slot_(nullptr) {
  NamedCall* const call = named(who, during, patience, file);
  const uint64_t number = ++calls_made;
  for (CallSlot& slot : call_slots) {
    uint64_t free = 0;
    if (!slot.number.compare_exchange_strong(free, number)) continue;
    slot.began.store(CallClock::now().time_since_epoch().count());
    slot.thread.store(this_thread());
    slot.call.store(call);
    slot_ = &slot;
    break;
  }
  if (slot_ == nullptr || patience == Patience::kUnwatched || guarded.load() == 0) return;
  begin_watched_call();
  is_watched_ = true;
}

CallNote::~CallNote() {
  if (slot_ == nullptr) return;
  if (is_watched_) end_watched_call();
  NamedCall& call = *slot_->call.load();
  const auto took = CallClock::now().time_since_epoch().count() - slot_->began.load();
  if (took > call.longest.load()) call.longest.store(took);
  slot_->call.store(nullptr);
  slot_->number.store(0);
}

void CallNote::keep_quiet() { is_quiet.store(true); }

PluginGuard::PluginGuard() {
  give_alternate_stack();
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < kCrashSignals.size(); ++i) ::sigaction(kCrashSignals[i], &action, &actions_before[i]);
  catch_watch_timer();
  guarded.store(::getpid());
  call_before_exit(refuse_exit);
}

PluginGuard::~PluginGuard() { guarded.store(0); }

}  // namespace eggroll
