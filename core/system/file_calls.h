// File functions that differ between Linux and macOS; one .cpp for each system.
#ifndef EGGROLL_SYSTEM_FILE_CALLS_H
#define EGGROLL_SYSTEM_FILE_CALLS_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace eggroll {

// Returns once the file, or the folder, is on the disk itself and would outlive a power cut. Like fsync(), it returns
// 0, or -1 with the reason in errno.
int sync_to_disk(int file);

// The same for the file's bytes and size alone, if the system makes a difference. Like fdatasync().
int sync_data_to_disk(int file);

// Like pipe(), but a program that is started inherits neither end.
int private_pipe(std::array<int, 2>& ends);

// Closes all files of this process from this number on.
void close_from(int first);

// fcntl()'s commands for locks of an open file, not of the process: to take one, and to ask for one.
extern const int kSetLockOfOpenFile;
extern const int kGetLockOfOpenFile;
// The argument of these commands: a lock on the whole file that nobody else may share.
inline struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// When the file's bytes last changed, in nanoseconds since 1970.
int64_t changed_ns(const struct stat& status);

// The inode's change time (ctime), in nanoseconds since 1970. Writing changes it too; no program can set it back.
int64_t touched_ns(const struct stat& status);

}  // namespace eggroll

#endif
