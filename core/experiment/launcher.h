// Runs the points of a sweep. The section `launcher` of a configuration chooses one of these.
//
// To add one: a class with the two functions below, its options as configs/launcher/NAME.yaml with every key, and a
// line in open_launcher(). Points are held by PointHold, judged by standing_of() and counted by a Tally, whoever
// runs them; a process on another machine runs one with `eggroll point` (submission.h), within the sweep's limits.
#ifndef EGGROLL_EXPERIMENT_LAUNCHER_H
#define EGGROLL_EXPERIMENT_LAUNCHER_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/outcome.h"
#include "experiment/sweep.h"

namespace eggroll {

struct LaunchOptions {
  std::filesystem::path plugins;  // frozen
  bool retry_failed = false;      // points that failed before go on from their last checkpoint
  uint32_t breaker = 0;           // this number of failures in a row ends the sweep; 0: never
  uint32_t failures_before = 0;   // in a row, at the end of the round before
  bool waits = false;             // for points that other runners have; takes them over where one dies
};

struct RunningPoint {
  const SweepPoint* point;
  std::string where;
  double seconds;
  LastMetrics last;
};

struct SweepStatus {
  size_t total = 0;
  size_t done = 0;
  size_t failed = 0;
  size_t waiting = 0;    // includes `elsewhere`
  size_t elsewhere = 0;  // waiting points that another runner has
  std::vector<RunningPoint> running;
  const SweepPoint* best = nullptr;  // of the points that are done, by held-out bits
  double best_bits = 0.0;
  std::optional<double> seconds_left;  // at the pace of this launch
  uint32_t failures_in_a_row = 0;
  std::string ended_because;  // why no more points begin: a budget, the breaker, a signal; else ""
};

struct SweepHooks {
  std::function<void(const RunningPoint&)> started;
  // status: done, failed or waiting again (interrupted).
  std::function<void(const SweepPoint&, const RunRecord*)> ended;
  std::function<void(const SweepStatus&)> tick;
  std::function<void(const std::string&)> said;  // a line about the launch itself
  // Signals so far: after one no more points begin, after two the running ones are saved, after three they are killed.
  const std::atomic<int>* stops = nullptr;
};

struct SweepResult {
  SweepStatus status;
  std::vector<const SweepPoint*> failed;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Whether points run on this machine. If so, it must have their backends and their memory.
  virtual bool runs_here() const = 0;
  // Runs what is left, and returns when nothing of this launch runs any more; after the third signal it returns at
  // once. The sweep must be written (write_sweep). Points that are done stay as they are, to the byte. Throws Error if
  // nothing can be launched.
  virtual SweepResult run(const Sweep& sweep, const LaunchOptions& options, const SweepHooks& hooks) = 0;
};

// Where points run on this machine, as the command line says it.
struct LocalWorkers {
  std::optional<uint32_t> jobs;  // even workers; one where it is absent
  std::string workers;           // see workers.h
};

// section: `launcher`, whose `name` is local or slurm. Throws Error with file and line, also if some workers are given
// to a launcher that has no use for them.
std::unique_ptr<Launcher> open_launcher(const ConfigNode& section, const LocalWorkers& workers);

// Points and runs do not depend on who launches them, so their configurations and overrides leave the launcher out.
bool is_of_launcher(const std::string& override_text);
void erase_launcher(ConfigNode& config);

}  // namespace eggroll

#endif
