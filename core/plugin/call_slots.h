// The calls that are under way, in a form that signal handlers may read.
#ifndef EGGROLL_PLUGIN_CALL_SLOTS_H
#define EGGROLL_PLUGIN_CALL_SLOTS_H

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "plugin/calls.h"

namespace eggroll {

using CallClock = std::chrono::steady_clock;

// One function of one plugin. It is never freed, because it may be read while its call ends.
struct NamedCall {
  std::string who;    // "model 'gru'"
  std::string where;  // "in rule() (FILE)"
  Patience patience = Patience::kUnwatched;
  std::string crash_line;
  std::string exit_line;
  std::atomic<bool> is_told = false;        // it was reported that the call takes long
  std::atomic<CallClock::rep> longest = 0;  // the longest of the calls that have returned
};

struct CallSlot {
  std::atomic<uint64_t> number = 0;  // rises from call to call; 0: no call
  std::atomic<NamedCall*> call = nullptr;
  std::atomic<CallClock::rep> began = 0;
  std::atomic<uintptr_t> thread = 0;
};

inline constexpr size_t kCallsAtOnce = 16;
extern std::array<CallSlot, kCallsAtOnce> call_slots;

// A call that had not returned when look_at() read its slot.
struct CallUnderWay {
  NamedCall* call;
  CallClock::time_point began;
};
inline std::optional<CallUnderWay> look_at(const CallSlot& slot) {
  const uint64_t number = slot.number.load();
  NamedCall* const call = slot.call.load();
  const CallClock::time_point began{CallClock::duration(slot.began.load())};
  if (call == nullptr || slot.number.load() != number) return std::nullopt;
  return CallUnderWay{call, began};
}

// The timer that watches calls uses these.
void catch_watch_timer();
void begin_watched_call();
void end_watched_call();

}  // namespace eggroll

#endif
