#include "record/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "system/file_calls.h"

namespace eggroll {
namespace {

// A machine whose locks this one does not see, and that wrote nothing for so long, is taken to have ended.
constexpr time_t kSilentSeconds = 300;

std::string on_this_host() {
  std::array<char, _POSIX_HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  return fmt::format(" on host {}", host.data());
}

// What the file says: an owner, or that the last one has given the lock back.
constexpr std::string_view kOwner = "pid ";
constexpr std::string_view kReleased = "released by ";

std::string this_owner() { return fmt::format("{}{}{}", kOwner, ::getpid(), on_this_host()); }

// The printable text that the file begins with.
std::string text_in(int file) {
  std::array<char, _POSIX_HOST_NAME_MAX + 60> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  std::string text;
  for (ssize_t i = 0; i < size && std::isprint(static_cast<unsigned char>(bytes[static_cast<size_t>(i)])); ++i) {
    text += bytes[static_cast<size_t>(i)];
  }
  return text;
}

std::string owner_in(int file) {
  const std::string text = text_in(file);
  return text.starts_with(kOwner) ? text : "another process";
}

// The file is never empty in between, for its text says that the folder is a run's.
bool write_text(int file, const std::string& text) {
  const std::string line = text + "\n";
  return ::pwrite(file, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
         ::ftruncate(file, static_cast<off_t>(line.size())) == 0;
}

Descriptor open_lock(const std::filesystem::path& path) {
  return open_regular(path, O_RDWR | O_CREAT, "lock", Links::kRefused);
}

Descriptor open_to_look(const std::filesystem::path& run_folder) {
  return Descriptor(::open((run_folder / "lock").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Whether another machine, whose locks this one may not see, is at work: a run writes a line of metrics each step.
bool is_held_far_away(int file, const std::filesystem::path& run_folder) {
  const std::string text = text_in(file);
  if (!text.starts_with(kOwner) || text.ends_with(on_this_host())) return false;
  struct stat metrics {};
  return ::stat((run_folder / "metrics.jsonl").c_str(), &metrics) == 0 &&
         std::abs(std::time(nullptr) - changed_ns(metrics) / 1'000'000'000) < kSilentSeconds;
}

// Whether the file still has its name: eggroll rm may have taken it away before this process had the lock.
bool is_named(int file, const std::filesystem::path& path) {
  struct stat own {};
  struct stat named {};
  return ::fstat(file, &own) == 0 && ::lstat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
         own.st_dev == named.st_dev;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder) : file_(open_lock(run_folder / "lock")) {
  const std::filesystem::path path = run_folder / "lock";
  const struct flock lock = whole_file();
  const bool has_lock = ::fcntl(file_.get(), kSetLockOfOpenFile, &lock) == 0;
  if (!has_lock && errno != EAGAIN && errno != EACCES) throw file_error("lock", path, errno);
  const bool is_far_away = has_lock && is_held_far_away(file_.get(), run_folder);
  if (!has_lock || is_far_away) {
    throw Error(fmt::format(
        "{} is in use by {}; wait until it ends or stop it, then run the same command again{}", run_folder.string(),
        owner_in(file_.get()),
        is_far_away ? fmt::format(" (if it was killed: when metrics.jsonl is {} s old)", kSilentSeconds) : ""));
  }
  if (!is_named(file_.get(), path)) {
    throw Error(
        fmt::format("{} was removed as this process began to use it; run the same command again", run_folder.string()));
  }
  // The file stays when the lock goes: removing it would let two newcomers lock two files of one name.
  if (!write_text(file_.get(), this_owner())) throw file_error("write", path, errno);
}

RunLock::~RunLock() {
  if (file_.get() < 0) return;  // moved from
  // Where this cannot be written, other machines wait as for a process that was killed.
  [[maybe_unused]] const bool is_written = write_text(file_.get(), std::string(kReleased) + this_owner());
}

bool RunLock::is_taken(const std::filesystem::path& run_folder) {
  const Descriptor file = open_to_look(run_folder);
  if (file.get() < 0) return errno != ENOENT;  // where it cannot be looked at, nobody knows
  struct flock lock = whole_file();
  if (::fcntl(file.get(), kGetLockOfOpenFile, &lock) != 0) return true;
  return lock.l_type != F_UNLCK || is_held_far_away(file.get(), run_folder);
}

bool RunLock::was_held(const std::filesystem::path& run_folder) {
  const Descriptor file = open_to_look(run_folder);
  if (file.get() < 0) return errno == EACCES;
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const std::string text = text_in(file.get());
  return text.starts_with(kOwner) || text.starts_with(std::string(kReleased) + std::string(kOwner));
}

FileLock::FileLock(const std::filesystem::path& path) : file_(open_lock(path)) {
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw file_error("lock", path, errno);
  }
}

}  // namespace eggroll
