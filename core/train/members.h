// The members of a run, shared out over its processes: each process evaluates its own, and all learn every pair's
// fitness. What crosses the wire in a step is one gather: a header of fixed size and, for a pair, 1.6 bits where
// fitness is a sign, else the difference of its losses. Its size does not grow with the model's. Where there are sites,
// a second one brings what their streams leave for the update.
#ifndef EGGROLL_TRAIN_MEMBERS_H
#define EGGROLL_TRAIN_MEMBERS_H

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <vector>

#include "eggroll/side_thread.h"
#include "eggroll/threads.h"
#include "processes/processes.h"
#include "train/evaluation.h"
#include "train/setup.h"
#include "train/site_parts.h"

namespace eggroll {

// What a process wants all others to know of it, once a step.
struct StepMessage {
  double seconds = 0.0;    // of the run so far
  uint64_t weights = 0;    // a checksum of its weights, 0: not asked for
  bool wants_end = false;  // a signal told it to save and leave
};

// What all processes know of a step once its losses are gathered.
struct Scores {
  std::vector<int8_t> fitness;        // (pairs)
  int64_t loss = 0;                   // of all members, Q16 bits
  Scored scored;                      // in the step's streams; each is read by members_per_stream members
  double forward_seconds = 0.0;       // this process's
  double gather_seconds = 0.0;        // this process's wait for the others
  std::vector<StepMessage> messages;  // by process
  std::vector<egg_site_sums> sites;
};

// Calls body() with the calls that evaluate members [first, first + count) of a call, which are whole pairs. Their
// first and last stream may have members outside this range; the members of such a stream get a call of their own.
// indices: of the program. Losses lie where the whole call has them, if it does.
void each_call(const egg_evaluate& call, uint32_t indices, uint32_t first, uint32_t count,
               const std::function<void(const egg_evaluate&)>& body);

// As shares_of(). Throws Error where processes would share a stream of sites, which runs once.
std::vector<MemberShare> member_shares(const Learner& learner, uint32_t processes);

// Every function that a comment calls shared is called by all processes in the same order.
class Members {
 public:
  // All three outlive this. Throws Error where there are more processes than pairs.
  Members(const Setup& setup, BackendSession& session, Processes& processes);

  // Shared. The losses of a step's members, and what they are worth. Valid until the next call.
  const Scores& score(uint64_t step, const StepMessage& message);
  // What the evaluation of a step will be given, where that is one call and its batch is there.
  std::optional<egg_evaluate> known_call(uint64_t step) const;
  // What all members read in a step, for its update.
  const BatchBuffer& batch_of_all(uint64_t step);
  // Shared. The held-out part by the unperturbed model, its streams shared out.
  HeldOutSums evaluate(const HeldOutStreams& streams);
  // After score(), before the update: does the work beside the update, on a thread of its own, and fills batches of
  // later steps then. Where the system gives no such thread, all is done at once. The result waits for the work alone,
  // and throws what it threw. work: empty where there is none; the result is then not valid.
  std::future<void> begin_beside_update(const std::function<void()>& work);
  // Prepares for the losses of the next step. May be called while an update is under way on another thread.
  void expect_losses();

  // Shared. All members' states, (population, state bytes), on process 0; empty elsewhere.
  std::vector<int8_t> states();

  // What the host runs its loops on beside a step's calls.
  Threads& threads() { return threads_; }

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

  const Filled& filled(uint64_t step) const { return batches_[step % batches_.size()]; }
  void fill(uint64_t step);
  void end_filling();
  void on_side_thread(const std::function<void()>& work);
  egg_evaluate call_of_own(uint64_t step) const;
  bool evaluates_whole_streams() const;
  int64_t evaluate_own(uint64_t step);
  void add(const Header& header);
  void gather(const Header& header);

  const Setup& setup_;
  BackendSession& session_;
  Processes& processes_;
  std::vector<MemberShare> shares_;  // by process
  MemberShare own_;
  std::vector<uint64_t> sizes_;  // by process, bytes of a step without those of sites
  SiteParts site_parts_;
  uint32_t given_;  // threads that the system gives: as many as the backend's and one more at most
  Threads threads_;
  HeldOutEvaluator held_out_;
  // Batches of four steps: the one whose update is under way; the next one, which the backend may hold already; the one
  // after that, of which the next evaluation tells the backend; and one that is being filled.
  std::array<Filled, 4> batches_;
  uint64_t scored_ = 0;       // the step that was scored last
  uint64_t filled_end_ = 0;   // steps from here on are not there, or being filled
  uint64_t filling_end_ = 0;  // what filled_end_ becomes when the side thread has filled
  BatchBuffer all_;           // what all members read in a step
  std::vector<int64_t> d_;    // of own pairs
  std::vector<uint8_t> gathered_;
  Scores scores_;
  bool is_filling_ = false;
  std::optional<SideThread> side_thread_;  // the last member: it ends before what it fills does
};

}  // namespace eggroll

#endif
