// Loaded by LD_PRELOAD: takes the place of the C library's functions that change files, does what they do, and records
// it (recording.h). A lock gives the calls of all threads and processes one order. It does not see
// the C library's own streams.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "damage/recording.h"

namespace {

using eggroll::test::Call;
using eggroll::test::CallHead;

const char* recorded_folder() {
  static const char* const folder = std::getenv(eggroll::test::kRecordedFolder);
  return folder;
}

bool is_recorded(const std::string& path) {
  const char* folder = recorded_folder();
  if (folder == nullptr || std::getenv(eggroll::test::kRecording) == nullptr) return false;
  const size_t size = std::strlen(folder);
  return path.compare(0, size, folder) == 0 && (path.size() == size || path[size] == '/');
}

std::string path_of(int file) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "";
}

// The path without links, except in its last name; "" if its folder is not there.
std::string whole_path(int folder, const char* name) {
  std::string path = name;
  if (path.empty()) return "";
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path[0] != '/' && folder != AT_FDCWD) path = path_of(folder) + "/" + path;
  const size_t slash = path.rfind('/');
  std::array<char, PATH_MAX> parent{};
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::realpath(above.c_str(), parent.data()) == nullptr) return "";
  return std::string(parent.data()) + "/" + path.substr(slash + 1);
}

uint64_t inode_of(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

// Holds the recording's lock, so that nothing happens between a call and its record. errno stays the call's.
class Turn {
 public:
  explicit Turn(bool taken) {
    if (!taken) return;
    file_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, std::getenv(eggroll::test::kRecording),
                                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (file_ < 0) return;
    const int failure = errno;
    ::flock(file_, LOCK_UN);  // a child that was forked meanwhile has the file open too
    ::syscall(SYS_close, file_);
    errno = failure;
  }

  void record(Call call, const std::string& first, const std::string& second = "", const std::string& data = "",
              uint64_t inode = 0, uint64_t at = 0) const {
    if (file_ < 0) return;
    const int failure = errno;
    const CallHead head{call,
                        static_cast<uint32_t>(first.size()),
                        static_cast<uint32_t>(second.size()),
                        static_cast<uint32_t>(data.size()),
                        inode,
                        at};
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
    bytes += first + second + data;
    for (size_t done = 0; done < bytes.size();) {
      const long written = ::syscall(SYS_write, file_, bytes.data() + done, bytes.size() - done);
      if (written <= 0) std::abort();  // a recording with a gap would accuse the program
      done += static_cast<size_t>(written);
    }
    errno = failure;
  }

 private:
  int file_ = -1;
};

// An open file, and whether it is recorded.
struct OpenFile {
  explicit OpenFile(int number) : number(number) {
    struct stat facts {};
    const int failure = errno;
    recorded = recorded_folder() != nullptr && ::fstat(number, &facts) == 0 &&
               (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) && is_recorded(path_of(number));
    inode = facts.st_ino;
    errno = failure;
  }
  int number;
  bool recorded;
  uint64_t inode = 0;
};

// Called after a write at the file's own position.
uint64_t began_at(int file, long written) {
  return static_cast<uint64_t>(::lseek(file, 0, SEEK_CUR)) - static_cast<uint64_t>(written);
}

int open_file(int folder, const char* name, int flags, mode_t mode) {
  const bool creates = (flags & O_CREAT) != 0;
  const bool empties = (flags & O_TRUNC) != 0;
  const std::string path = creates || empties ? whole_path(folder, name) : "";
  const bool recorded = !path.empty() && is_recorded(path);
  const Turn turn(recorded);
  const int file = static_cast<int>(::syscall(SYS_openat, folder, name, flags, mode));
  if (file < 0 || !recorded) return file;
  const OpenFile opened(file);
  if (creates) turn.record(Call::kCreate, path, "", "", opened.inode);
  if (empties) turn.record(Call::kTruncate, "", "", "", opened.inode);
  return file;
}

mode_t mode_in(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, int)) : 0;
}

ssize_t write_at(int number, const void* bytes, size_t size, off_t at) {
  const OpenFile file(number);
  const Turn turn(file.recorded);
  const long written = ::syscall(SYS_pwrite64, number, bytes, size, at);
  if (written > 0 && file.recorded) {
    turn.record(Call::kWrite, "", "", {static_cast<const char*>(bytes), static_cast<size_t>(written)}, file.inode,
                static_cast<uint64_t>(at));
  }
  return written;
}

int truncate_to(int number, off_t size) {
  const OpenFile file(number);
  const Turn turn(file.recorded);
  const int result = static_cast<int>(::syscall(SYS_ftruncate, number, size));
  if (result == 0) turn.record(Call::kTruncate, "", "", "", file.inode, static_cast<uint64_t>(size));
  return result;
}

int sync_file(long call, int number) {
  const OpenFile file(number);
  const Turn turn(file.recorded);
  const int result = static_cast<int>(::syscall(call, number));
  if (result == 0) turn.record(Call::kSync, "", "", "", file.inode);
  return result;
}

int rename_from(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const std::string first = whole_path(from_folder, from);
  const std::string second = whole_path(to_folder, to);
  const Turn turn(is_recorded(second));
  const int result = static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  if (result == 0) turn.record(Call::kRename, first, second);
  return result;
}

int link_from(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  const std::string first = whole_path(from_folder, from);
  const std::string second = whole_path(to_folder, to);
  const Turn turn(is_recorded(second));
  const int result = static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
  if (result == 0) turn.record(Call::kLink, first, second);
  return result;
}

int unlink_from(int folder, const char* name, int flags) {
  const std::string path = whole_path(folder, name);
  const Turn turn(is_recorded(path));
  const int result = static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags));
  if (result == 0) turn.record(Call::kRemove, path);
  return result;
}

int make_folder(int folder, const char* name, mode_t mode) {
  const std::string path = whole_path(folder, name);
  const Turn turn(is_recorded(path));
  const int result = static_cast<int>(::syscall(SYS_mkdirat, folder, name, mode));
  if (result == 0) turn.record(Call::kFolder, path, "", "", inode_of(path));
  return result;
}

// The kernel has copied these bytes into the file.
ssize_t note_copied(const Turn& turn, const OpenFile& file, ssize_t copied, uint64_t at) {
  if (copied <= 0 || !file.recorded) return copied;
  const std::string source = "/proc/self/fd/" + std::to_string(file.number);
  const int again = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, source.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(static_cast<size_t>(copied), '\0');
  if (::pread(again, bytes.data(), bytes.size(), static_cast<off_t>(at)) != copied) std::abort();
  ::syscall(SYS_close, again);
  turn.record(Call::kWrite, "", "", bytes, file.inode, at);
  return copied;
}

}  // namespace

extern "C" {

int open(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_in(flags, more);
  va_end(more);
  return open_file(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_in(flags, more);
  va_end(more);
  return open_file(folder, name, flags, mode);
}

// If offsets have 64 bits, these functions equal those above.
int open64(const char* name, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* name, int flags, ...) __attribute__((alias("openat")));

int creat(const char* name, mode_t mode) { return open_file(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, mode); }

ssize_t write(int number, const void* bytes, size_t size) {
  const OpenFile file(number);
  const Turn turn(file.recorded);
  const long written = ::syscall(SYS_write, number, bytes, size);
  if (written > 0 && file.recorded) {
    turn.record(Call::kWrite, "", "", {static_cast<const char*>(bytes), static_cast<size_t>(written)}, file.inode,
                began_at(number, written));
  }
  return written;
}

ssize_t writev(int number, const iovec* parts, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return write(number, bytes.data(), bytes.size());
}

ssize_t pwrite(int number, const void* bytes, size_t size, off_t at) { return write_at(number, bytes, size, at); }
ssize_t pwrite64(int number, const void* bytes, size_t size, off64_t at) { return write_at(number, bytes, size, at); }

int ftruncate(int number, off_t size) noexcept { return truncate_to(number, size); }
int ftruncate64(int number, off64_t size) noexcept { return truncate_to(number, size); }

int fsync(int number) { return sync_file(SYS_fsync, number); }
int fdatasync(int number) { return sync_file(SYS_fdatasync, number); }

int rename(const char* from, const char* to) noexcept { return rename_from(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return rename_from(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  return rename_from(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) noexcept { return link_from(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return link_from(from_folder, from, to_folder, to, flags);
}

int unlink(const char* name) noexcept { return unlink_from(AT_FDCWD, name, 0); }
int unlinkat(int folder, const char* name, int flags) noexcept { return unlink_from(folder, name, flags); }
int rmdir(const char* name) noexcept { return unlink_from(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char* name) noexcept {
  const int result = unlink_from(AT_FDCWD, name, 0);
  return result != 0 && errno == EISDIR ? unlink_from(AT_FDCWD, name, AT_REMOVEDIR) : result;
}

int mkdir(const char* name, mode_t mode) noexcept { return make_folder(AT_FDCWD, name, mode); }
int mkdirat(int folder, const char* name, mode_t mode) noexcept { return make_folder(folder, name, mode); }

ssize_t sendfile(int to, int from, off_t* at, size_t size) noexcept {
  const OpenFile file(to);
  const Turn turn(file.recorded);
  const long copied = ::syscall(SYS_sendfile, to, from, at, size);
  return copied > 0 && file.recorded ? note_copied(turn, file, copied, began_at(to, copied)) : copied;
}
ssize_t sendfile64(int to, int from, off64_t* at, size_t size) noexcept { return sendfile(to, from, at, size); }

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  const OpenFile file(to);
  const Turn turn(file.recorded);
  const uint64_t given = to_at != nullptr ? static_cast<uint64_t>(*to_at) : 0;
  const long copied = ::syscall(SYS_copy_file_range, from, from_at, to, to_at, size, flags);
  if (copied <= 0 || !file.recorded) return copied;
  return note_copied(turn, file, copied, to_at != nullptr ? given : began_at(to, copied));
}

// eggroll writes to its user with fputs().
int fputs(const char* text, FILE* stream) {
  const size_t size = std::strlen(text);
  const Turn turn(stream == stdout && recorded_folder() != nullptr && !is_recorded(path_of(STDOUT_FILENO)));
  const bool done = std::fwrite(text, 1, size, stream) == size && std::fflush(stream) == 0;
  if (done) turn.record(Call::kSaid, "", "", text);
  return done ? 1 : EOF;
}

}  // extern "C"
