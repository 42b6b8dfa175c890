// ES-SGD: momentum (Polyak's heavy ball) on the vote over its null standard deviation, with error feedback (Seide et
// al., Interspeech 2014; Karimireddy et al., arXiv 1901.09847): what an integer weight cannot take of an update is
// carried to the next. Settings: configs/optimizer/es_sgd.yaml.
#include "eggroll/rule_parts.h"

namespace eggroll {
namespace {

class EsSgd : public ScheduledRate {
 public:
  explicit EsSgd(Settings& settings) : ScheduledRate(settings) {
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
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("es_sgd", "1.0.0", eggroll::EsSgd);
