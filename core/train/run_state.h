// What a run holds from one step to the next, and how it gets to the first step of a process. The steps themselves are
// in train/trainer.cpp.
#ifndef EGGROLL_TRAIN_RUN_STATE_H
#define EGGROLL_TRAIN_RUN_STATE_H

#include <cstdint>
#include <optional>
#include <string>

#include "monitor/monitor.h"
#include "processes/processes.h"
#include "record/metrics.h"
#include "record/record.h"
#include "train/checkpoint.h"
#include "train/held_out.h"
#include "train/journal.h"
#include "train/members.h"
#include "train/new_record.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_record.h"
#include "train/trainer.h"
#include "train/updates.h"

namespace eggroll {

// What one process carries from step to step. What it refers to outlives it.
struct RunState {
  // Opens the session; nothing of the run's folder is read.
  RunState(Setup& run_setup, const ConfigNode& config, const RunFolder& run_folder, const Invocation& invocation,
           const TrainHooks& run_hooks, Processes& run_processes);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  // The step that the run begins at.
  uint64_t origin() const { return setup.begin ? setup.begin->step : 0; }
  // Process 0 alone warns.
  void warn(const std::string& text) const;
  // Keeps what the run's record says of its newest step.
  void note(const StepRecord& step);

  Setup& setup;
  Learner& learner;
  RunFolder folder;
  const TrainHooks& hooks;
  Processes& processes;
  RunIdentity identity;
  MemberShare own;
  SessionPlan session_plan;  // before the session, which takes the memory that the plan finds free
  BackendSession session;
  Members members;
  Updates updates;
  RunRecord record;
  HeldOutFigures held_out;
  // Process 0 alone has these, as it alone has the run's files.
  std::optional<Monitor> monitor;
  std::optional<JournalWriter> journal;
  std::optional<MetricsFile> metrics;
  uint64_t step = 0;            // steps done
  bool fresh = false;           // there was no checkpoint
  StepRecord newest;            // empty before the first
  double seconds_before = 0.0;  // that earlier processes of the run took
};

// Called by all processes. Goes on from the newest checkpoint and what the journal knows beyond it, or begins. Throws
// Error where the folder's files are damaged or another run's, or where processes see different ones.
void resume(RunState& run);

}  // namespace eggroll

#endif
