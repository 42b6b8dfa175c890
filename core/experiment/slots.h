// Where points run: each slot runs one at a time.
#ifndef EGGROLL_EXPERIMENT_SLOTS_H
#define EGGROLL_EXPERIMENT_SLOTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace eggroll {

struct Slot {
  std::string name;        // "cores 0-3", "gpu 1", "job 1"
  std::vector<int> cores;  // that the process may use; all where empty
  std::string gpus;        // CUDA_VISIBLE_DEVICES; as it is where empty
};

// "cores=0-3,8 gpu=0;cores=4-7 gpu=1": slots between semicolons. Throws Error, also on a core that this process may not
// use, and on any core where the system pins none.
std::vector<Slot> parse_slots(const std::string& text);

// Divides the cores that this process may use evenly into this many slots. A single slot has all cores and pins none;
// where the system cannot pin, every slot has all cores.
std::vector<Slot> even_slots(uint32_t count);

}  // namespace eggroll

#endif
