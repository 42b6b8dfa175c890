// The steps of a token, for backends that plan where values lie: the program's ops, and the loading of states.
#ifndef EGGROLL_BACKENDS_STEPS_H
#define EGGROLL_BACKENDS_STEPS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

// An op of the program, or the loading of a state; the other is -1.
struct Step {
  int32_t op;
  int32_t loads;
};

// A value's stay in memory: from the step that makes it to the last that reads it.
struct Stay {
  static constexpr int32_t kNever = -1;
  int32_t begin = kNever;
  int32_t end = kNever;
  void include(int32_t step) {
    if (begin == kNever) begin = step;
    end = std::max(end, step);
  }
};

inline bool is_state(const egg_program& program, int32_t value) {
  return value >= 0 && program.values[value].is_state != 0;
}

// A state is loaded before its first reader and before anything is stored in it, so that its readers see what it was
// when the token began.
inline std::vector<Step> steps_of(const egg_program& program) {
  std::vector<bool> loaded(program.value_count, false);
  std::vector<bool> is_read(program.value_count, false);
  for (uint32_t i = 0; i < program.op_count; ++i) {
    for (const int32_t in : program.ops[i].in) {
      if (is_state(program, in)) is_read[static_cast<size_t>(in)] = true;
    }
  }
  std::vector<Step> steps;
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    for (const int32_t value : {op.in[0], op.in[1], op.in[2], op.code == EGG_OP_STORE ? op.out : -1}) {
      if (!is_state(program, value)) continue;
      const auto v = static_cast<size_t>(value);
      if (loaded[v] || !is_read[v]) continue;
      loaded[v] = true;
      steps.push_back({-1, value});
    }
    steps.push_back({static_cast<int32_t>(i), -1});
  }
  return steps;
}

// By value. What is stored in a state leaves its value alone.
inline std::vector<Stay> stays_of(const egg_program& program, const std::vector<Step>& steps) {
  std::vector<Stay> stays(program.value_count);
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto include = [&](int32_t value) {
      if (value >= 0) stays[static_cast<size_t>(value)].include(static_cast<int32_t>(i));
    };
    if (steps[i].loads >= 0) {
      include(steps[i].loads);
      continue;
    }
    const egg_op& op = program.ops[steps[i].op];
    for (const int32_t in : op.in) include(in);
    if (!is_state(program, op.out)) include(op.out);
  }
  return stays;
}

}  // namespace eggroll

#endif
