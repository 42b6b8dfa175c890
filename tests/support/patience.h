// How long tests wait for what has to come: far longer than it takes on a machine that does ten other things at once.
#ifndef EGGROLL_TESTS_SUPPORT_PATIENCE_H
#define EGGROLL_TESTS_SUPPORT_PATIENCE_H

#include <chrono>
#include <functional>
#include <thread>

namespace eggroll::test {

inline constexpr std::chrono::minutes kPatience{10};

// Waits until the condition holds; returns whether it does.
inline bool wait_patiently(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace eggroll::test

#endif
