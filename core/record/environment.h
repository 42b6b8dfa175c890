// What a run was made with: this build of the host, and this machine.
#ifndef EGGROLL_RECORD_ENVIRONMENT_H
#define EGGROLL_RECORD_ENVIRONMENT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {

struct Cpu {
  std::string model;                  // "unknown" where the system does not say
  uint32_t cores = 0;                 // logical; 0: the system does not say
  std::vector<std::string> features;  // the vector extensions and what goes with them, as the system names them
};

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

// From the text of /proc/cpuinfo on x86 or Arm.
Cpu parse_cpuinfo(std::string_view text);

// The time in UTC as "2025-01-31T23:59:59Z".
std::string utc_now();

// 16 lower-case digits: how records and checkpoints write 64-bit hashes.
std::string hex64(uint64_t value);

}  // namespace eggroll

#endif
