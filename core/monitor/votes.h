// Whether the votes of the last steps are spread further than by chance. A single step cannot show it, even if a model
// learns well: to the sum of the squares of all N votes, the signal in the fitness of n pairs adds n variances of the
// null, while chance alone makes the sum vary by sqrt(2 N) of them. So the squares of several steps are averaged.
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

// Steps whose votes are looked at. Counting one step's takes a small part of the step.
inline constexpr size_t kVoteSteps = 64;

// How far one tensor's votes are from chance.
struct VoteSignal {
  double over_null = 0.0;   // their standard deviation (from 0, the null's mean) over the null's
  double deviations = 0.0;  // how many standard deviations of chance their variance lies above the null's
};

// All of a step's tensors together: their sum over the square root of their number, standard normal under the null.
// Absent where there are none.
std::optional<double> joint_deviations(const std::vector<std::optional<VoteSignal>>& signals);

struct VotedStep {
  uint64_t number;              // counted from 0
  std::vector<int8_t> fitness;  // one a pair
  std::vector<float> stds;      // the null's, by parameter
  BatchBuffer batch;            // what all members read; empty where votes do not depend on it
};

struct MonitoredRun;

class VoteMeter {
 public:
  // A session of its own. What the run points to must outlive it.
  explicit VoteMeter(const MonitoredRun& run);

  // Steps come in their order.
  void add(VotedStep step);

  size_t steps() const { return steps_.size(); }  // up to kVoteSteps
  // Measures the last steps, by parameter; absent where a parameter has had no votes.
  std::vector<std::optional<VoteSignal>> measure();

 private:
  // The sum of a parameter's mean squares in a step, and the number of these means: one, or one for each row that has
  // votes.
  struct Null {
    double variance = 0.0;
    double means = 0.0;
  };
  Null null_of(uint32_t param, const egg_update& update) const;

  const Program& model_;
  egg_noise noise_;
  uint32_t members_per_stream_;
  Rule rule_;
  egg_session_spec spec_;
  BackendSession session_;
  std::deque<VotedStep> steps_;
};

}  // namespace eggroll

#endif
