// The line by which a lock's file says who holds it.
#ifndef EGGROLL_RECORD_LOCK_OWNER_H
#define EGGROLL_RECORD_LOCK_OWNER_H

#include <sys/types.h>
#include <optional>
#include <string>

namespace eggroll {

// "pid 12 on host a, crc 1a2b3c4d", with the CRC-32 of what stands before the comma.
struct LockOwner {
  std::string text;  // "pid 12 on host a"
  pid_t pid = 0;
  std::string host;
  bool is_released = false;  // the lock was given back: the line begins with "released by "

  static LockOwner this_process();
  bool is_of_this_host() const;
  // Whether it was a process of this host and is there no more.
  bool has_died() const;
};

// Nothing where the file begins with no such line, or with one that is not whole.
std::optional<LockOwner> owner_in(int file);

// Puts the owner's line into the file, which is empty at no time. Whether it could be written.
bool write_owner(int file, const LockOwner& owner);

}  // namespace eggroll

#endif
