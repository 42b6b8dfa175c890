// Sign-ES: a weight moves by one where its vote is significant. The test's level alpha follows a schedule, nano-egg's
// 1/t unless another is chosen; the threshold is the two-sided normal quantile of alpha, in standard deviations of the
// null vote. Settings: configs/optimizer/sign_es.yaml.
#include <algorithm>
#include <cmath>

#include "eggroll/optimizer.h"
#include "eggroll/reproducible_math.h"
#include "eggroll/rule_parts.h"
#include "eggroll/schedule.h"

namespace eggroll {
namespace {

class SignEs : public Optimizer {
 public:
  explicit SignEs(Settings& settings)
      : alpha_(settings.real("alpha", 1e-12, 1.0)),
        schedule_(settings, "schedule"),
        residual_(settings.real("residual", 0.0, 0.999)) {
    settings.finish();
    const Node threshold = builder_.scalar("threshold");
    residual_ > 0.0 ? build_with_residual(threshold) : build_plain(threshold);
  }

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(const egg_progress& progress, float* out) override {
    // A share of 0 asks for more than any vote has: a level this small does too, and its quantile is finite.
    const double alpha = std::clamp(alpha_ * schedule_.share(progress), 1e-300, 1.0);
    // Evidence that decays by `residual` a step has this standard deviation under the null.
    const double spread = 1.0 / std::sqrt(1.0 - residual_ * residual_);
    // The lower tail keeps its digits where 1 - alpha / 2 would round to 1; 0 - 0 is no negative zero.
    out[0] = static_cast<float>((0.0 - reproducible_normal_quantile(alpha / 2.0)) * spread);
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
    const Node vote = standard_vote(builder_, zero);
    const Node decayed = builder_.op(EGG_RULE_FMUL, {builder_.constant(static_cast<float>(residual_)), carried});
    const Node evidence = builder_.op(EGG_RULE_FADD, {vote, decayed});
    const Node move = ternary(evidence, threshold);
    builder_.delta(move);
    builder_.set_slot(carried, builder_.op(EGG_RULE_SELECT, {move, zero, evidence}));
  }

  double alpha_;
  Schedule schedule_;
  double residual_;
  RuleBuilder builder_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("sign_es", "1.0.0", eggroll::SignEs);
