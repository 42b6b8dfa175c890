#include "plugin/crash_note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "plugin/watchdog.h"

namespace eggroll {
namespace {

// A signal handler may read these alone.
std::array<char, 2048> crash_text{};
std::atomic<size_t> crash_text_size{0};
std::array<char, 2048> exit_text{};
std::atomic<size_t> exit_text_size{0};
std::atomic<bool> is_quiet{false};
std::atomic<pid_t> guarded{0};  // the process that must not exit; 0: none

void say_and_end(int number) {
  const ssize_t written = ::write(STDERR_FILENO, crash_text.data(), crash_text_size.load());
  static_cast<void>(written);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

template <size_t kSize>
void keep(const std::string& text, std::array<char, kSize>& into, std::atomic<size_t>& size) {
  const size_t kept = std::min(text.size(), kSize);
  std::memcpy(into.data(), text.data(), kept);
  size.store(kept);
}

void refuse_exit() {
  if (guarded.load() != ::getpid()) return;
  std::fflush(nullptr);
  constexpr std::string_view kUnknown = "eggroll: a plugin ended the program with exit(); fix the plugin\n";
  const size_t size = exit_text_size.load();
  const std::string_view text = size == 0 ? kUnknown : std::string_view(exit_text.data(), size);
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
  ::_exit(1);
}

}  // namespace

ExitGuard::ExitGuard() {
  guarded.store(::getpid());
  if (std::atexit(refuse_exit) != 0) guarded.store(0);
}

ExitGuard::~ExitGuard() { guarded.store(0); }

CrashNote::CrashNote(const std::string& who, const std::string& during, const std::filesystem::path& file) {
  if (is_quiet.load() || crash_text_size.load() != 0) return;
  is_first_ = true;
  const std::string where = during + (file.empty() ? "" : fmt::format(" ({})", printed(file.string())));
  keep(fmt::format("eggroll: {} crashed {}; fix the plugin, or choose another\n", who, where), crash_text,
       crash_text_size);
  keep(fmt::format("eggroll: {} ended the program with exit() {}; fix the plugin, or choose another\n", who, where),
       exit_text, exit_text_size);
  struct sigaction action {};
  action.sa_handler = say_and_end;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

CrashNote::~CrashNote() {
  if (!is_first_) return;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  crash_text_size.store(0);
  exit_text_size.store(0);
}

void CrashNote::keep_quiet() { is_quiet.store(true); }

}  // namespace eggroll
