// An optimizer whose scalars tell the step and the newest evaluation. Setting: limit, the step from which it refuses.
#include "eggroll/optimizer.h"

namespace {

class Ramp : public eggroll::Optimizer {
 public:
  explicit Ramp(eggroll::Settings& settings) : limit_(settings.integer("limit", 0, 1000)) {
    settings.finish();
    const eggroll::Node scalar = rule_.scalar("ramp");
    rule_.scalar("loss");
    rule_.delta(rule_.op(EGG_RULE_TRUNC_I32, {rule_.op(EGG_RULE_FSQRT, {scalar})}));
  }
  const egg_rule* rule() override { return rule_.view(); }
  void scalars(const egg_progress& progress, float* out) override {
    if (progress.step >= static_cast<uint64_t>(limit_)) throw eggroll::Error("the ramp ends here; raise limit");
    out[0] = static_cast<float>(progress.step);
    out[1] = -1.0F;
    if (progress.evaluation_count == 0) return;
    const egg_evaluation& newest = progress.evaluations[progress.evaluation_count - 1];
    out[1] = static_cast<float>(newest.loss) / static_cast<float>(newest.tokens);
  }

 private:
  int64_t limit_;
  eggroll::RuleBuilder rule_;
};

}  // namespace

EGGROLL_OPTIMIZER("ramp", "1.0", Ramp);
