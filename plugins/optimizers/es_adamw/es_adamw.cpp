// ES-AdamW: Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1) with decoupled weight decay (Loshchilov and Hutter,
// arXiv 1711.05101, algorithm 2) on the vote over its null standard deviation, as the gradient of what is to rise.
// Moments and what lies between two integer weights are float32. Settings: configs/optimizer/es_adamw.yaml.
#include "eggroll/optimizer.h"
#include "eggroll/reproducible_math.h"
#include "eggroll/rule_parts.h"
#include "eggroll/schedule.h"

namespace eggroll {
namespace {

class EsAdamW : public Optimizer {
 public:
  explicit EsAdamW(Settings& settings)
      : learning_rate_(settings.real("learning_rate", 0.0, 127.0)),
        schedule_(settings, "schedule"),
        beta1_(settings.real("beta1", 0.0, 0.99999)),
        beta2_(settings.real("beta2", 0.0, 0.99999)),
        bias_correction_(settings.boolean("bias_correction")) {
    const double epsilon = settings.real("epsilon", 1e-12, 1e3);
    const double weight_decay = settings.real("weight_decay", 0.0, 1.0);
    settings.finish();
    build(static_cast<float>(epsilon), static_cast<float>(weight_decay));
  }

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(const egg_progress& progress, float* out) override {
    out[0] = static_cast<float>(learning_rate_ * schedule_.share(progress));
    out[1] = correction(beta1_, progress.step);
    out[2] = correction(beta2_, progress.step);
  }

 private:
  // The bias correction of a moment that began at 0.
  float correction(double beta, uint64_t step) const {
    return bias_correction_ ? static_cast<float>(1.0 / (1.0 - reproducible_power(beta, step + 1))) : 1.0F;
  }

  void build(float epsilon, float weight_decay) {
    const Node learning_rate = builder_.scalar("learning_rate");
    const Node correction1 = builder_.scalar("correction1");
    const Node correction2 = builder_.scalar("correction2");
    const Node zero = builder_.constant(0.0F);
    const Node vote = standard_vote(builder_, zero);
    const Node m = moment("m", beta1_, vote);
    const Node v = moment("v", beta2_, multiply(vote, vote));
    const Node root = builder_.op(EGG_RULE_FSQRT, {multiply(v, correction2)});
    const Node scale = builder_.op(EGG_RULE_FADD, {root, builder_.constant(epsilon)});
    Node direction = builder_.op(EGG_RULE_FDIV, {multiply(m, correction1), scale});
    if (weight_decay > 0.0F) {
      const Node weight = builder_.op(EGG_RULE_TO_F32, {builder_.weight()});
      direction = builder_.op(EGG_RULE_FSUB, {direction, multiply(builder_.constant(weight_decay), weight)});
    }
    move_by_whole_units(builder_, builder_.slot("carried", 'f'), multiply(learning_rate, direction), zero);
  }

  // The new value of a running mean.
  Node moment(const char* name, double beta, Node value) {
    const Node old = builder_.slot(name, 'f');
    const Node kept = multiply(builder_.constant(static_cast<float>(beta)), old);
    const Node added = multiply(builder_.constant(static_cast<float>(1.0 - beta)), value);
    const Node mean = builder_.op(EGG_RULE_FADD, {kept, added});
    builder_.set_slot(old, mean);
    return mean;
  }

  Node multiply(Node a, Node b) { return builder_.op(EGG_RULE_FMUL, {a, b}); }

  double learning_rate_;
  Schedule schedule_;
  double beta1_;
  double beta2_;
  bool bias_correction_;
  RuleBuilder builder_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("es_adamw", "1.0.0", eggroll::EsAdamW);
