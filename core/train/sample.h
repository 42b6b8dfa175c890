// Text from the unperturbed model.
#ifndef EGGROLL_TRAIN_SAMPLE_H
#define EGGROLL_TRAIN_SAMPLE_H

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "plugin/instance.h"
#include "program/program.h"

namespace eggroll {

struct SampleOptions {
  uint32_t count = 400;      // tokens to make
  double temperature = 1.0;  // 0: always the likeliest; 1: the model's own probabilities
  uint64_t seed = 0;
  uint32_t number = 0;  // of the sample: others of the same seed have other draws
  uint32_t top_k = 0;   // draws only from the likeliest tokens, this number of them; 0: from all
  double top_p = 1.0;   // and only from the likeliest that together have at least this probability, above 0 and up to 1
};

// Reads the prompt (at least one token, each below the vocabulary) from a zero state, then makes tokens one by one.
// With a context, each token is made from the last tokens, as many as the context, read again from a zero state.
// Returns the tokens made, the same on every backend and machine: probabilities are integers (egg_exp2_neg_q30).
std::vector<uint32_t> sample(BackendSession& session, const Program& program, const std::vector<uint32_t>& prompt,
                             const SampleOptions& options);

// The prompt of samples that a run makes by itself: the first held-out tokens.
std::vector<uint32_t> held_out_prompt(const Dataset& dataset);

}  // namespace eggroll

#endif
