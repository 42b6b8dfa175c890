// Lets only one process at a time use a run's folder.
#ifndef EGGROLL_RECORD_RUN_LOCK_H
#define EGGROLL_RECORD_RUN_LOCK_H

#include <filesystem>

#include "system/files.h"

namespace eggroll {

// Holds <run folder>/lock for as long as it lives; the system frees the lock of a process that dies. Machines may share
// a folder without seeing each other's locks: one that has taken the lock and not given it back holds it for as long as
// its run writes metrics.
class RunLock {
 public:
  // The folder must exist. Throws, naming folder, pid and host, if anyone holds the lock, this process included.
  explicit RunLock(const std::filesystem::path& run_folder);
  RunLock(RunLock&&) = default;
  ~RunLock();
  // Whether anyone holds the lock. This takes no lock, so it keeps nobody out.
  static bool is_taken(const std::filesystem::path& run_folder);
  // Whether anyone holds or has held the lock: the file says who.
  static bool was_held(const std::filesystem::path& run_folder);

 private:
  Descriptor file_;
};

// Waits for the file's lock, and holds it for as long as it lives. A missing file is created; the system
// frees the lock of a process that dies.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);

 private:
  Descriptor file_;
};

}  // namespace eggroll

#endif
