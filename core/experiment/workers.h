// Workers are places where points run, one at a time each.
#ifndef EGGROLL_EXPERIMENT_WORKERS_H
#define EGGROLL_EXPERIMENT_WORKERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace eggroll {

struct Worker {
  std::string name;        // "cores 0-3", "gpu 1", "job 1"
  std::vector<int> cores;  // the process may use these alone; all where empty
  std::string gpus;        // CUDA_VISIBLE_DEVICES, which stays as it is where this is empty
};

// "cores=0-3,8 gpu=0;cores=4-7 gpu=1": workers between semicolons. Throws Error, also on a core that this process may
// not use, and on any core where the system pins none.
std::vector<Worker> parse_workers(const std::string& text);

// Divides the cores that this process may use evenly into this many workers. A single worker has all cores and pins
// none; where the system cannot pin, every worker has all cores.
std::vector<Worker> even_workers(uint32_t count);

}  // namespace eggroll

#endif
