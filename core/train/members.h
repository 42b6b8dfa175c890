// The members of a run, shared out over its processes: each process evaluates its own, and all learn every pair's
// fitness. What crosses the wire in a step is one gather: a header of fixed size and, for a pair, 1.6 bits where
// fitness is a sign, else the difference of its losses. Its size does not grow with the model's.
#ifndef EGGROLL_TRAIN_MEMBERS_H
#define EGGROLL_TRAIN_MEMBERS_H

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <vector>

#include "eggroll/threads.h"
#include "processes/processes.h"
#include "train/evaluation.h"
#include "train/setup.h"

namespace eggroll {

// What a process wants all others to know of it, once a step.
struct Word {
  double seconds = 0.0;    // of the run so far
  uint64_t weights = 0;    // a checksum of its weights, 0: not asked for
  bool wants_end = false;  // a signal told it to save and leave
};

// What all processes know of a step once its losses are gathered.
struct Scores {
  std::vector<int8_t> fitness;   // (pairs)
  int64_t loss = 0;              // of all members, Q16 bits
  Scored scored;                 // in the step's streams; each is read by members_per_stream members
  double forward_seconds = 0.0;  // this process's
  double gather_seconds = 0.0;   // this process's wait for the others
  std::vector<Word> words;       // by process
};

// Evaluates members [first, first + count) of a call, which are whole pairs. Their first and last stream may have
// members outside this range; the members of such a stream get a call of their own. losses: (count); those of the call
// are not used.
void evaluate_part(BackendSession& session, const egg_evaluate& call, uint32_t first, uint32_t count, int64_t* losses,
                   Threads* threads = nullptr);

// Every function that a comment calls shared is called by all processes in the same order.
class Members {
 public:
  // All three outlive this. Throws Error where there are more processes than pairs.
  Members(const Setup& setup, BackendSession& session, Processes& processes);

  // Shared. The losses of a step's members, and what they are worth. Valid until the next call.
  const Scores& score(uint64_t step, const Word& word);
  // After score(): what the next one will ask of the backend, where that is one call. Valid until then.
  std::optional<egg_evaluate> coming() const;
  // What all members read in a step, for its update.
  const BatchBuffer& batch_of_all(uint64_t step);
  // Shared. The held-out part by the unperturbed model, its streams shared out.
  HeldOutSums evaluate(const HeldOutStreams& streams);
  // Does the work while the backend computes, on a thread of its own where the system gives one beside the one that
  // fills batches, else when it is waited for. One at a time.
  std::future<void> beside_backend(const std::function<void()>& work) const;
  // Prepares for the losses of the step to come. May be called while an update is under way on another thread.
  void expect_losses();

  // Shared. All members' states, (population, state bytes), on process 0; empty elsewhere.
  std::vector<int8_t> states();

  // The bytes that a process sends in a step, for the process with the largest share.
  uint64_t bytes_per_step() const;

 private:
  // What own members read in a step.
  struct Filled {
    uint64_t step = ~uint64_t{0};
    BatchBuffer batch;
    Scored scored;  // of the streams whose first member is this process's
  };
  // What a process says of its members in a step, beside their fitness.
  struct Header;

  void fill(uint64_t step, Filled& filled);
  void begin_filling(uint64_t step);
  std::future<void> on_spare_thread(uint32_t number, const std::function<void()>& work) const;
  egg_evaluate call_of_own() const;
  bool is_whole(const egg_evaluate& call) const;
  const int64_t* evaluate_own();
  Header compare_own(const int64_t* losses, const Word& word);
  void add(const Header& header);
  void gather(const Header& header);

  const Setup& setup_;
  BackendSession& session_;
  Processes& processes_;
  std::vector<MemberShare> shares_;  // by process
  MemberShare own_;
  std::vector<uint64_t> sizes_;  // by process, bytes of a step
  uint32_t given_;               // threads that the system gives, as many as the backend's and two more at most
  uint32_t spare_threads_;       // of these, those that are not the backend's
  Threads threads_;
  HeldOutEvaluator held_out_;
  Filled scored_;                // of the step that was scored last
  Filled coming_;                // of the step to come
  Filled ahead_;                 // of the one after it, which filling_ fills
  BatchBuffer all_;              // what all members read in a step
  std::vector<int64_t> losses_;  // of own members, where they come in parts
  std::vector<int64_t> d_;       // of own pairs
  std::vector<uint8_t> gathered_;
  Scores scores_;
  std::future<void> filling_;  // the last member: it ends before what it fills does
};

}  // namespace eggroll

#endif
