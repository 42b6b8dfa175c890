// A thread that waits for work which is too short to start a thread for.
#ifndef EGGROLL_SIDE_THREAD_H
#define EGGROLL_SIDE_THREAD_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace eggroll {

// Does one piece of work at a time.
class SideThread {
 public:
  // awake: how long the thread looks for the next work before it sleeps, and how long wait() looks for the end of work.
  // Waking a thread takes about 50 microseconds. Throws std::system_error if the system gives no thread.
  explicit SideThread(std::chrono::microseconds awake) : awake_(awake), thread_([this] { run(); }) {}
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  ~SideThread() {
    await(State::kDone);
    start({});
    thread_.join();
  }

  // The caller must call wait() before the next start(). What the work refers to must stay valid until wait() returns.
  void start(std::function<void()> work) {
    work_ = std::move(work);
    set(State::kStarted);
  }
  // Rethrows what the work has thrown.
  void wait() {
    await(State::kDone);
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  enum class State : uint8_t { kDone, kStarted };

  void run() {
    for (;;) {
      await(State::kStarted);
      if (!work_) return;
      try {
        work_();
      } catch (...) {
        failure_ = std::current_exception();
      }
      set(State::kDone);
    }
  }

  void set(State state) {
    state_.store(state);
    state_.notify_one();
  }
  void await(State state) {
    const auto end = std::chrono::steady_clock::now() + awake_;
    while (state_.load() != state) {
      if (std::chrono::steady_clock::now() > end) state_.wait(state == State::kDone ? State::kStarted : State::kDone);
    }
  }

  std::chrono::microseconds awake_;
  std::atomic<State> state_ = State::kDone;
  std::function<void()> work_;  // empty: the thread ends
  std::exception_ptr failure_;
  std::thread thread_;  // the last member: it reads the others
};

}  // namespace eggroll

#endif
