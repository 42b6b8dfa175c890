#include "rule_plan.h"

#include <algorithm>
#include <cstring>

namespace eggroll::cuda {
namespace {

bool is_constant(const egg_rule_node& node) {
  return node.code == EGG_RULE_SCALAR || node.code == EGG_RULE_CONST_I32 || node.code == EGG_RULE_CONST_F32;
}

uint32_t bits_of(const egg_rule_node& node) {
  uint32_t bits = 0;
  if (node.code == EGG_RULE_CONST_I32) std::memcpy(&bits, &node.integer, sizeof(bits));
  if (node.code == EGG_RULE_CONST_F32) std::memcpy(&bits, &node.real, sizeof(bits));
  return bits;
}

}  // namespace

RulePlan::RulePlan(const egg_rule& rule) {
  constexpr size_t kNever = SIZE_MAX;
  std::vector<bool> is_result(rule.node_count, false);
  is_result[static_cast<size_t>(rule.delta)] = true;
  for (uint32_t s = 0; s < rule.slot_count; ++s) is_result[static_cast<size_t>(rule.slots[s].node)] = true;
  std::vector<size_t> last_reader(rule.node_count, kNever);
  std::vector<bool> is_read = is_result;
  for (size_t n = rule.node_count; n-- > 0;) {
    if (!is_read[n]) continue;
    for (const int32_t in : rule.nodes[n].in) {
      if (in < 0) continue;
      const auto i = static_cast<size_t>(in);
      is_read[i] = true;
      if (last_reader[i] == kNever) last_reader[i] = n;
    }
  }
  std::vector<int32_t> place(rule.node_count, 0);
  std::vector<int32_t> free;
  const auto add = [&](size_t n) {
    const egg_rule_node& from = rule.nodes[n];
    RuleNode node{from.code, {0, 0, 0}, 0, from.index, bits_of(from), 0};
    for (int k = 0; k < 3; ++k) {
      if (from.in[k] < 0) continue;
      const auto i = static_cast<size_t>(from.in[k]);
      node.in[k] = place[i];
      // A value that is read for the last time gives its place to the result.
      const bool again = std::find(from.in, from.in + k, from.in[k]) != from.in + k;
      if (last_reader[i] == n && !is_result[i] && !is_constant(rule.nodes[i]) && !again) free.push_back(place[i]);
    }
    if (free.empty()) free.push_back(static_cast<int32_t>(places++));
    place[n] = node.out = free.back();
    free.pop_back();
    nodes.push_back(node);
  };
  for (const bool constant : {true, false}) {
    for (size_t n = 0; n < rule.node_count; ++n) {
      if (is_read[n] && is_constant(rule.nodes[n]) == constant) add(n);
    }
    if (constant) constants = static_cast<uint32_t>(nodes.size());
  }
  for (uint32_t s = 0; s < rule.slot_count; ++s) {
    slot_places.push_back(place[static_cast<size_t>(rule.slots[s].node)]);
  }
  delta_place = place[static_cast<size_t>(rule.delta)];
}

}  // namespace eggroll::cuda
