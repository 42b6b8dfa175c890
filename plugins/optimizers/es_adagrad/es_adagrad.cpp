// ES-Adagrad: a step for each weight that falls as its votes add up (Duchi, Hazan and Singer, JMLR 12, 2011, the
// diagonal form), so that a row of a table that is rarely read keeps large steps. The vote is over its null standard
// deviation; what an integer weight cannot take is carried to the next update. Settings:
// configs/optimizer/es_adagrad.yaml.
#include "eggroll/rule_parts.h"

namespace eggroll {
namespace {

class EsAdagrad : public ScheduledRate {
 public:
  explicit EsAdagrad(Settings& settings) : ScheduledRate(settings) {
    const auto initial = static_cast<float>(settings.real("initial", 0.0, 1e6));
    settings.finish();
    const Node learning_rate = builder_.scalar("learning_rate");
    const Node zero = builder_.constant(0.0F);
    const Node vote = standard_vote(builder_, zero);
    const Node old = builder_.slot("squares", 'f');
    const Node squares = builder_.op(EGG_RULE_FADD, {old, builder_.op(EGG_RULE_FMUL, {vote, vote})});
    builder_.set_slot(old, squares);
    const Node all = builder_.op(EGG_RULE_FADD, {squares, builder_.constant(initial * initial)});
    const Node share = builder_.op(EGG_RULE_FDIV, {vote, builder_.op(EGG_RULE_FSQRT, {all})});
    const Node direction = builder_.op(EGG_RULE_SELECT, {builder_.op(EGG_RULE_FLT, {zero, all}), share, zero});
    const Node update = builder_.op(EGG_RULE_FMUL, {learning_rate, direction});
    move_by_whole_units(builder_, builder_.slot("carried", 'f'), update, zero);
  }
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("es_adagrad", "1.0.0", eggroll::EsAdagrad);
