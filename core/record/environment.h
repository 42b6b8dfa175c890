// This build of the host and this machine, for the record of a run.
#ifndef EGGROLL_RECORD_ENVIRONMENT_H
#define EGGROLL_RECORD_ENVIRONMENT_H

#include <cstdint>
#include <string>

#include "system/machine.h"

namespace eggroll {

struct Environment {
  std::string host_version;
  std::string host_commit;  // ends in "-dirty" where the tree had changes
  std::string compiler;     // name, version, flags
  std::string abi;          // "major.minor"
  std::string spec_hash;    // 16 hexadecimal digits
  std::string system;       // kernel, release, machine
  Cpu cpu;
};

Environment capture_environment();

// The time in UTC as "2025-01-31T23:59:59Z".
std::string utc_now();

// 16 lower-case digits: how records and checkpoints write 64-bit hashes.
std::string hex64(uint64_t value);

}  // namespace eggroll

#endif
