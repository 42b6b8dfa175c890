// Finds out how many threads the system gives.
#ifndef EGGROLL_THREADS_GIVEN_H
#define EGGROLL_THREADS_GIVEN_H

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace eggroll {

struct ThreadsGiven {
  uint32_t count;       // includes the thread that asks
  std::string refusal;  // the system's words if it gives fewer threads
};

// Starts the threads and ends them again, to try: if code such as oneTBB cannot get a thread later, it may end the
// process. count: includes the thread that asks.
inline ThreadsGiven threads_given(uint32_t count) {
  // Linux counts a thread against the limit until it is gone from here.
  const auto alive = [] {
    std::error_code none;
    const std::filesystem::directory_iterator tasks("/proc/self/task", none);
    return std::distance(tasks, std::filesystem::directory_iterator());
  };
  const auto before = alive();
  std::promise<void> done;
  const std::shared_future<void> end = done.get_future().share();
  std::vector<std::thread> threads;
  std::string refusal;
  try {
    while (threads.size() + 1 < count) threads.emplace_back([end] { end.wait(); });
  } catch (const std::system_error& error) {
    refusal = error.code().message();
  }
  done.set_value();
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 1000 && alive() > before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return {static_cast<uint32_t>(threads.size()) + 1, refusal};
}

}  // namespace eggroll

#endif
