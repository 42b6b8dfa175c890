// An optimizer plugin: settings in, an update rule out. This one moves a weight by one, in the direction of its vote,
// where the vote is beyond a threshold in standard deviations of a vote by chance; make it yours.
//
// A rule has no loops over weights: it is an expression of one weight's vote, value and slots, and every backend runs
// it. The rule ops are described in eggroll/ops.h, the builder in eggroll/rule_builder.h.
#include "eggroll/optimizer.h"

namespace {

using eggroll::Node;

class Threshold : public eggroll::Optimizer {
 public:
  // Every setting has a type and a range and no default here: defaults stand in configs/optimizer/template_name.yaml.
  explicit Threshold(eggroll::Settings& settings) : threshold_(settings.real("threshold", 0.0, 100.0)) {
    settings.finish();  // a setting that nobody read is an error

    // A scalar is one number for all weights, new in each step; a constant never changes. For memory per weight add a
    // slot: m = rule_.slot("m", 'f') is its old value and rule_.set_slot(m, node) gives its new one.
    const Node threshold = rule_.scalar("threshold");
    const Node vote = rule_.vote_f32();
    const Node limit = rule_.op(EGG_RULE_FMUL, {threshold, rule_.vote_std()});
    const Node significant = rule_.op(EGG_RULE_FLT, {limit, rule_.op(EGG_RULE_FABS, {vote})});
    const Node negative = rule_.op(EGG_RULE_FLT, {vote, rule_.constant(0.0F)});
    const Node direction = rule_.op(EGG_RULE_SELECT, {negative, rule_.constant(-1), rule_.constant(1)});

    // A positive vote says that a larger weight lowers the loss. The weight saturates at +-127.
    rule_.delta(rule_.op(EGG_RULE_SELECT, {significant, direction, rule_.constant(0)}));
  }

  const egg_rule* rule() override { return rule_.view(); }

  // One value for each scalar, in the order in which they were made. For a schedule see eggroll/schedule.h. A schedule
  // of your own must follow from the progress (step and held-out evaluations) alone, and use
  // eggroll/reproducible_math.h rather than <cmath>, so that every machine gets the same bits.
  void scalars(const egg_progress& /*progress*/, float* out) override { out[0] = static_cast<float>(threshold_); }

 private:
  double threshold_;
  eggroll::RuleBuilder rule_;
};

}  // namespace

EGGROLL_OPTIMIZER("template_name", "0.1.0", Threshold);
