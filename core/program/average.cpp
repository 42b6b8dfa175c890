#include "program/average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "eggroll/error.h"
#include "eggroll/rule_builder.h"

namespace eggroll {
namespace {

constexpr const char* kSlotName = "average";
constexpr const char* kScalarName = "average_kept";

void require_free(const char* what, const char* taken, const char* name, const std::string& who) {
  if (std::string_view(taken) != name) return;
  throw setting_error(
      "average", fmt::format("average is a number, but {} has a {} '{}' of its own, and the average of the weights "
                             "needs that name; set average to null, or rename the {}",
                             who, what, name, what));
}

}  // namespace

std::unique_ptr<Rule> rule_with_average(const egg_rule& source, const std::string& who) {
  const Rule own(source);  // valid from here on
  for (const egg_slot& slot : own.slots()) require_free("slot", slot.name, kSlotName, who);
  for (const char* scalar : own.scalar_names()) require_free("scalar", scalar, kScalarName, who);

  RuleBuilder rule(own.view());
  const Node difference = rule.slot(kSlotName, 'f');
  const Node kept = rule.scalar(kScalarName);
  const Node weight = rule.op(EGG_RULE_TO_F32, {rule.weight()});
  // As float32, because an int32 may wrap if delta is huge. Sums that are not exact lie far beyond the bounds.
  const Node target = rule.op(EGG_RULE_FADD, {weight, rule.op(EGG_RULE_TO_F32, {Node{own.view().delta}})});
  const Node top = rule.constant(127.0F);
  const Node bottom = rule.constant(-127.0F);
  const Node below = rule.op(EGG_RULE_SELECT, {rule.op(EGG_RULE_FLT, {top, target}), top, target});
  const Node clipped = rule.op(EGG_RULE_SELECT, {rule.op(EGG_RULE_FLT, {below, bottom}), bottom, below});
  const Node moved = rule.op(EGG_RULE_FSUB, {clipped, weight});
  const Node rest = rule.op(EGG_RULE_FSUB, {difference, moved});
  rule.set_slot(difference, rule.op(EGG_RULE_FMUL, {kept, rest}));
  return std::make_unique<Rule>(*rule.view());
}

float average_kept(double share, uint64_t step) {
  const auto done = static_cast<double>(step);
  return static_cast<float>(std::min(share, (1.0 + done) / (10.0 + done)));
}

int8_t averaged_weight(int8_t weight, float difference) {
  const double average = std::round(static_cast<double>(weight) + static_cast<double>(difference));
  return static_cast<int8_t>(std::clamp(average, -127.0, 127.0));
}

}  // namespace eggroll
