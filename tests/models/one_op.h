// A program around one op that reads one stream, for tests of that op's arithmetic on a backend.
#ifndef EGGROLL_TESTS_MODELS_ONE_OP_H
#define EGGROLL_TESTS_MODELS_ONE_OP_H

#include <utility>
#include <vector>

#include "eggroll/program_builder.h"
#include "support/host.h"

namespace eggroll::test {

class OneOp {
 public:
  // builder: its first state keeps the op's result. OneOp adds logits and loss, and takes the machine's backend and
  // noise.
  OneOp(const Learner& learner, ProgramBuilder& builder, int32_t vocab)
      : program_(finished(builder, vocab)),
        rule_(idle_rule()),
        session_(learner.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program_.view(),
                                                                &rule_.view(), learner.noise, 2, 0, 2, 0, nullptr})) {}

  const egg_program& program() const { return program_.view(); }
  void set_weights(uint32_t param, const std::vector<int8_t>& weights) { session_.set_weights(param, weights.data()); }

  // The first `size` channels of the states after tokens [0, count), read from zero states.
  std::vector<int8_t> after(const std::vector<uint32_t>& tokens, uint32_t count, size_t size) {
    const std::vector<uint32_t> targets(count, EGG_NO_TARGET);
    const std::vector<uint8_t> resets(count);
    std::vector<int8_t> states(program_.state_bytes());
    int64_t loss = 0;
    session_.infer(egg_infer{sizeof(egg_infer), 0,
                             egg_batch{1, count, tokens.data(), targets.data(), resets.data(), nullptr}, states.data(),
                             &loss, nullptr});
    states.resize(size);
    return states;
  }

 private:
  static Program finished(ProgramBuilder& builder, int32_t vocab) {
    const Value logits = builder.state("logits", vocab);
    builder.store(logits, logits);
    builder.loss(logits, 4096);
    return Program(*builder.view());
  }

  Program program_;
  Rule rule_;
  BackendSession session_;
};

}  // namespace eggroll::test

#endif
