// ES-SGD: momentum (Polyak's heavy ball) on the vote over its null standard deviation, with error feedback (Seide et
// al., Interspeech 2014; Karimireddy et al., arXiv 1901.09847): what an integer weight cannot take of an update is
// carried to the next. Settings: configs/optimizer/es_sgd.yaml.
#include "eggroll/optimizer.h"
#include "eggroll/rule_parts.h"
#include "eggroll/schedule.h"

namespace eggroll {
namespace {

class EsSgd : public Optimizer {
 public:
  explicit EsSgd(Settings& settings)
      : learning_rate_(settings.real("learning_rate", 0.0, 127.0)), schedule_(settings, "schedule") {
    const auto momentum = static_cast<float>(settings.real("momentum", 0.0, 0.999));
    settings.finish();

    const Node learning_rate = builder_.scalar("learning_rate");
    const Node zero = builder_.constant(0.0F);
    const Node old = builder_.slot("velocity", 'f');
    const Node kept = builder_.op(EGG_RULE_FMUL, {builder_.constant(momentum), old});
    const Node velocity = builder_.op(EGG_RULE_FADD, {kept, standard_vote(builder_, zero)});
    builder_.set_slot(old, velocity);
    const Node update = builder_.op(EGG_RULE_FMUL, {learning_rate, velocity});
    move_by_whole_units(builder_, builder_.slot("carried", 'f'), update, zero);
  }

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(const egg_progress& progress, float* out) override {
    out[0] = static_cast<float>(learning_rate_ * schedule_.share(progress));
  }

 private:
  double learning_rate_;
  Schedule schedule_;
  RuleBuilder builder_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("es_sgd", "1.0.0", eggroll::EsSgd);
