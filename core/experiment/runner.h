// Runs the points of a sweep, each as a process of its own, as many at once as there are slots.
#ifndef EGGROLL_EXPERIMENT_RUNNER_H
#define EGGROLL_EXPERIMENT_RUNNER_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/outcome.h"
#include "experiment/slots.h"
#include "experiment/sweep.h"

namespace eggroll {

struct SweepOptions {
  std::vector<Slot> slots;
  std::filesystem::path plugins;  // frozen
  bool retry_failed = false;      // points that failed before go on from their last checkpoint
  uint32_t breaker = 0;           // so many failures in a row end the sweep; 0: never
};

struct RunningPoint {
  const SweepPoint* point;
  const Slot* slot;
  double seconds;
  LastMetrics last;
};

struct SweepStatus {
  size_t total = 0;
  size_t done = 0;
  size_t failed = 0;
  size_t waiting = 0;  // of them `elsewhere` are another runner's
  size_t elsewhere = 0;
  std::vector<RunningPoint> running;
  const SweepPoint* best = nullptr;  // of the points that are done, by held-out bits
  double best_bits = 0.0;
  std::optional<double> seconds_left;  // at the pace of this launch
  std::string ended_because;           // no point begins any more: a budget, the breaker, a signal; else ""
};

struct SweepHooks {
  std::function<void(const RunningPoint&)> started;
  // status: done, failed or waiting again (interrupted).
  std::function<void(const SweepPoint&, const RunRecord*)> ended;
  std::function<void(const SweepStatus&)> tick;
  // Signals so far: at one no point begins any more, at two those that run are saved, at three they are killed.
  const std::atomic<int>* stops = nullptr;
};

struct SweepResult {
  SweepStatus status;
  std::vector<const SweepPoint*> failed;
};

// The sweep must be written (write_sweep). Points that are done are left as they are, to the byte.
SweepResult run_sweep(const Sweep& sweep, const SweepOptions& options, const SweepHooks& hooks);

}  // namespace eggroll

#endif
