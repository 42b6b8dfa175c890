// The step loop: data, losses, fitness, votes, records. Whole, interrupted or resumed, a configuration leads to the
// same weights.
#ifndef EGGROLL_TRAIN_TRAINER_H
#define EGGROLL_TRAIN_TRAINER_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "processes/processes.h"
#include "record/record.h"
#include "train/clock.h"
#include "train/new_record.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_record.h"

namespace eggroll {

// What is known after a step.
struct Progress {
  const StepRecord& done;
  uint64_t steps;                      // of the whole run
  std::optional<Evaluation> held_out;  // the newest of the curve
  std::optional<Evaluation> average;   // the same of the average of the weights, where the run has one
  double member_tokens_per_second;     // this process
  double seconds_left;
  std::string unit;
};

struct TrainHooks {
  // What the session will be, before it takes memory.
  std::function<void(const SessionPlan&)> planned;
  std::function<void(const Progress&)> progress;
  // What went wrong without harm to the run: no picture could be drawn, say.
  std::function<void(const std::string&)> warn;
  // Set from a signal handler: the step is finished, the run saved and marked interrupted.
  const std::atomic<bool>* stop = nullptr;
};

// Runs or goes on with the run in the folder, which must exist and be locked by the caller. A folder with checkpoints
// is resumed from the newest. Writes the record at the start, at each checkpoint and at the end; where a step fails,
// the record says failed and the Error is thrown on. Called by all processes that share the run: they read the folder,
// process 0 alone writes it and learns of the run through the hooks; every process returns the record. began: when the
// work on the run began, from which its wall_seconds are counted.
RunRecord train(const Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
                const TrainHooks& hooks, Processes& processes, Clock::time_point began = Clock::now());

}  // namespace eggroll

#endif
