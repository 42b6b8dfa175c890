// Calls into plugins that are under way. A plugin that crashes, ends the process or does not return is named.
#ifndef EGGROLL_PLUGIN_CALLS_H
#define EGGROLL_PLUGIN_CALLS_H

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

namespace eggroll {

struct CallSlot;

// How long a call may take before a line on stderr says that it is under way, once for each function of a plugin.
enum class Patience {
  kShort,     // 10 s, for what only sets up or computes a few numbers
  kLong,      // 60 s, for the work of a backend, whose steps may rightly take minutes
  kUnwatched  // no limit: it waits for other processes, or it is a frame around other calls
};

// Lives as long as a call. If several calls are under way, a crash names the last one of the thread that crashed.
class CallNote {
 public:
  // during: "in rule()". file: may be left out.
  CallNote(const std::string& who, const std::string& during, Patience patience,
           const std::filesystem::path& file = {});
  CallNote(const CallNote&) = delete;
  CallNote& operator=(const CallNote&) = delete;
  ~CallNote();

  // For a child process whose parent reports how the child ended.
  static void keep_quiet();

 private:
  CallSlot* slot_;  // null where too many calls are under way
  bool is_watched_ = false;
};

// Only main() may make one, before all else. While it lives
// - a signal that ends the process (SIGSEGV and its like) first says which plugin was at work;
// - exit() and its like, which a plugin alone calls, say so and end the process with exit code 1; children by fork may;
// - a timer (SIGALRM) looks at calls that take longer than a second.
class PluginGuard {
 public:
  PluginGuard();
  PluginGuard(const PluginGuard&) = delete;
  PluginGuard& operator=(const PluginGuard&) = delete;
  ~PluginGuard();
};

// From now on a watched call that has not returned 10 s after a signal (its number; 0: none came), and has taken more
// than twice as long as the longest earlier call of its function, ends the process with a sentence and the exit code of
// the signal. go_on: that sentence's end.
void end_hung_calls(const std::atomic<int>& signal, const std::string& go_on);

}  // namespace eggroll

#endif
