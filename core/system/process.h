// Other programs: started, read from and waited for.
#ifndef EGGROLL_SYSTEM_PROCESS_H
#define EGGROLL_SYSTEM_PROCESS_H

#include <sys/types.h>

#include <atomic>
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

// How a program ran that was given a text and limits.
struct Conversation {
  int failure = 0;           // the system's error number, where it did not start
  int status = 0;            // its wait status
  bool out_of_time = false;  // then it was killed, as
  bool too_long = false;     // where it wrote more than it may, or
  bool stopped = false;      // where this process is to end
  std::string output;
  std::string errors;  // the end of what it wrote there
};
struct ConversationLimits {
  double seconds;
  size_t output_bytes;
  size_t error_bytes;                       // that are kept
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

// Starts words[0], found as a shell would, with the other words as its arguments. Returns 0, or the system's error
// number.
int spawn(const std::vector<std::string>& words, const SpawnOptions& options, pid_t& child);

// Runs the program, found as a shell would, with `input` as its standard input from its beginning on, until it ends.
// It has a group of its own, which is killed with it: at a limit, when this process ends (even by SIGKILL), and when
// the program has ended and has left others.
Conversation converse(const std::vector<std::string>& words, const Descriptor& input, const ConversationLimits& limits);

// Returns once the child has ended: its wait status.
int wait_for(pid_t child);

}  // namespace eggroll

#endif
