// A whole step of training: noise, forward pass, loss, fitness, votes, rule.
#ifndef EGGROLL_BENCH_STEP_CASE_H
#define EGGROLL_BENCH_STEP_CASE_H

#include <memory>

#include "bench/case.h"

namespace eggroll::bench {

struct StepShape {
  uint32_t layers;
  uint32_t width;
  uint32_t population;
  uint32_t tokens;
  bool tables = false;  // whether the model reads rows by the hash of the last tokens

  std::string name() const;  // as in "6x256/pop2048/tokens32" or "6x256/pop2048/tokens32/tables"
};

// Reads a shape from its name. Throws Error if the name is not a shape's.
StepShape parse_step_shape(const std::string& name);

// The shapes that are measured by default.
std::vector<StepShape> default_step_shapes(const std::string& backend);

std::unique_ptr<Case> open_step_case(const Host& host, const std::string& backend, const StepShape& shape);

}  // namespace eggroll::bench

#endif
