#include "threadgroup.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/noise.h"

// Saves what a function must keep, and goes on with another stack.
extern "C" void egg_shim_switch(void** from, void* to);
#if defined(__x86_64__)
// It ends with a jump, because a processor predicts that a `ret` returns to the caller, and that is always wrong here.
asm(R"(
.text
.globl egg_shim_switch
.hidden egg_shim_switch
.type egg_shim_switch,@function
egg_shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rdx
  jmpq *%rdx
.size egg_shim_switch,.-egg_shim_switch
)");
constexpr size_t kSavedWords = 7;  // six registers, and where to go on
constexpr size_t kReturnWord = 6;
#elif defined(__aarch64__)
asm(R"(
.text
.globl egg_shim_switch
.hidden egg_shim_switch
.type egg_shim_switch,%function
egg_shim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size egg_shim_switch,.-egg_shim_switch
)");
constexpr size_t kSavedWords = 20;
constexpr size_t kReturnWord = 11;
#endif

namespace eggroll::shim {
namespace {

constexpr size_t kStack = size_t{64} << 10;
constexpr uint32_t kSimdgroups = kThreads / kLanes;

enum class State { kReady, kAtThreadgroup, kAtSimdgroup, kAtFunction, kDone };

struct Fiber {
  void* stack_pointer = nullptr;
  State state = State::kDone;
  Site site{};
  int64_t value = 0;  // the argument of a function over lanes, then its result
  Over function = Over::kSum;
  uint32_t lanes = 0;
};

std::mutex barriers_mutex;
std::set<std::string> barriers;
std::atomic<uint32_t> barriers_generation = 0;
std::string left_out;        // in the form of barrier_name
uint32_t left_out_line = 0;  // 0: none

std::string barrier_name(Site site) {
  const std::string file = site.file;
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(site.line);
}

bool is_left_out(Site site) {
  return left_out_line != 0 && site.line == left_out_line && barrier_name(site) == left_out;
}

bool same(Site a, Site b) {
  if (a.file == b.file) return a.line == b.line;
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

// The fibers of one of the host's threads; they are made once and then run one threadgroup after another.
class Scheduler {
 public:
  Scheduler() {
    stacks_ = static_cast<uint8_t*>(
        mmap(nullptr, kThreads * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (stacks_ == MAP_FAILED) throw std::bad_alloc();
    for (uint32_t i = 0; i < kThreads; ++i) prepare(i);
  }
  ~Scheduler() { munmap(stacks_, kThreads * kStack); }

  void run(const std::function<void(uint32_t, uint32_t)>& body, uint64_t seed, uint64_t rounds) {
    body_ = &body;
    for (Fiber& fiber : fibers_) fiber.state = State::kReady;
    waiting_ = done_ = 0;
    waiting_of_.fill(0);
    try {
      for (uint64_t round = 0; round < rounds; ++round) {
        if (run_round(egg_absorb(seed, round))) return;
      }
    } catch (...) {
      begin_anew();
      throw;
    }
    begin_anew();
  }

  // Makes the current fiber wait; returns when its companions are there.
  void wait(State state, Site site) {
    Fiber& fiber = fibers_[current_];
    fiber.state = state;
    fiber.site = site;
    ++(state == State::kAtThreadgroup ? waiting_ : waiting_of_[current_ / kLanes]);
    egg_shim_switch(&fiber.stack_pointer, own_stack_pointer_);
  }
  int64_t wait_for(Over function, uint32_t lanes, int64_t value, Site site) {
    Fiber& fiber = fibers_[current_];
    fiber.value = value;
    fiber.function = function;
    fiber.lanes = lanes;
    wait(State::kAtFunction, site);
    return fiber.value;
  }

  // Called from a signal's handler: the current fiber never goes on.
  [[noreturn]] void fault() {
    faulty_ = true;
    void* abandoned = nullptr;
    egg_shim_switch(&abandoned, own_stack_pointer_);
    _exit(1);
  }

 private:
  static void enter();

  // The fibers may have stopped anywhere.
  void begin_anew() {
    for (uint32_t i = 0; i < kThreads; ++i) prepare(i);
  }

  // A stack as if enter had been left by egg_shim_switch at its first instruction.
  void prepare(uint32_t i) {
    auto* top = reinterpret_cast<uintptr_t*>(stacks_ + (i + 1) * kStack) - 2;
    uintptr_t* saved = top - kSavedWords - kSavedWords % 2;
    std::fill(saved, top, 0);
    saved[kReturnWord] = reinterpret_cast<uintptr_t>(&enter);
    fibers_[i].stack_pointer = saved;
    fibers_[i].state = State::kDone;
  }

  // Lets every fiber that can go on do so, in a drawn order. True when all have ended.
  bool run_round(uint64_t random) {
    const auto first = static_cast<uint32_t>(random);
    const auto stride = static_cast<uint32_t>(random >> 32) | 1U;  // an odd number, so every fiber has its turn
    bool any = false;
    for (uint32_t i = 0; i < kThreads; ++i) {
      current_ = (first + i * stride) % kThreads;
      if (fibers_[current_].state != State::kReady) continue;
      any = true;
      current_thread = current_;
      egg_shim_switch(&own_stack_pointer_, fibers_[current_].stack_pointer);
      if (faulty_) {
        faulty_ = false;
        throw Error("thread " + std::to_string(current_) + " of a threadgroup touches memory beyond its buffers",
                    EGG_ERROR_DEVICE);
      }
    }
    if (done_ == kThreads) return true;
    for (uint32_t s = 0; s < kSimdgroups; ++s) {
      if (waiting_of_[s] != kLanes) continue;
      release_simdgroup(s);
      any = true;
    }
    if (waiting_ == kThreads) {
      require_same_site(0, kThreads);
      note_barrier(fibers_[0].site);
      counts.barriers.fetch_add(1, std::memory_order_relaxed);
      release(0, kThreads);
      waiting_ = 0;
      any = true;
    }
    if (!any) throw Error("threads of a threadgroup wait for others that wait elsewhere or have ended");
    return false;
  }

  void require_same_site(uint32_t first, uint32_t count) const {
    for (uint32_t i = first; i < first + count; ++i) {
      if (same(fibers_[i].site, fibers_[first].site)) continue;
      throw Error("threads that have to meet are at " + barrier_name(fibers_[first].site) + " and at " +
                  barrier_name(fibers_[i].site));
    }
  }
  void release(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) fibers_[i].state = State::kReady;
  }

  void release_simdgroup(uint32_t simdgroup) {
    const uint32_t first = simdgroup * kLanes;
    require_same_site(first, kLanes);
    if (fibers_[first].state == State::kAtSimdgroup) {
      note_barrier(fibers_[first].site);
    } else {
      for (uint32_t i = first; i < first + kLanes; i += fibers_[first].lanes) compute(i, fibers_[first].lanes);
    }
    release(first, kLanes);
    waiting_of_[simdgroup] = 0;
  }

  void compute(uint32_t first, uint32_t lanes) {
    int64_t result = fibers_[first].value;
    for (uint32_t i = first + 1; i < first + lanes; ++i) {
      result = fibers_[first].function == Over::kMax ? std::max(result, fibers_[i].value) : result + fibers_[i].value;
    }
    for (uint32_t i = first; i < first + lanes; ++i) fibers_[i].value = result;
  }

  void note_barrier(Site site) {
    if (std::exchange(generation_, barriers_generation.load()) != barriers_generation.load()) noted_.clear();
    if (!noted_.insert({site.file, site.line}).second) return;
    const std::lock_guard lock(barriers_mutex);
    barriers.insert(barrier_name(site));
  }

  const std::function<void(uint32_t, uint32_t)>* body_ = nullptr;
  std::array<Fiber, kThreads> fibers_;
  uint8_t* stacks_;
  void* own_stack_pointer_ = nullptr;
  uint32_t current_ = 0;
  std::set<std::pair<const char*, uint32_t>> noted_;  // barriers since the last take_barriers
  uint32_t generation_ = 0;
  uint32_t waiting_ = 0;  // fibers at the threadgroup's barrier
  uint32_t done_ = 0;
  std::array<uint32_t, kSimdgroups> waiting_of_{};  // fibers of each simdgroup at one of its functions
  bool faulty_ = false;
};

constinit thread_local Scheduler* scheduler = nullptr;  // while it runs a threadgroup

void Scheduler::enter() {
  for (;;) {
    Scheduler& own = *scheduler;
    const uint32_t number = own.current_;
    (*own.body_)(number / kLanes, number % kLanes);
    own.fibers_[number].state = State::kDone;
    ++own.done_;
    egg_shim_switch(&own.fibers_[number].stack_pointer, own.own_stack_pointer_);
  }
}

void on_fault(int signal) {
  if (scheduler != nullptr) scheduler->fault();
  std::signal(signal, SIG_DFL);
}

// Guarded memory that is free again, by size, for the next caller, because mapping it anew takes longer than most
// kernels.
constexpr size_t kMostKept = size_t{256} << 10;
constexpr size_t kMostKeptOfASize = 64;
std::mutex kept_mutex;
std::map<size_t, std::vector<uint8_t*>> kept;

uint8_t* take_kept(size_t mapped_bytes) {
  const std::lock_guard lock(kept_mutex);
  std::vector<uint8_t*>& same = kept[mapped_bytes];
  if (same.empty()) return nullptr;
  uint8_t* mapped = same.back();
  same.pop_back();
  return mapped;
}
bool keep(uint8_t* mapped, size_t mapped_bytes) {
  const std::lock_guard lock(kept_mutex);
  std::vector<uint8_t*>& same = kept[mapped_bytes];
  if (mapped_bytes > kMostKept || same.size() >= kMostKeptOfASize) return false;
  same.push_back(mapped);
  return true;
}

// Installs the handler once. The handler leaves for another stack, so the signal must not stay blocked.
void catch_faults() {
  struct sigaction action {};
  action.sa_handler = &on_fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

Counts counts;
constinit thread_local uint32_t current_thread = 0;

void wait_for_threadgroup(Site site) {
  if (!is_left_out(site)) scheduler->wait(State::kAtThreadgroup, site);
}
void wait_for_simdgroup(Site site) {
  if (!is_left_out(site)) scheduler->wait(State::kAtSimdgroup, site);
}
int64_t over_lanes(Over function, uint32_t lanes, int64_t x, Site site) {
  return scheduler->wait_for(function, lanes, x, site);
}

void run_threadgroup(const std::function<void(uint32_t, uint32_t)>& body, uint64_t seed, uint64_t rounds) {
  static std::once_flag once;
  std::call_once(once, catch_faults);
  thread_local const std::unique_ptr<Scheduler> own = std::make_unique<Scheduler>();
  scheduler = own.get();
  try {
    own->run(body, seed, rounds);
  } catch (...) {
    scheduler = nullptr;
    throw;
  }
  scheduler = nullptr;
}

std::set<std::string> take_barriers() {
  const std::lock_guard lock(barriers_mutex);
  ++barriers_generation;
  return std::exchange(barriers, {});
}

void leave_out_barrier(const std::string& barrier) {
  left_out = barrier;
  left_out_line = barrier.empty() ? 0 : static_cast<uint32_t>(std::stoul(barrier.substr(barrier.rfind(':') + 1)));
}

GuardedMemory::GuardedMemory(size_t bytes) : bytes_(bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t used = (bytes + 15) / 16 * 16;
  const size_t pages = (used + page - 1) / page * page;
  mapped_bytes_ = pages + 2 * page;
  mapped_ = take_kept(mapped_bytes_);
  if (mapped_ != nullptr) {
    std::memset(mapped_ + page, 0, pages);
    begin_ = mapped_ + page + pages - used;
    return;
  }
  void* mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<uint8_t*>(mapped);
  if (pages > 0 && mprotect(mapped_ + page, pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  begin_ = mapped_ + page + pages - used;
}

GuardedMemory::~GuardedMemory() {
  if (!keep(mapped_, mapped_bytes_)) munmap(mapped_, mapped_bytes_);
}

}  // namespace eggroll::shim
