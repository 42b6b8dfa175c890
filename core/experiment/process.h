// One point's process: it is started in a worker, its output is kept, and it is killed when its runner ends.
#ifndef EGGROLL_EXPERIMENT_PROCESS_H
#define EGGROLL_EXPERIMENT_PROCESS_H

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/workers.h"

namespace eggroll {

class PointProcess {
 public:
  // Starts this executable with these arguments (executable_to_start() says what happens if its file was replaced).
  // Appends both outputs to the log. The process is killed when this one ends. Throws Error if it cannot be started.
  PointProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log, const Worker& worker);
  PointProcess(const PointProcess&) = delete;
  PointProcess& operator=(const PointProcess&) = delete;
  ~PointProcess();  // kills and reaps

  // The wait status, once the process has ended.
  std::optional<int> poll();
  double seconds() const;
  uint64_t memory_bytes() const;  // as memory_of(), of itself alone
  void signal(int number) const;  // to it and its own processes

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace eggroll

#endif
