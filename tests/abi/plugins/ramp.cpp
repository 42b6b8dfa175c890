// An optimizer whose scalars tell the step. Setting: limit, the step from which it refuses.
#include "eggroll/optimizer.h"

namespace {

class Ramp : public eggroll::Optimizer {
 public:
  explicit Ramp(eggroll::Settings& settings) : limit_(settings.integer("limit", 0, 1000)) {
    settings.finish();
    const eggroll::Node scalar = rule_.scalar("step");
    rule_.scalar("twice");
    rule_.delta(rule_.op(EGG_RULE_TRUNC_I32, {rule_.op(EGG_RULE_FSQRT, {scalar})}));
  }
  const egg_rule* rule() override { return rule_.view(); }
  void scalars(uint64_t step, float* out) override {
    if (step >= static_cast<uint64_t>(limit_)) throw eggroll::Error("the ramp ends here; raise limit");
    out[0] = static_cast<float>(step);
    out[1] = 2.0F * out[0];
  }

 private:
  int64_t limit_;
  eggroll::RuleBuilder rule_;
};

}  // namespace

EGGROLL_OPTIMIZER("ramp", "1.0", Ramp);
