// The parts that the two campaigns of damage share: their length, random numbers, and work on all processors.
#ifndef EGGROLL_TESTS_DAMAGE_CAMPAIGN_H
#define EGGROLL_TESTS_DAMAGE_CAMPAIGN_H

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "eggroll/error.h"

namespace eggroll::test {

// Reads the environment; a text that is no number ends the test, so that no short campaign passes for a long one.
inline uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, value);
  if (failure != std::errc() || stop != end) throw Error(std::string(name) + " is '" + text + "', expected a number");
  return value;
}

// The random numbers of one trial. They do not depend on what another trial has drawn.
class TrialDraws {
 public:
  TrialDraws(uint64_t seed, uint64_t trial) : random_(seed * 1'000'003 + trial) {}
  uint64_t below(uint64_t limit) { return random_() % limit; }
  double share() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

// Calls body(i) for every i below count, on as many threads as there are processors.
template <class Body>
void for_each_trial(uint64_t count, const Body& body) {
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (uint64_t trial; (trial = next++) < count;) body(trial);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace eggroll::test

#endif
