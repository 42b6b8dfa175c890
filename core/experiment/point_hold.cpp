#include "experiment/point_hold.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <string>

#include "record/run_lock.h"
#include "system/file_calls.h"

namespace eggroll {
namespace {

std::string host_name() {
  std::array<char, _POSIX_HOST_NAME_MAX + 1> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
}

// "host pid\n", or "" where nobody holds it: a power cut may leave a part of that text, or zeros.
std::string owner_in(int file) {
  std::array<char, _POSIX_HOST_NAME_MAX + 40> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  const std::string owner(text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return owner.ends_with('\n') && owner.find('\0') == std::string::npos ? owner : "";
}

// Whether a machine whose locks this one does not see holds the file.
bool held_far_away(int file) {
  const std::string owner = owner_in(file);
  if (owner.empty() || owner.starts_with(host_name() + " ")) return false;
  struct stat status {};
  if (::fstat(file, &status) != 0) return false;
  return std::time(nullptr) - changed_ns(status) / 1'000'000'000 < PointHold::kStaleSeconds;
}

Descriptor open_held(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() >= 0 || errno != EEXIST) return file;
  return Descriptor(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

std::optional<PointHold> PointHold::take(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "held";
  Descriptor file = open_held(path);
  if (file.get() < 0) throw file_error("held", path, errno);
  const struct flock lock = whole_file();
  if (::fcntl(file.get(), kSetLockOfOpenFile, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) throw file_error("lock", path, errno);
    return std::nullopt;
  }
  if (held_far_away(file.get())) return std::nullopt;
  const std::string owner = fmt::format("{} {}\n", host_name(), ::getpid());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), owner.data(), owner.size(), 0) < 0) {
    throw file_error("write", path, errno);
  }
  return PointHold(std::move(file));
}

bool PointHold::is_taken(const std::filesystem::path& folder) {
  const Descriptor file(::open((folder / "held").c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() >= 0) {
    struct flock lock = whole_file();
    if (::fcntl(file.get(), kGetLockOfOpenFile, &lock) != 0) return true;
    if (lock.l_type != F_UNLCK || held_far_away(file.get())) return true;
  }
  return RunLock::is_taken(folder);
}

PointHold::~PointHold() {
  // Emptied first: whoever locks the file next then knows that its owner has left.
  if (file_.get() >= 0 && ::ftruncate(file_.get(), 0) != 0) return;
}

void PointHold::beat() const { ::futimens(file_.get(), nullptr); }

}  // namespace eggroll
