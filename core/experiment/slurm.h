// Slurm's commands: what sbatch gets, what squeue answers, and their refusals as sentences.
#ifndef EGGROLL_EXPERIMENT_SLURM_H
#define EGGROLL_EXPERIMENT_SLURM_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/tree.h"
#include "eggroll/error.h"

namespace eggroll {

// One of Slurm's commands is missing or failed; the sentence holds its own message.
class SlurmError : public Error {
 public:
  using Error::Error;
};

// The section `launcher` of launcher=slurm.
struct SlurmSettings {
  std::vector<std::string> options;  // of sbatch: the resources, then the further ones
  std::optional<int64_t> at_once;    // elements
  double poll_seconds = 0.0;
};
SlurmSettings read_slurm(const ConfigNode& section);  // throws Error with file and line

// An array of `count` elements. folder: it holds the script and each element's output N.out, appended to.
struct SlurmArray {
  std::string name;
  std::filesystem::path folder;
  uint64_t count = 0;
};
std::filesystem::path script_in(const std::filesystem::path& folder);
std::vector<std::string> sbatch_command(const SlurmSettings& settings, const SlurmArray& array);
// The script: each element is this executable, as `eggroll point`.
std::string script_text(const std::filesystem::path& executable, const std::filesystem::path& folder);

// Submits; returns the job's id. These four throw SlurmError.
std::string submit(const SlurmSettings& settings, const SlurmArray& array);

// An element in the queue.
struct QueuedElement {
  std::string job;   // the array's id
  std::string name;  // the array's
  uint64_t number = 0;
  bool runs = false;
};
// This user's elements, without jobs that are no arrays.
std::vector<QueuedElement> ask_queue();
std::vector<QueuedElement> read_queue(const std::string& squeue_output);

// The largest number of elements that an array may have here.
uint64_t most_elements();

// Ends the waiting elements of these jobs, or all elements, which are asked to save first. Elements that have already
// ended are no error.
void cancel(const std::vector<std::string>& jobs, bool only_waiting);

struct ToolResult {
  int exit_code = 0;   // 128 and more: ended by a signal
  std::string output;  // of both streams, as it came
};

// Runs a program, found as a shell would find it, with its arguments, and waits for it. It has a process group of its
// own, so that Ctrl-C does not reach it. Throws Error if it cannot be started.
ToolResult run_tool(const std::vector<std::string>& words);

}  // namespace eggroll

#endif
