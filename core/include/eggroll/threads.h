// How the host and its backends run loops in parallel. Code that includes this must link oneTBB.
#ifndef EGGROLL_THREADS_H
#define EGGROLL_THREADS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if !defined(__SANITIZE_THREAD__)

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <string>

#include "eggroll/alternate_stack.h"
#include "eggroll/error.h"
#include "eggroll/threads_given.h"

namespace eggroll {

// Throws Error if the system does not give that many threads. oneTBB would start them later, on a thread of its own,
// where a failure ends the process without a message. count: includes the thread that asks.
inline void require_threads(uint32_t count) {
  const ThreadsGiven threads = threads_given(count);
  if (threads.refusal.empty()) return;
  const std::string given = std::to_string(threads.count);
  throw Error("backend.threads asks for " + std::to_string(count) + " threads and the system gives " + given + " (" +
              threads.refusal + "); set backend.threads=" + given +
              " or less, or raise the limits (ulimit -u, ulimit -v)");
}

class Threads {
 public:
  // 0: as many threads as the machine has.
  static uint32_t number(int count) {
    return static_cast<uint32_t>(count > 0 ? count : tbb::this_task_arena::max_concurrency());
  }

  explicit Threads(int count)
      : limit_(tbb::global_control::max_allowed_parallelism,
               static_cast<size_t>(std::max(count, tbb::this_task_arena::max_concurrency()))),
        arena_(count > 0 ? count : tbb::task_arena::automatic) {
    require_threads(number(count));
  }

  // body(begin, end) over disjoint pieces of [0, count); no result may depend on where the cuts fall. A loop of
  // `fewest` or less stays on the caller's thread.
  template <class Body>
  void split(size_t count, size_t fewest, const Body& body) {
    if (count == 0) return;
    if (count <= fewest) return body(size_t{0}, count);
    // Isolated: while the caller's thread waits for the last pieces, it takes no pieces of another thread's loop.
    arena_.execute([&] {
      tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(tbb::blocked_range<size_t>(0, count, fewest), [&](const tbb::blocked_range<size_t>& range) {
          give_alternate_stack();  // a crash on any of the threads can then be reported
          body(range.begin(), range.end());
        });
      });
    });
  }

  template <class Body>
  void split(size_t count, const Body& body) {
    split(count, 1, body);
  }

 private:
  tbb::global_control limit_;  // oneTBB warns where an arena wants more threads than the machine has
  tbb::task_arena arena_;
};

}  // namespace eggroll

#else

#include <thread>
#include <vector>

namespace eggroll {

// Under ThreadSanitizer plain threads do the pieces. It cannot see the synchronisation inside the distribution's
// oneTBB, which is not instrumented, and would report races that do not exist.
class Threads {
 public:
  static uint32_t number(int count) {
    return count > 0 ? static_cast<uint32_t>(count) : std::max(1U, std::thread::hardware_concurrency());
  }

  explicit Threads(int count) : count_(number(count)) {}

  template <class Body>
  void split(size_t count, size_t fewest, const Body& body) {
    if (count == 0) return;
    if (count <= fewest) return body(size_t{0}, count);
    const size_t piece = std::max(fewest, (count + count_ - 1) / count_);
    std::vector<std::thread> threads;
    for (size_t begin = 0; begin < count; begin += piece) {
      threads.emplace_back([&body, begin, end = std::min(count, begin + piece)] { body(begin, end); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  template <class Body>
  void split(size_t count, const Body& body) {
    split(count, 1, body);
  }

 private:
  size_t count_;
};

}  // namespace eggroll

#endif

namespace eggroll {

// Shorter loops, at about a nanosecond for each element, take less time than it takes to wake another thread.
constexpr size_t kFewestElements = size_t{1} << 17;

// The limit for a loop that a device waits for: a quarter of its elements, but from 32,768 to 131,072.
inline size_t fewest_of_urgent(size_t count) { return std::clamp(count / 4, kFewestElements / 4, kFewestElements); }

// Splits a loop over these threads or, if there are none, runs it on the caller's thread.
template <class Body>
void split(Threads* threads, size_t count, size_t fewest, const Body& body) {
  if (threads != nullptr) {
    threads->split(count, fewest, body);
  } else {
    body(size_t{0}, count);
  }
}

// std::copy_n, for which a device may wait, and std::fill_n, on these threads or the caller's.
template <class T>
void copy_elements(Threads* threads, const T* from, size_t count, T* to) {
  split(threads, count, fewest_of_urgent(count),
        [&](size_t begin, size_t end) { std::copy(from + begin, from + end, to + begin); });
}
template <class T>
void fill_elements(Threads* threads, T* to, size_t count, T value) {
  split(threads, count, kFewestElements, [&](size_t begin, size_t end) { std::fill(to + begin, to + end, value); });
}

}  // namespace eggroll

#endif
