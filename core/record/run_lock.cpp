#include "record/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <ctime>

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

std::string this_owner() { return fmt::format("pid {}{}", ::getpid(), on_this_host()); }

std::string owner_in(int file) {
  std::array<char, _POSIX_HOST_NAME_MAX + 40> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  std::string owner;
  for (ssize_t i = 0; i < size && std::isprint(static_cast<unsigned char>(text[static_cast<size_t>(i)])); ++i) {
    owner += text[static_cast<size_t>(i)];
  }
  return owner.empty() ? "another process" : owner;
}

Descriptor open_lock(const std::filesystem::path& path) {
  return open_regular(path, O_RDWR | O_CREAT, "lock", Links::kRefused);
}

// Whether another machine, whose locks this one may not see, is at work: a run writes a line of metrics each step.
bool is_held_far_away(int file, const std::filesystem::path& run_folder) {
  if (owner_in(file).ends_with(on_this_host())) return false;
  struct stat metrics {};
  return ::stat((run_folder / "metrics.jsonl").c_str(), &metrics) == 0 &&
         std::time(nullptr) - changed_ns(metrics) / 1'000'000'000 < kSilentSeconds;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder) : file_(open_lock(run_folder / "lock")) {
  const std::filesystem::path path = run_folder / "lock";
  const struct flock lock = whole_file();
  if (::fcntl(file_.get(), kSetLockOfOpenFile, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) throw file_error("lock", path, errno);
    throw Error(fmt::format("{} is in use by {}; wait until it ends or stop it, then run the same command again",
                            run_folder.string(), owner_in(file_.get())));
  }
  // The file stays when the lock goes: removing it would let two newcomers lock two files of one name.
  const std::string owner = this_owner() + "\n";
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), owner.data(), owner.size(), 0) < 0) {
    throw file_error("write", path, errno);
  }
}

bool RunLock::is_taken(const std::filesystem::path& run_folder) {
  const Descriptor file(::open((run_folder / "lock").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return errno != ENOENT;  // where it cannot be looked at, nobody knows
  struct flock lock = whole_file();
  if (::fcntl(file.get(), kGetLockOfOpenFile, &lock) != 0) return true;
  return lock.l_type != F_UNLCK || is_held_far_away(file.get(), run_folder);
}

FileLock::FileLock(const std::filesystem::path& path) : file_(open_lock(path)) {
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw file_error("lock", path, errno);
  }
}

}  // namespace eggroll
