// Text from the unperturbed model.
#ifndef EGGROLL_TRAIN_SAMPLE_H
#define EGGROLL_TRAIN_SAMPLE_H

#include <cstdint>
#include <vector>

#include "plugin/instance.h"
#include "program/program.h"

namespace eggroll {

struct SampleOptions {
  uint32_t count = 400;      // tokens to make
  double temperature = 1.0;  // 0: always the likeliest; 1: the model's own probabilities
  uint64_t seed = 0;
};

// Reads the prompt (at least one token, each below the vocabulary) from a zero state, then makes tokens one by one. A
// program with a context reads its last tokens, as many as that, anew from a zero state for each token it makes.
// Returns those made.
std::vector<uint32_t> sample(BackendSession& session, const Program& program, const std::vector<uint32_t>& prompt,
                             const SampleOptions& options);

}  // namespace eggroll

#endif
