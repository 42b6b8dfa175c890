// The running average of a run's weights (program/average.h), as runs and commands use it.
#ifndef EGGROLL_TRAIN_AVERAGE_H
#define EGGROLL_TRAIN_AVERAGE_H

#include <cstdint>
#include <utility>
#include <vector>

#include "train/setup.h"

namespace eggroll {

// Replaces the session's weights by their average and returns the weights, by parameter; an entry is empty for a
// parameter that is never perturbed and so is its own average. Slots stay. The learner must have an average. Throws
// Error if the slot holds what no average can be.
std::vector<std::vector<int8_t>> swap_in_average(BackendSession& session, const Learner& learner);
void put_weights(BackendSession& session, const std::vector<std::vector<int8_t>>& weights);

// Returns what body returns while the average replaces the weights, and then restores the weights. If body throws, the
// average stays, because nothing goes on with that session.
template <class Body>
auto of_average(BackendSession& session, const Learner& learner, Body&& body) {
  const std::vector<std::vector<int8_t>> weights = swap_in_average(session, learner);
  auto result = std::forward<Body>(body)();
  put_weights(session, weights);
  return result;
}

}  // namespace eggroll

#endif
