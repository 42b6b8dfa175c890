// Sign-ES: a weight moves by one where its vote is significant. The test's level alpha anneals as
// 1 / (anneal * t / decay + 1), nano-egg's schedule; the threshold is the two-sided normal quantile of alpha, in
// standard deviations of the null vote. Settings: configs/optimizer/sign_es.yaml.
#include <cmath>

#include "eggroll/exact_math.h"
#include "eggroll/optimizer.h"

namespace eggroll {
namespace {

class SignEs : public Optimizer {
 public:
  explicit SignEs(Settings& settings)
      : anneal_(settings.real("anneal", 0.0, 1e9)),
        decay_(settings.real("decay", 1.0, 1e12)),
        residual_(settings.real("residual", 0.0, 0.999)) {
    settings.finish();
    const Node threshold = builder_.scalar("threshold");
    residual_ > 0.0 ? build_with_residual(threshold) : build_plain(threshold);
  }

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(uint64_t step, float* out) override {
    const double alpha = 1.0 / (anneal_ * static_cast<double>(step) / decay_ + 1.0);
    // Evidence that decays by `residual` a step has this standard deviation under the null.
    const double spread = 1.0 / std::sqrt(1.0 - residual_ * residual_);
    // The lower tail keeps its digits where 1 - alpha / 2 would round to 1; 0 - 0 is no negative zero.
    out[0] = static_cast<float>((0.0 - exact_normal_quantile(alpha / 2.0)) * spread);
  }

 private:
  // significant: -1, 0 or +1 as evidence is beyond -limit, within, or beyond limit.
  Node ternary(Node evidence, Node limit) {
    const Node one = builder_.constant(1);
    const Node minus_one = builder_.constant(-1);
    const Node zero = builder_.constant(0);
    const Node magnitude = builder_.op(EGG_RULE_FABS, {evidence});
    const Node significant = builder_.op(EGG_RULE_FLT, {limit, magnitude});
    const Node negative = builder_.op(EGG_RULE_FLT, {evidence, builder_.constant(0.0F)});
    const Node direction = builder_.op(EGG_RULE_SELECT, {negative, minus_one, one});
    return builder_.op(EGG_RULE_SELECT, {significant, direction, zero});
  }

  void build_plain(Node threshold) {
    const Node limit = builder_.op(EGG_RULE_FMUL, {threshold, builder_.vote_std()});
    builder_.delta(ternary(builder_.vote_f32(), limit));
  }

  // Votes that did not move their weight are carried on, decayed; a move spends them.
  void build_with_residual(Node threshold) {
    const Node carried = builder_.slot("residual", 'f');
    const Node zero = builder_.constant(0.0F);
    const Node std = builder_.vote_std();
    const Node score = builder_.op(EGG_RULE_FDIV, {builder_.vote_f32(), std});
    // No pair has a fitness: a vote of 0 over a deviation of 0.
    const Node safe = builder_.op(EGG_RULE_SELECT, {builder_.op(EGG_RULE_FLT, {zero, std}), score, zero});
    const Node decayed = builder_.op(EGG_RULE_FMUL, {builder_.constant(static_cast<float>(residual_)), carried});
    const Node evidence = builder_.op(EGG_RULE_FADD, {safe, decayed});
    const Node move = ternary(evidence, threshold);
    builder_.delta(move);
    builder_.set_slot(carried, builder_.op(EGG_RULE_SELECT, {move, zero, evidence}));
  }

  double anneal_;
  double decay_;
  double residual_;
  RuleBuilder builder_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("sign_es", "1.0.0", eggroll::SignEs);
