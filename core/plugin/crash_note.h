// Names a plugin that crashes the process while it is opened.
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
  CrashNote(const std::string& who, const std::filesystem::path& file);
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

}  // namespace eggroll

#endif
