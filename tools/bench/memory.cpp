#include "bench/memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace eggroll::bench {
namespace {

// "VmHWM:      123456 kB" of /proc/self/status.
double status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0.0;
    if (word == key && status >> kib) return kib / 1024.0;
  }
  return 0.0;
}

}  // namespace

void reset_memory_high_water() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double memory_resident() { return status_mib("VmRSS:"); }
double memory_high_water() { return status_mib("VmHWM:"); }

}  // namespace eggroll::bench
