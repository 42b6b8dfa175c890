// A run's held-out evaluations: they are measured, put into the records of steps and noted in the run's record. A run
// with an average of its weights has two evaluations each time: of the weights and of the average.
#ifndef EGGROLL_TRAIN_HELD_OUT_H
#define EGGROLL_TRAIN_HELD_OUT_H

#include <cstdint>
#include <optional>
#include <vector>

#include "record/record.h"
#include "train/members.h"
#include "train/run_folder.h"
#include "train/step_record.h"
#include "train/updates.h"

namespace eggroll {

// Every function that a comment calls shared is called by all processes in the same order.
class HeldOutFigures {
 public:
  // All arguments must outlive this. record: newest, best, final and those of the average are noted there.
  HeldOutFigures(const Setup& setup, BackendSession& session, Members& members, Updates& updates,
                 const RunFolder& folder, RunRecord& record);

  // The curve's evaluations, which schedules follow: of the weights alone.
  const std::vector<egg_evaluation>& evaluations() const { return evaluations_; }
  void take_over(const std::vector<egg_evaluation>& evaluations) { evaluations_ = evaluations; }
  // Takes an evaluation that the journal knows, unless it is known already.
  void learn(const std::optional<egg_evaluation>& evaluation);
  // The newest evaluation, if it was made after exactly this many steps.
  std::optional<egg_evaluation> made_after(uint64_t step) const;
  // Evaluations since the one with the fewest bits.
  uint64_t since_best() const { return since_best_; }
  // Whether the evaluation after this step was made, and is the best so far.
  bool is_best(uint64_t step) const { return since_best_ == 0 && made_after(step).has_value(); }

  // Shared. Adds an evaluation of the curve after this step and, after the last step, the final figures. counts:
  // schedules follow it.
  void add_to_curve(StepRecord& step, bool is_last, bool counts = true);
  // Shared. Adds the final figures of a run that ends before its last step. The optimizer does not learn of them, so a
  // run that goes on later is the same as one that never stopped.
  void add_end(StepRecord& step);
  // Shared. Adds the final figures alone.
  void add_final(StepRecord& step) { add_final(step, std::nullopt); }

  // Keeps the step's evaluations in the run's record.
  void apply(const StepRecord& step);
  // Throws Error if the record of an earlier process's step differs from the exact values in checkpoint and journal.
  void require_agreement(const StepRecord& step) const;
  // The Error for a step whose line and checkpoint differ in `what`.
  Error disagreement(const char* what, uint64_t step) const;

 private:
  struct Measured {
    HeldOutSums weights;
    std::optional<HeldOutSums> average;
  };

  Measured measure(const HeldOutStreams& streams);
  Evaluation evaluation_of(const HeldOutSums& held_out, uint64_t step) const;
  void add_sample(StepRecord& step, const Measured& sample);
  void add_final(StepRecord& step, const std::optional<Measured>& sample);
  void apply_newest(const Evaluation& evaluation);

  const Setup& setup_;
  BackendSession& session_;
  Members& members_;
  Updates& updates_;
  RunFolder folder_;
  RunRecord& record_;
  std::vector<egg_evaluation> evaluations_;
  uint64_t since_best_ = 0;
};

}  // namespace eggroll

#endif
