#include "plugin/crash_note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plugin/watchdog.h"

namespace eggroll {
namespace {

// A signal handler may read these alone.
std::array<char, 2048> crash_text{};
std::atomic<size_t> crash_text_size{0};
std::atomic<bool> is_quiet{false};

void say_and_end(int number) {
  const ssize_t written = ::write(STDERR_FILENO, crash_text.data(), crash_text_size.load());
  static_cast<void>(written);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

}  // namespace

CrashNote::CrashNote(const std::string& who, const std::filesystem::path& file) {
  if (is_quiet.load() || crash_text_size.load() != 0) return;
  is_first_ = true;
  const std::string text = fmt::format(
      "eggroll: {} crashed while it was opened ({}); fix the plugin, or choose another\n", who, printed(file.string()));
  const size_t size = std::min(text.size(), crash_text.size());
  std::memcpy(crash_text.data(), text.data(), size);
  crash_text_size.store(size);
  struct sigaction action {};
  action.sa_handler = say_and_end;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

CrashNote::~CrashNote() {
  if (!is_first_) return;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  crash_text_size.store(0);
}

void CrashNote::keep_quiet() { is_quiet.store(true); }

}  // namespace eggroll
