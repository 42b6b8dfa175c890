// The line in a lock's file that says who holds the lock.
#ifndef EGGROLL_RECORD_LOCK_OWNER_H
#define EGGROLL_RECORD_LOCK_OWNER_H

#include <sys/types.h>
#include <optional>
#include <string>

namespace eggroll {

// "pid 12 on host a, crc 1a2b3c4d", with the CRC-32 of the text before the comma.
struct LockOwner {
  std::string text;  // "pid 12 on host a"
  pid_t pid = 0;
  std::string host;
  bool is_released = false;  // the lock was given back: the line begins with "released by "

  static LockOwner this_process();
  bool is_of_this_host() const;
  // Whether the owner was a process of this host that no longer exists.
  bool has_died() const;
};

// Nothing if the file does not begin with such a line, or the line is not whole.
std::optional<LockOwner> owner_in(int file);

// Puts the owner's line into the file, which is never empty meanwhile. Returns whether it could be written.
bool write_owner(int file, const LockOwner& owner);

}  // namespace eggroll

#endif
