// A run's steps on one process, one after the other: data, losses, fitness, votes, records. train/step_pipeline.h says
// what overlaps with them.
#ifndef EGGROLL_TRAIN_TRAINING_LOOP_H
#define EGGROLL_TRAIN_TRAINING_LOOP_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/monitor.h"
#include "processes/processes.h"
#include "record/record.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/held_out.h"
#include "train/members.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_pipeline.h"
#include "train/step_record.h"
#include "train/text_measurement.h"
#include "train/trainer.h"
#include "train/updates.h"

namespace eggroll {

// Every function that a comment calls shared is called by all processes in the same order.
class TrainingLoop {
 public:
  // Opens the session; nothing of the run's folder is read. What it is given outlives it. began: when the work on the
  // run began.
  TrainingLoop(const Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
               const TrainHooks& hooks, Processes& processes, Clock::time_point began);

  // Shared.
  RunRecord run();

 private:
  // How a process gets to its first step: train/resume.cpp. Shared. Goes on from the newest checkpoint and what the
  // journal knows beyond it, or begins. Throws Error where the folder's files are damaged or another run's, or where
  // processes see different ones.
  void resume();
  void restore(const std::filesystem::path& folder);
  void begin_from_checkpoint();
  void catch_up();
  void carry_over_record();
  void open_monitor();
  void open_files();
  void apply_metrics();

  // The steps: train/trainer.cpp.
  void loop();
  const Scores& score();
  void one_step();
  StepFigures figures_of(const Scores& scores, const Update& made, uint64_t voted) const;
  std::optional<double> cost_of_noise(const StepRecord& step) const;
  void measure_first();
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
  SessionPlan session_plan_;  // before the session, which takes the memory that the plan finds free
  BackendSession session_;
  StepPipeline pipeline_;
  Members members_;
  Updates updates_;
  RunRecord record_;
  HeldOutFigures held_out_;
  std::optional<Monitor> monitor_;       // of process 0
  std::optional<TextMeasurement> text_;  // of process 0
  uint64_t step_ = 0;                    // steps done
  bool fresh_ = false;                   // there was no checkpoint
  StepRecord newest_;                    // empty before the first
  double seconds_before_ = 0.0;          // that earlier processes of the run took
  double seconds_ = 0.0;                 // of the run, as all processes know it
  bool one_was_signalled_ = false;
  bool out_of_patience_ = false;
};

}  // namespace eggroll

#endif
