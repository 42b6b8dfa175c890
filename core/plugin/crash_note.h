// Names a plugin that ends the process, by a crash or by exit().
#ifndef EGGROLL_PLUGIN_CRASH_NOTE_H
#define EGGROLL_PLUGIN_CRASH_NOTE_H

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

namespace eggroll {

// While it lives, a signal that ends the process (SIGSEGV and its like) first says which plugin was at work. One at a
// time; one within another says nothing.
class CrashNote {
 public:
  // during: "while it was opened", "in rule()". file: may be left out.
  CrashNote(const std::string& who, const std::string& during, const std::filesystem::path& file = {});
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
  ~CrashNote();

  // For a child whose parent says how it ended.
  static void keep_quiet();

 private:
  static constexpr std::array<int, 5> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

  bool is_first_ = false;
  std::array<struct sigaction, kSignals.size()> before_{};
};

// Only main() makes one, before all else. Where exit() is called while it lives, which a plugin alone does, the process
// says so, names the plugin of the CrashNote if there is one, and ends with exit code 1. Children by fork may exit.
class ExitGuard {
 public:
  ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
  ~ExitGuard();
};

}  // namespace eggroll

#endif
