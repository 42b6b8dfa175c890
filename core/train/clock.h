// How long things take.
#ifndef EGGROLL_TRAIN_CLOCK_H
#define EGGROLL_TRAIN_CLOCK_H

#include <chrono>

namespace eggroll {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace eggroll

#endif
