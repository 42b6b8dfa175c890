#include "program/average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "eggroll/error.h"

namespace eggroll {
namespace {

constexpr const char* kSlotName = "average";
constexpr const char* kScalarName = "average_kept";

// The nodes of a rule, and those that follow them.
class Nodes {
 public:
  explicit Nodes(const egg_rule& rule) : all(rule.nodes, rule.nodes + rule.node_count) {}

  int32_t op(egg_rule_code code, int32_t a = -1, int32_t b = -1, int32_t c = -1) {
    all.push_back({code, {a, b, c}, 0, 0, 0.0F});
    return static_cast<int32_t>(all.size()) - 1;
  }
  int32_t constant(float real) {
    const int32_t node = op(EGG_RULE_CONST_F32);
    all.back().real = real;
    return node;
  }
  int32_t at(egg_rule_code code, uint32_t index) {
    const int32_t node = op(code);
    all.back().index = static_cast<int32_t>(index);
    return node;
  }

  std::vector<egg_rule_node> all;
};

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
  std::vector<egg_slot> slots = own.slots();
  std::vector<const char*> scalars = own.scalar_names();

  Nodes nodes(own.view());
  const int32_t difference = nodes.at(EGG_RULE_SLOT, own.view().slot_count);
  const int32_t kept = nodes.at(EGG_RULE_SCALAR, own.view().scalar_count);
  const int32_t weight = nodes.op(EGG_RULE_TO_F32, nodes.op(EGG_RULE_WEIGHT));
  // As float32, for an int32 may wrap where delta is huge. Sums that are not exact lie far beyond the bounds.
  const int32_t target = nodes.op(EGG_RULE_FADD, weight, nodes.op(EGG_RULE_TO_F32, own.view().delta));
  const int32_t top = nodes.constant(127.0F);
  const int32_t bottom = nodes.constant(-127.0F);
  const int32_t below = nodes.op(EGG_RULE_SELECT, nodes.op(EGG_RULE_FLT, top, target), top, target);
  const int32_t clipped = nodes.op(EGG_RULE_SELECT, nodes.op(EGG_RULE_FLT, below, bottom), bottom, below);
  const int32_t moved = nodes.op(EGG_RULE_FSUB, clipped, weight);
  const int32_t rest = nodes.op(EGG_RULE_FSUB, difference, moved);
  slots.push_back({kSlotName, 'f', nodes.op(EGG_RULE_FMUL, kept, rest)});
  scalars.push_back(kScalarName);

  egg_rule view = own.view();
  view.struct_size = sizeof(egg_rule);
  view.node_count = static_cast<uint32_t>(nodes.all.size());
  view.slot_count = static_cast<uint32_t>(slots.size());
  view.scalar_count = static_cast<uint32_t>(scalars.size());
  view.nodes = nodes.all.data();
  view.slots = slots.data();
  view.scalar_names = scalars.data();
  return std::make_unique<Rule>(view);
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
