// Parts that update rules share.
#ifndef EGGROLL_RULE_PARTS_H
#define EGGROLL_RULE_PARTS_H

#include "eggroll/optimizer.h"
#include "eggroll/rule_builder.h"
#include "eggroll/schedule.h"

namespace eggroll {

// The vote in standard deviations of the null vote. It is 0 if no pair has a fitness, because the division would then
// give 0 / 0. zero: a constant 0.
inline Node standard_vote(RuleBuilder& builder, Node zero) {
  const Node std = builder.vote_std();
  const Node score = builder.op(EGG_RULE_FDIV, {builder.vote_f32(), std});
  return builder.op(EGG_RULE_SELECT, {builder.op(EGG_RULE_FLT, {zero, std}), score, zero});
}

// The weight and the slot `carried`, which is in (-1, 1), add up to a real number. Adds `update` to that number, moves
// the weight by whole units and keeps the rest in the slot. The number saturates at +-127 as the weight does, so that
// nothing piles up beyond.
inline void move_by_whole_units(RuleBuilder& builder, Node carried, Node update, Node zero) {
  const Node total = builder.op(EGG_RULE_FADD, {carried, update});
  const Node units = builder.op(EGG_RULE_TRUNC_I32, {total});
  const Node whole = builder.op(EGG_RULE_TO_F32, {units});
  const Node rest = builder.op(EGG_RULE_FSUB, {total, whole});
  // As float32, because an int32 may wrap if the update is huge.
  const Node target = builder.op(EGG_RULE_FADD, {builder.op(EGG_RULE_TO_F32, {builder.weight()}), whole});
  const Node at_top = builder.op(EGG_RULE_FLT, {builder.constant(126.5F), target});
  const Node at_bottom = builder.op(EGG_RULE_FLT, {target, builder.constant(-126.5F)});
  const Node not_above = builder.op(EGG_RULE_SELECT, {builder.op(EGG_RULE_FLT, {zero, rest}), zero, rest});
  const Node not_below = builder.op(EGG_RULE_SELECT, {builder.op(EGG_RULE_FLT, {rest, zero}), zero, rest});
  const Node inwards = builder.op(EGG_RULE_SELECT, {at_bottom, not_below, rest});
  builder.set_slot(carried, builder.op(EGG_RULE_SELECT, {at_top, not_above, inwards}));
  builder.delta(units);
}

// An optimizer whose only scalar is a learning rate that follows a schedule. A subclass must make the nodes of its rule
// with builder_, that scalar first.
class ScheduledRate : public Optimizer {
 public:
  explicit ScheduledRate(Settings& settings)
      : learning_rate_(settings.real("learning_rate", 0.0, 127.0)), schedule_(settings, "schedule") {}

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(const egg_progress& progress, float* out) override {
    out[0] = static_cast<float>(learning_rate_ * schedule_.share(progress));
  }

 protected:
  RuleBuilder builder_;

 private:
  double learning_rate_;
  Schedule schedule_;
};

}  // namespace eggroll

#endif
