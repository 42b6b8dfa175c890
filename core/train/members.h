// The members of a run, shared out over its processes: each process evaluates its own, and all learn every pair's
// fitness. A step sends one gather: a header of fixed size and, for each pair, 1.6 bits if fitness is a sign, else the
// difference of its losses. Its size does not grow with the model. If there are sites, a second gather brings what
// their streams leave for the update.
#ifndef EGGROLL_TRAIN_MEMBERS_H
#define EGGROLL_TRAIN_MEMBERS_H

#include <cstdint>
#include <functional>
#include <vector>

#include "processes/processes.h"
#include "train/evaluation.h"
#include "train/setup.h"
#include "train/site_parts.h"
#include "train/step_pipeline.h"

namespace eggroll {

// A process sends this to all others once in each step.
struct StepMessage {
  double seconds = 0.0;    // of the run so far
  uint64_t weights = 0;    // a checksum of its weights, 0: not asked for
  uint64_t wants_end = 0;  // 1: a signal told it to save and leave
};

// The facts that all processes know of a step once its losses are gathered.
struct Scores {
  std::vector<int8_t> fitness;        // (pairs)
  int64_t loss = 0;                   // of all members, Q16 bits
  Scored scored;                      // in the step's streams; each is read by members_per_stream members
  double forward_seconds = 0.0;       // this process's
  double gather_seconds = 0.0;        // this process's wait for the others
  std::vector<StepMessage> messages;  // by process
  std::vector<egg_site_sums> sites;
};

// Calls body() with the calls that evaluate members [first, first + count) of a call, which are whole pairs. The first
// and last stream may have members outside this range; the members of such a stream get a call of their own. indices:
// the program's. Losses stay where the whole call has them, if it has any.
void each_call(const egg_evaluate& call, uint32_t indices, uint32_t first, uint32_t count,
               const std::function<void(const egg_evaluate&)>& body);

// As shares_of(). Throws Error if processes would share a stream of sites, which runs once.
std::vector<MemberShare> member_shares(const Learner& learner, uint32_t processes);

// Every function that a comment calls shared is called by all processes in the same order.
class Members {
 public:
  // All must outlive this. pipeline: of the same members. Throws Error if there are more processes than pairs.
  Members(const Setup& setup, BackendSession& session, Processes& processes, StepPipeline& pipeline);

  // Shared. Returns the losses of a step's members and their fitness. Valid until the next call.
  const Scores& score(uint64_t step, const StepMessage& message);
  // Shared. Evaluates the unperturbed model on the held-out part, whose streams are shared out.
  HeldOutSums evaluate(const HeldOutStreams& streams);
  // Shared. Returns all members' states, (population, state bytes), on process 0; empty on the others.
  std::vector<int8_t> states();

  // The bytes that a process sends in a step, for the process with the largest share.
  uint64_t bytes_per_step() const;

 private:
  // What a process sends about its members in a step, in addition to their fitness.
  struct Header;

  int64_t evaluate_own(egg_evaluate call);
  void add(const Header& header);
  void gather(const Header& header);

  const Setup& setup_;
  BackendSession& session_;
  Processes& processes_;
  StepPipeline& pipeline_;
  std::vector<MemberShare> shares_;  // by process
  MemberShare own_;
  std::vector<uint64_t> sizes_;  // by process, bytes of a step without those of sites
  SiteParts site_parts_;
  HeldOutEvaluator held_out_;
  std::vector<int64_t> d_;  // of own pairs
  std::vector<uint8_t> gathered_;
  Scores scores_;
};

}  // namespace eggroll

#endif
