// A model plugin: settings in, one token step out. This one is a bigram model, embedding -> norm -> head; make it
// yours.
//
// A program has no loops over the population and no arithmetic of its own: it lists parameters, states and ops, and
// every backend runs it. The ops are described in eggroll/ops.h, the builder in eggroll/program_builder.h.
#include "eggroll/model.h"

namespace {

// Half of log2(n), rounded down: a sum over n inputs grows with the square root of n, and the shift takes that back.
int32_t half_log2(int32_t n) {
  int32_t k = 0;
  while (n >> (2 * (k + 1)) != 0) ++k;
  return k;
}

class Bigram : public eggroll::Model {
 public:
  // Every setting has a type and a range and no default here: defaults stand in configs/model/template_name.yaml.
  explicit Bigram(eggroll::Settings& settings)
      : vocab_(settings.int32("vocab", 2, 1 << 20)),
        width_(settings.int32("width", 1, 1 << 14)),
        init_std_(settings.int32("init_std", 0, 127)),
        builder_(vocab_, kFixedPoint, EGG_ROUND_NEAREST) {
    settings.finish();  // a setting that nobody read is an error

    // Parameters: matrices are (outputs, inputs), drawn with the given standard deviation; vectors are constant at
    // first.
    const eggroll::Param embedding = builder_.matrix("embedding", vocab_, width_, init_std_);
    const eggroll::Param gain = builder_.vector("norm.gain", width_, 1 << kFixedPoint);
    const eggroll::Param head = builder_.matrix("head", vocab_, width_, init_std_);

    // Values: each op makes one, int8 in [-127, 127].
    const eggroll::Value x = builder_.embed("embedded", embedding);
    const eggroll::Value y = builder_.l1_norm("norm", x, gain, EGG_DIVIDE_RECIPROCAL);
    const eggroll::Value logits = builder_.linear("logits", y, head, kFixedPoint + half_log2(width_));

    // For memory beyond one token add a state: h = builder_.state("h", width_), read it like any value (it holds what
    // the last token stored), and end with builder_.store(h, next). README.md has an example.

    builder_.loss(logits, 65536 / kLogitStepsPerBit);  // always the last op
  }

  const egg_program* program() override { return builder_.view(); }

 private:
  static constexpr int32_t kFixedPoint = 4;         // 16 means 1.0
  static constexpr int32_t kLogitStepsPerBit = 16;  // logit steps that double a probability

  int32_t vocab_;
  int32_t width_;
  int32_t init_std_;
  eggroll::ProgramBuilder builder_;
};

}  // namespace

EGGROLL_MODEL("template_name", "0.1.0", Bigram);
