// The step loop: data, losses, fitness, votes, records. A configuration leads to the same weights, whether the run is
// interrupted and resumed or not. train/step_pipeline.h says what overlaps in a step.
#ifndef EGGROLL_TRAIN_TRAINER_H
#define EGGROLL_TRAIN_TRAINER_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "monitor/monitor.h"
#include "processes/processes.h"
#include "record/record.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/held_out.h"
#include "train/members.h"
#include "train/new_record.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_pipeline.h"
#include "train/step_record.h"
#include "train/text_measurement.h"
#include "train/updates.h"

namespace eggroll {

// The state of a run after a step.
struct Progress {
  const StepRecord& done;
  uint64_t steps;                      // of the whole run
  std::optional<Evaluation> held_out;  // the newest of the curve
  std::optional<Evaluation> average;   // the same evaluation of the average of the weights, if the run has one
  double member_tokens_per_second;     // of this process
  double seconds_left;
  std::string unit;
};

struct TrainHooks {
  // Called with the session's plan before the session takes memory.
  std::function<void(const SessionPlan&)> planned;
  std::function<void(const Progress&)> progress;
  // Called on process 0 alone for what went wrong without harm to the run: no picture could be drawn, say.
  std::function<void(const std::string&)> warn;
  // A signal handler sets it: the step is finished, the run saved and marked as interrupted.
  const std::atomic<bool>* stop = nullptr;
};

// Runs or goes on with the run in the folder, which must exist and which the caller must have locked. All processes
// that share the run call it: they read the folder, but only process 0 writes it.
class TrainingLoop {
 public:
  // Opens the session; reads nothing of the run's folder. The arguments must outlive the TrainingLoop. began: when the
  // work on the run began, from which its wall_seconds are counted.
  TrainingLoop(const Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
               const TrainHooks& hooks, Processes& processes, Clock::time_point began = Clock::now());

  // Resumes a folder with checkpoints from the newest one. Writes the record at the start, at each checkpoint and at
  // the end; if a step fails, the record says failed and the Error is rethrown. Every process returns the record.
  RunRecord run();

 private:
  // Brings the process to its first step: train/resume.cpp. Goes on from the newest checkpoint and the steps that the
  // journal knows beyond it, or begins. Throws Error if the folder's files are damaged or another run's, or if
  // processes see different files.
  void resume();
  void restore(const std::filesystem::path& folder);
  void begin_from_checkpoint();
  void catch_up();
  void open_monitor();
  void open_files();
  void apply_metrics();

  // The steps: train/trainer.cpp.
  void loop();
  const Scores& score();
  void one_step();
  StepNumbers numbers_of(const Scores& scores, const Update& made, uint64_t voted) const;
  StepRecord begin_step_record() const;
  void put(StepRecord step);
  void apply(const StepRecord& step);
  std::string ask_hook_of(StepRecord& step);
  void make_up_for_hook();
  void report(uint64_t steps, double seconds) const;

  bool keeps_best() const { return setup_.checkpoint.best.value_or(setup_.stop.patience.has_value()); }
  bool signalled() const { return hooks_.stop != nullptr && hooks_.stop->load(); }
  // All processes stop after the same step: the one in which they learn that one of them was signalled.
  bool stopped() const { return processes_.alone() ? signalled() : one_was_signalled_; }
  std::optional<std::string> stop_reason();
  bool ends_on_best();
  void end_on_best();

  void save();
  void finish();
  void fail();
  void draw_curve();
  void write_samples();
  void put_record();
  void warn(const std::string& text) const;
  double seconds() const { return seconds_before_ + seconds_since(began_); }

  const Setup& setup_;
  const Learner& learner_;
  RunFolder folder_;
  const TrainHooks& hooks_;
  Processes& processes_;
  Clock::time_point began_;
  RunIdentity identity_;
  MemberShare own_;
  SessionPlan session_plan_;  // made before the session, which takes the memory that the plan finds free
  BackendSession session_;
  StepPipeline pipeline_;
  Members members_;
  Updates updates_;
  RunRecord record_;
  HeldOutFigures held_out_;
  std::optional<Monitor> monitor_;       // of process 0
  std::optional<TextMeasurement> text_;  // of process 0
  uint64_t step_ = 0;                    // steps done
  bool fresh_ = false;                   // the folder had no checkpoint
  StepRecord newest_;                    // the newest step; empty before the first
  double seconds_before_ = 0.0;          // seconds that earlier processes of the run took
  double seconds_ = 0.0;                 // seconds of the run, equal on all processes
  bool one_was_signalled_ = false;
  bool out_of_patience_ = false;
};

}  // namespace eggroll

#endif
