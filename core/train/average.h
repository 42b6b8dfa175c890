// The running average of a run's weights (program/average.h), as runs and commands use it.
#ifndef EGGROLL_TRAIN_AVERAGE_H
#define EGGROLL_TRAIN_AVERAGE_H

#include <cstdint>
#include <utility>
#include <vector>

#include "train/setup.h"

namespace eggroll {

// Puts the average in the place of the session's weights and returns these, by parameter; empty where it is never
// perturbed and so is its own average. Slots stay. The learner has an average. Throws Error where the slot holds what
// no average can be.
std::vector<std::vector<int8_t>> swap_in_average(BackendSession& session, const Learner& learner);
void put_weights(BackendSession& session, const std::vector<std::vector<int8_t>>& weights);

// What body gives while the average is in the place of the weights, which are then what they were. Where body throws,
// the average stays: nothing goes on with that session.
template <class Body>
auto of_average(BackendSession& session, const Learner& learner, Body&& body) {
  const std::vector<std::vector<int8_t>> weights = swap_in_average(session, learner);
  auto result = std::forward<Body>(body)();
  put_weights(session, weights);
  return result;
}

}  // namespace eggroll

#endif
