#include "train/replicas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "system/files.h"
#include "train/session_io.h"

namespace eggroll {
namespace {

std::vector<uint64_t> checksums_of_all(BackendSession& session, const Program& program, Processes& processes) {
  return processes.gather(processes.alone() ? 0 : weights_checksum(session, program));
}

// The first 64 bits of a sha256, 1 where they are 0.
uint64_t short_hash(Sha256& digest) {
  const std::string text = digest.hex();
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + 16, value, 16);
  return std::max<uint64_t>(value, 1);
}

// The most frequent of all processes' values; among equally frequent ones, that of the lowest process.
uint64_t most_frequent(std::span<const uint64_t> values) {
  return *std::max_element(values.begin(), values.end(), [&](uint64_t a, uint64_t b) {
    return std::count(values.begin(), values.end(), a) < std::count(values.begin(), values.end(), b);
  });
}

std::vector<size_t> processes_unlike(std::span<const uint64_t> values, uint64_t right) {
  std::vector<size_t> processes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != right) processes.push_back(i);
  }
  return processes;
}

}  // namespace

uint64_t weights_checksum(BackendSession& session, const Program& program) {
  Sha256 digest;
  std::vector<int8_t> room;
  for (uint32_t i = 0; i < program.params().size(); ++i) digest.update(bytes_of(read_param(session, program, i, room)));
  return short_hash(digest);
}

void require_equal_weights(std::span<const uint64_t> checksums, uint64_t step, BackendSession& session,
                           const Program& program, Processes& processes) {
  if (processes_unlike(checksums, checksums.front()).empty()) return;  // as in every step but the last of a failing job
  const std::vector<size_t> unlike = processes_unlike(checksums, most_frequent(checksums));
  std::vector<std::string> tensors;
  std::vector<int8_t> room;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    Sha256 digest;
    digest.update(bytes_of(read_param(session, program, i, room)));
    const std::vector<uint64_t> hashes = processes.gather(short_hash(digest));
    if (!processes_unlike(hashes, most_frequent(hashes)).empty()) tensors.push_back(program.params()[i].name);
  }
  processes.fail_together(
      fmt::format("after step {} the weights of process {} differ from those of the {} other processes in {}; a device "
                  "or its memory has "
                  "failed: leave that machine out and start the job again, which goes on from its last checkpoint",
                  step, fmt::join(unlike, ", "), processes.size() - unlike.size(), fmt::join(tensors, ", ")));
}

void require_equal_weights(uint64_t step, BackendSession& session, const Program& program, Processes& processes) {
  require_equal_weights(checksums_of_all(session, program, processes), step, session, program, processes);
}

void require_same_start(const Start& start, BackendSession& session, const Program& program, Processes& processes) {
  const std::vector<Start> starts = processes.gather(start);
  const std::vector<uint64_t> checksums = checksums_of_all(session, program, processes);
  for (size_t process = 1; process < starts.size(); ++process) {
    const Start& other = starts[process];
    const bool same = other.step == starts[0].step && other.evaluations == starts[0].evaluations &&
                      other.since_best == starts[0].since_best && checksums[process] == checksums[0];
    if (same) continue;
    processes.fail_together(fmt::format(
        "process {} begins at step {} and process 0 at step {}, expected all to see the same files of the run; put "
        "results.dir where all machines read it",
        process, other.step, starts[0].step));
  }
}

}  // namespace eggroll
