// Threadgroups on a processor. The threads of a threadgroup are fibers of one of the host's threads, and change where
// they wait for each other. The order in which they run is drawn anew each time, so that a missing barrier shows in the
// result.
#ifndef EGGROLL_TESTS_METAL_THREADGROUP_H
#define EGGROLL_TESTS_METAL_THREADGROUP_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace eggroll::shim {

constexpr uint32_t kThreads = 256;  // in a threadgroup
constexpr uint32_t kLanes = 32;     // in a simdgroup

// A place in the kernels' sources.
struct Site {
  const char* file;
  uint32_t line;
};

// ---- What a thread of a threadgroup calls ----
extern constinit thread_local uint32_t current_thread;  // of the threadgroup
inline uint32_t lane() { return current_thread % kLanes; }
void wait_for_threadgroup(Site site);
void wait_for_simdgroup(Site site);
// Combines x over each group of `lanes` neighbouring lanes of the simdgroup. All of them have to call it.
enum class Over { kSum, kMax };
int64_t over_lanes(Over function, uint32_t lanes, int64_t x, Site site);

// ---- What runs them ----

constexpr uint64_t kAllRounds = UINT64_MAX;

// Calls body(simdgroup, lane) on each thread. seed: chooses their order. rounds: after this number of them the
// threads are stopped where they are; in a round every thread goes on to where it next waits. Throws Error if threads
// wait for each other at different places or touch memory that is not theirs.
void run_threadgroup(const std::function<void(uint32_t simdgroup, uint32_t lane)>& body, uint64_t seed,
                     uint64_t rounds = kAllRounds);

// What kernels have done since the program began, in all threadgroups.
struct Counts {
  std::atomic<uint64_t> barriers;         // that all threads of a threadgroup met at
  std::atomic<uint64_t> matrix_loads;     // of cells, a simdgroup each
  std::atomic<uint64_t> matrix_products;  // of two cells, 512 multiply-adds each
};
extern Counts counts;

// "file:line" of each barrier that threads have waited at since the last call.
std::set<std::string> take_barriers();
// From now on this barrier does not make its threads wait; empty: all barriers do.
void leave_out_barrier(const std::string& barrier);

// `bytes` zeros, at most 15 more, and then memory whose access is a fault.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();
  uint8_t* begin() const { return begin_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* mapped_;
  size_t mapped_bytes_;
  uint8_t* begin_;
  size_t bytes_;
};

}  // namespace eggroll::shim

#endif
