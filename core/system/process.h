// Starts other programs, reads from them and waits for them.
#ifndef EGGROLL_SYSTEM_PROCESS_H
#define EGGROLL_SYSTEM_PROCESS_H

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "system/files.h"

namespace eggroll {

// A program that is started inherits neither end.
struct Pipe {
  Descriptor output;                // is read from
  std::optional<Descriptor> input;  // is written to
};
// Throws Error.
Pipe open_pipe();

// Reads until all processes have closed the other end.
std::string read_to_end(const Descriptor& file);

// The streams and the group of a program that is started.
struct SpawnOptions {
  bool has_input = true;  // this process's standard input; else /dev/null
  // Open files for standard output and standard error; nullptr: this process's own.
  const Descriptor* output = nullptr;
  const Descriptor* errors = nullptr;
  bool has_own_group = false;  // Ctrl-C does not reach it
};

// The result of a program that was given a text and limits.
struct Conversation {
  int failure = 0;           // the system's error number, where it did not start
  int status = 0;            // its wait status
  bool out_of_time = false;  // it was killed, as in the next two cases
  bool too_long = false;     // it wrote more than it may
  bool stopped = false;      // this process is to end
  std::string output;
  std::string errors;  // the end of its standard error
};
struct ConversationLimits {
  double seconds;
  size_t output_bytes;
  size_t error_bytes;                       // that are kept
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

// Starts words[0], found as a shell would find it, with the other words as arguments. Returns 0 or the system's error
// number.
int spawn(const std::vector<std::string>& words, const SpawnOptions& options, pid_t& child);

// Runs the program, found as a shell would find it, until it ends. Its standard input is `input` from the beginning. It
// has a process group of its own, which is killed at a limit, when this process ends (even by SIGKILL), and when the
// program has ended and left others.
Conversation converse(const std::vector<std::string>& words, const Descriptor& input, const ConversationLimits& limits);

// Waits until the child has ended, and returns its wait status.
int wait_for(pid_t child);

}  // namespace eggroll

#endif
