// Says what overlaps in a step. The loop of a run (train/trainer.h) does one step after the other, and one more thread,
// the side thread, works at the same time. In the order of a step s:
//
// 1. call(s) gives the batch of s, which the side thread has made, and tells the backend of the batch of s + 1, if that
//    is there: a GPU may take it and draw its noise while the members of s are evaluated. It is a hint.
// 2. The members are evaluated while the side thread makes batches up to s + 2. end_filling() waits for it.
// 3. begin_update(s) gives the side thread four things, in this order: the line of step s - 1, if put_line() holds
//    it back; the fitness of s for the journal; the memory for the losses of s + 1; batches up to s + 3.
// 4. The loop updates the weights. end_update() then waits for the first three, not for the batches. So the journal has
//    a step's fitness before the next step is evaluated.
//
// Small steps do not wake the side thread for lines and the journal, and if the system gives the process no thread
// for it, the loop does its work, in the same order. None of this changes a result. docs/architecture.md has a picture.
#ifndef EGGROLL_TRAIN_STEP_PIPELINE_H
#define EGGROLL_TRAIN_STEP_PIPELINE_H

#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "eggroll/side_thread.h"
#include "eggroll/threads.h"
#include "record/metrics.h"
#include "train/journal.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_record.h"
#include "train/voted_weights.h"

namespace eggroll {

class StepPipeline {
 public:
  // Both arguments must outlive this. own: the members of this process.
  StepPipeline(const Setup& setup, BackendSession& session, const MemberShare& own);

  // The threads for the host's own loops during a step's calls.
  Threads& threads() { return threads_; }

  // The call that evaluates own members, from the first of their first stream on; also what the next step will be
  // given, if that is one call and its batch is there. Valid until the next step's.
  egg_evaluate call(uint64_t step);
  // The tokens scored in this step's call, in the streams whose first member is this process's.
  const Scored& scored(uint64_t step) const { return made(step).scored; }
  // Waits for the side thread.
  void end_filling();
  // Returns what all members read in a step, for its update.
  const BatchBuffer& batch_of_all(uint64_t step);

  // Only process 0 has the files, which are cut back to this step. fresh: the run has no checkpoint.
  void open_files(const RunFolder& folder, const std::string& config_hash, uint64_t step, bool fresh);
  // Holds back the line only of a step that has nothing but its numbers.
  void put_line(const StepRecord& step);
  // Adds the numbers to the line of this step, the last one.
  void add_to_line(const RunFolder& folder, uint64_t step, const HookNumbers& numbers);
  // Writes the line that is held back, if there is one, and returns once all is on the disk.
  void flush_files();

  // batch: what all members read. Both must stay unchanged until end_update(). evaluation: made just before the step.
  void begin_update(uint64_t step, const BatchBuffer& batch, const std::vector<int8_t>& fitness,
                    const std::optional<egg_evaluation>& evaluation);
  // Rethrows an error of writing the line or the journal. Returns how many weights have votes in the step.
  uint64_t end_update();
  // For a failure of any kind: waits for what is being written, and writes the line that is held back.
  void end_failed_update();
  uint64_t perturbed_weights() const { return voted_weights_.perturbed(); }

 private:
  // The tokens that this process's members read in a step.
  struct Batch {
    uint64_t step = ~uint64_t{0};
    BatchBuffer buffer;
    Scored scored;
  };

  const Batch& made(uint64_t step) const { return batches_[step % batches_.size()]; }
  egg_evaluate call_of(uint64_t step) const;
  void fill(uint64_t step);
  void write_line();

  const Setup& setup_;
  BackendSession& session_;
  MemberShare own_;
  uint32_t given_;  // threads that the system gives: as many as the backend's and one more at most
  Threads threads_;
  VotedWeights voted_weights_;
  bool is_one_call_;           // own members are all that read their streams, so that one call evaluates them
  bool writes_beside_update_;  // whether the writing takes longer than waking a thread
  // Batches of four steps: the one whose update is under way; the next one, which the backend may hold already; the one
  // after that, of which the next evaluation tells the backend; and one that is being filled.
  std::array<Batch, 4> batches_;
  uint64_t filled_end_ = 0;   // steps from here on are not there, or being filled
  uint64_t filling_end_ = 0;  // what filled_end_ becomes when the side thread has filled
  egg_evaluate next_{};       // the call that the backend was told of
  BatchBuffer all_;           // what all members read in a step
  std::optional<JournalWriter> journal_;
  std::optional<MetricsFile> metrics_;
  std::optional<StepRecord> unwritten_;    // the newest step's line if it is not in metrics.jsonl yet
  uint64_t voted_ = 0;                     // weights that have votes in this step
  std::future<void> written_;              // of what begin_update() has the side thread write
  std::optional<SideThread> side_thread_;  // the last member: it ends before what it fills does
};

}  // namespace eggroll

#endif
