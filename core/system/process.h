// Other programs: started, read from and waited for.
#ifndef EGGROLL_SYSTEM_PROCESS_H
#define EGGROLL_SYSTEM_PROCESS_H

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "system/files.h"

namespace eggroll {

// Neither end is inherited by a program that is started.
struct Pipe {
  Descriptor output;                // is read from
  std::optional<Descriptor> input;  // is written to
};
// Throws Error.
Pipe open_pipe();

// What comes until all have closed the other end.
std::string read_to_end(const Descriptor& file);

// What a program that is started gets.
struct SpawnOptions {
  bool has_input = true;  // this process's standard input; else /dev/null
  // Open files for standard output and standard error; nullptr: this process's own.
  const Descriptor* output = nullptr;
  const Descriptor* errors = nullptr;
  bool has_own_group = false;  // Ctrl-C is not for it
};

// Starts words[0], found as a shell would, with the other words as its arguments. Returns 0, or the system's error
// number.
int spawn(const std::vector<std::string>& words, const SpawnOptions& options, pid_t& child);

// Returns once the child has ended: its wait status.
int wait_for(pid_t child);

}  // namespace eggroll

#endif
