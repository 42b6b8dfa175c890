// Whether the votes of the last steps are spread further than by chance. What chance does is not computed but measured:
// each step's votes are counted twice more, with the sign of each pair's fitness as a coin falls. If fitness does not
// follow the noise, the three counts are drawn alike, whoever reads which row and whichever tensors share noise: their
// difference is 0 on average, and that of the two by chance tells how far it goes. If it does, coins cancel it out.
#ifndef EGGROLL_MONITOR_VOTES_H
#define EGGROLL_MONITOR_VOTES_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "data/streams.h"
#include "plugin/instance.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {

// The number of steps whose votes are looked at. Counting the votes of one step takes a small part of the step.
inline constexpr size_t kVoteSteps = 64;

// How far one tensor's votes are from chance.
struct VoteSignal {
  double over_null = 0.0;  // their standard deviation (from 0, the null's mean) over that of votes by chance
  // How many standard deviations of chance more votes are far from 0 than by chance: under the null its mean is 0 and
  // its variance 1.
  double deviations = 0.0;
};

struct VoteSignals {
  std::vector<std::optional<VoteSignal>> tensors;  // by parameter; absent if it has had no votes
  std::optional<double> deviations;                // of all tensors together; absent if none has had votes
  double pairs_without_fitness = 0.0;              // share of them
};

struct VotedStep {
  uint64_t number;              // counted from 0
  std::vector<int8_t> fitness;  // one a pair
  std::vector<float> stds;      // the null's, by parameter
  BatchBuffer batch;            // what all members read; empty if votes do not depend on it
};

struct MonitoredRun;

class VoteMeter {
 public:
  // Opens a session of its own. What the run points to must outlive it.
  explicit VoteMeter(const MonitoredRun& run);

  // Steps must come in their order.
  void add(VotedStep step);

  size_t steps() const { return steps_.size(); }  // up to kVoteSteps
  VoteSignals measure();                          // of these steps

 private:
  // By parameter, the number of votes that would be far from 0 if a step had this fitness.
  std::vector<int64_t> count_far(const VotedStep& step, const std::vector<int8_t>& fitness, const float* scalars);
  double share_without_fitness() const;
  double sum_of_slot(uint32_t param, uint32_t slot);

  const Program& model_;
  uint32_t members_per_stream_;
  Rule rule_;
  BackendSession session_;
  std::deque<VotedStep> steps_;
};

}  // namespace eggroll

#endif
