// Signals to a command that runs points, counted as SweepHooks::stops says.
#ifndef EGGROLL_TOOLS_CLI_STOPS_H
#define EGGROLL_TOOLS_CLI_STOPS_H

#include <atomic>
#include <csignal>

namespace eggroll {

inline std::atomic<int> stops{0};
inline std::atomic<int> stop_signal{0};  // the last one's number

// SIGINT and SIGTERM count one each; where the first is to save at once, any number of them counts two.
inline void catch_stops(bool saves_at_once) {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    stop_signal.store(number);
    stops.fetch_add(1);
  };
  if (saves_at_once) {
    action.sa_handler = [](int number) {
      stop_signal.store(number);
      stops.store(2);
    };
  }
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace eggroll

#endif
