#include "experiment/point_hold.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "record/lock_owner.h"
#include "record/run_lock.h"
#include "system/file_calls.h"

namespace eggroll {
namespace {

// Whether a machine whose locks this one does not see holds the file.
bool held_far_away(int file) {
  const std::optional<LockOwner> owner = owner_in(file);
  if (!owner || owner->is_of_this_host()) return false;
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
  if (!write_owner(file.get(), LockOwner::this_process())) throw file_error("write", path, errno);
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
  // Empties the file first: whoever locks it next then knows that its owner has left.
  if (file_.get() >= 0 && ::ftruncate(file_.get(), 0) != 0) return;
}

void PointHold::beat() const { ::futimens(file_.get(), nullptr); }

}  // namespace eggroll
