// A machine on the reference backend, and sessions that begin with its weights.
#ifndef EGGROLL_TESTS_CUDA_LEARNER_H
#define EGGROLL_TESTS_CUDA_LEARNER_H

#include "eggroll/backend.h"
#include "program/initial_weights.h"
#include "support/host.h"

namespace eggroll::cuda {

inline Learner learner_of(std::vector<std::string> overrides) {
  overrides.emplace_back("backend=reference");
  return Learner(test::repository_config(overrides), test::built_plugins());
}

// Sets the initial weights of this seed.
template <class AnySession>
void set_initial_weights(AnySession& session, const egg_program& program, uint64_t seed = 1) {
  for (uint32_t i = 0; i < program.param_count; ++i) {
    session.set_weights(i, initial_weights(program.params[i], i, seed).data());
  }
}

// All of a session's weights.
template <class AnySession>
std::vector<std::vector<int8_t>> weights_of(AnySession& session, const egg_program& program) {
  std::vector<std::vector<int8_t>> weights;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    weights.emplace_back(weight_count(program.params[i]));
    session.get_weights(i, weights.back().data());
  }
  return weights;
}

}  // namespace eggroll::cuda

#endif
