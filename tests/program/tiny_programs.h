// Small programs that together hold every op.
#ifndef EGGROLL_TESTS_PROGRAM_TINY_PROGRAMS_H
#define EGGROLL_TESTS_PROGRAM_TINY_PROGRAMS_H

#include <cstdint>
#include <vector>

#include "eggroll/program_builder.h"

namespace eggroll::test {

// A program with the ops of a GRU, with and without their optional parts: vocabulary 5, width 3.
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

// A program with the other ops: vocabulary 5, width 8, context 2.
inline ProgramBuilder tiny_former() {
  ProgramBuilder b(5, 4, EGG_ROUND_NEAREST, 2);
  const Table lut = b.table("lut", std::vector<int32_t>(256, 3));                 // table 0
  const Table angles = b.table("angles", {1 << 20, 0, 0, 1 << 20, 0, -5, 7, 0});  // table 1
  const Table weights = b.table("weights", std::vector<int32_t>(256, 1000));      // table 2
  const Value x = b.embed("x", b.matrix("e", 5, 8, 16));                          // op 0, value 0, param 0
  const Value u = b.lut("u", x, lut);                                             // op 1, value 1
  const Value q = b.wide_linear("q", u, b.matrix("w", 8, 8, 8), 0);               // op 2, value 2, param 1
  const Value r = b.rope("r", q, angles, 4);                                      // op 3, value 3
  const Value n = b.max_norm("n", r);                                             // op 4, value 4
  const Value o = b.attention("o", n, x, u, weights, 4, EGG_WEIGHT_SOFTMAX, 6);   // op 5, value 5
  const Value s = b.wide_add("s", o, q);                                          // op 6, value 6
  const Value y = b.max_norm("y", s);                                             // op 7, value 7
  b.loss(b.linear("logits", y, b.matrix("head", 5, 8, 16), 7), 4096);             // ops 8, 9, value 8, param 2
  return b;
}

}  // namespace eggroll::test

#endif
