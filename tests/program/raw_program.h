// A small program whose every part a test can break.
#ifndef EGGROLL_TESTS_PROGRAM_RAW_PROGRAM_H
#define EGGROLL_TESTS_PROGRAM_RAW_PROGRAM_H

#include <vector>

#include "eggroll/program_builder.h"
#include "record/scratch.h"

namespace eggroll::test {

// Writes every op of the op set once, with and without its optional parts: vocabulary 5, width 3.
inline ProgramBuilder tiny_program() {
  ProgramBuilder b(5, 4, EGG_ROUND_NEAREST);
  const Value h = b.state("h", 3);                                                    // value 0
  const Value x = b.embed("x", b.matrix("e", 5, 3, 16));                              // op 0, value 1, param 0
  const Value n = b.l1_norm("n", x, b.vector("gain", 3, 16), EGG_DIVIDE_RECIPROCAL);  // op 1, value 2, param 1
  const Param w = b.matrix("w", 3, 3, 8);                                             // param 2
  const Value f = b.linear("f", n, w, 7, b.vector("bias", 3, -2));                    // op 2, value 3, param 3
  const Value g = b.gru_gate("g", f, h);                                              // op 3, value 4
  const Value m = b.gru_mix("m", f, h, g);                                            // op 4, value 5
  const Value a = b.add("a", m, x);                                                   // op 5, value 6
  b.store(h, m);                                                                      // op 6
  const Value logits = b.linear("logits", a, b.matrix("head", 5, 3, 16), 7);          // op 7, value 7, param 4
  b.loss(logits, 4096);                                                               // op 8
  return b;
}

// The same program as plain lists, free to be changed.
struct RawProgram {
  RawProgram() : builder(tiny_program()), program(*builder.view()) {
    params.assign(program.params, program.params + program.param_count);
    values.assign(program.values, program.values + program.value_count);
    ops.assign(program.ops, program.ops + program.op_count);
  }

  // Points the program to the lists as they are now.
  const egg_program& view() {
    program.param_count = static_cast<uint32_t>(params.size());
    program.value_count = static_cast<uint32_t>(values.size());
    program.op_count = static_cast<uint32_t>(ops.size());
    program.params = params.data();
    program.values = values.data();
    program.ops = ops.data();
    return program;
  }

  ProgramBuilder builder;  // owns the names
  egg_program program;
  std::vector<egg_param> params;
  std::vector<egg_value> values;
  std::vector<egg_op> ops;
};

}  // namespace eggroll::test

#endif
