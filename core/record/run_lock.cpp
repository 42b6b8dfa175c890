#include "record/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "record/lock_owner.h"
#include "system/file_calls.h"

namespace eggroll {
namespace {

// If a machine whose locks are not seen here has written nothing for so long, its process counts as ended.
constexpr time_t kSilentSeconds = 300;

// The longest time that a busy machine may take to start a program. Until then, a program that a process was starting
// when it was killed still has the process's files, and with them the lock.
constexpr auto kHeirSeconds = std::chrono::seconds(10);

Descriptor open_lock(const std::filesystem::path& path) {
  return open_regular(path, O_RDWR | O_CREAT, "lock", Links::kRefused);
}

Descriptor open_to_look(const std::filesystem::path& run_folder) {
  return Descriptor(::open((run_folder / "lock").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Whether another machine, whose locks this one may not see, is at work: a run writes a line of metrics each step.
bool is_held_far_away(int file, const std::filesystem::path& run_folder) {
  const std::optional<LockOwner> owner = owner_in(file);
  if (!owner || owner->is_released || owner->is_of_this_host()) return false;
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

// Takes the lock, or leaves the reason in errno.
bool take_lock(int file) {
  const struct flock lock = whole_file();
  const auto last = std::chrono::steady_clock::now() + kHeirSeconds;
  while (::fcntl(file, kSetLockOfOpenFile, &lock) != 0) {
    const int reason = errno;
    const std::optional<LockOwner> owner = owner_in(file);
    if (!owner || !owner->has_died() || std::chrono::steady_clock::now() > last) {
      errno = reason;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Whether the file says, whole or not, by whom it is or was held.
bool names_an_owner(int file) {
  std::array<char, 16> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return text.starts_with("pid ") || text.starts_with("released by pid ");
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder) : file_(open_lock(run_folder / "lock")) {
  const std::filesystem::path path = run_folder / "lock";
  const bool has_lock = take_lock(file_.get());
  if (!has_lock && errno != EAGAIN && errno != EACCES) throw file_error("lock", path, errno);
  const bool is_far_away = has_lock && is_held_far_away(file_.get(), run_folder);
  if (!has_lock || is_far_away) {
    const std::optional<LockOwner> owner = owner_in(file_.get());
    throw Error(fmt::format(
        "{} is in use by {}; wait until it ends or stop it, then run the same command again{}", run_folder.string(),
        owner ? owner->text : "another process",
        is_far_away ? fmt::format(" (if it was killed: when metrics.jsonl is {} s old)", kSilentSeconds) : ""));
  }
  if (!is_named(file_.get(), path)) {
    throw Error(
        fmt::format("{} was removed as this process began to use it; run the same command again", run_folder.string()));
  }
  // The file stays when the lock is given back: if it were removed, two newcomers could lock two files of one name.
  if (!write_owner(file_.get(), LockOwner::this_process())) throw file_error("write", path, errno);
}

RunLock::~RunLock() {
  if (file_.get() < 0) return;  // moved from
  // If this cannot be written, other machines wait as they do for a process that was killed.
  LockOwner owner = LockOwner::this_process();
  owner.is_released = true;
  [[maybe_unused]] const bool is_written = write_owner(file_.get(), owner);
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
  return ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && names_an_owner(file.get());
}

FileLock::FileLock(const std::filesystem::path& path) : file_(open_lock(path)) {
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw file_error("lock", path, errno);
  }
}

}  // namespace eggroll
