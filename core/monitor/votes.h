// Whether the votes of the last steps are spread further than chance would have them. One step's hardly ever are by
// more than chance varies, even where a model learns well: what the fitness of n pairs knows adds up to n of the null's
// variances over all N votes, and chance varies by sqrt(2 N) of them. So the squares of several steps are averaged.
#ifndef EGGROLL_MONITOR_VOTES_H
#define EGGROLL_MONITOR_VOTES_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

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

class VoteMeter {
 public:
  // A session of its own. The model must outlive it; noise, population, threads: the run's.
  VoteMeter(const BackendInstance& backend, const Program& model, const egg_noise& noise, uint32_t population,
            int32_t threads);

  // Steps come in their order, counted from 0. fitness: one a pair; stds: the null's, by parameter.
  void add(uint64_t step, std::vector<int8_t> fitness, std::vector<float> stds);

  size_t steps() const { return steps_.size(); }  // up to kVoteSteps
  // Measures the last steps, by parameter; absent where a parameter has had no votes.
  std::vector<std::optional<VoteSignal>> measure();

 private:
  struct Step {
    uint64_t number;
    std::vector<int8_t> fitness;
    std::vector<float> stds;
  };

  const Program& model_;
  egg_noise noise_;
  Rule rule_;
  BackendSession session_;
  std::deque<Step> steps_;
};

}  // namespace eggroll

#endif
