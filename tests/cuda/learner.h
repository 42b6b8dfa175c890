// A machine on the reference backend, for the tests of plans. They need no GPU.
#ifndef EGGROLL_TESTS_CUDA_LEARNER_H
#define EGGROLL_TESTS_CUDA_LEARNER_H

#include "support/host.h"

namespace eggroll::cuda {

inline Learner learner_of(std::vector<std::string> overrides) {
  overrides.emplace_back("backend=reference");
  return Learner(test::repository_config(overrides), test::built_plugins());
}

}  // namespace eggroll::cuda

#endif
