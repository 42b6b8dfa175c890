// Signals that ask a command to save and end.
#ifndef EGGROLL_TOOLS_CLI_STOPS_H
#define EGGROLL_TOOLS_CLI_STOPS_H

#include <atomic>
#include <csignal>

namespace eggroll {

inline std::atomic<int> stops{0};        // counts stops of a command that runs points, as SweepHooks::stops says
inline std::atomic<int> stop_signal{0};  // the number of the last signal

// SIGHUP means that the terminal has closed. It stays ignored if it was ignored when the program began, as under nohup.
inline bool heeds_hangup() {
  struct sigaction action {};
  sigaction(SIGHUP, nullptr, &action);
  return action.sa_handler != SIG_IGN;
}

inline void catch_hangup(void (*handler)(int)) {
  if (!heeds_hangup()) return;
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGHUP, &action, nullptr);
}

// For a signal after which points are saved at once, however often it comes.
inline void stop_at_once(int number) {
  stop_signal.store(number);
  if (stops.load() < 2) stops.store(2);
}

// SIGINT and SIGTERM count one each; with saves_at_once, any number of them counts two.
inline void catch_stops(bool saves_at_once) {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    stop_signal.store(number);
    stops.fetch_add(1);
  };
  if (saves_at_once) action.sa_handler = stop_at_once;
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace eggroll

#endif
