#include "record/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <climits>

namespace eggroll {
namespace {

std::string this_owner() {
  std::array<char, _POSIX_HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  return fmt::format("pid {} on host {}", ::getpid(), host.data());
}

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

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder) : file_(open_lock(run_folder / "lock")) {
  const std::filesystem::path path = run_folder / "lock";
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw file_error("lock", path, errno);
    throw Error(fmt::format("{} is in use by {}; wait until it ends or stop it, then run the same command again",
                            run_folder.string(), owner_in(file_.get())));
  }
  // The file stays when the lock goes: removing it would let two newcomers lock two files of one name.
  const std::string owner = this_owner() + "\n";
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), owner.data(), owner.size(), 0) < 0) {
    throw file_error("write", path, errno);
  }
}

FileLock::FileLock(const std::filesystem::path& path) : file_(open_lock(path)) {
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw file_error("lock", path, errno);
  }
}

}  // namespace eggroll
