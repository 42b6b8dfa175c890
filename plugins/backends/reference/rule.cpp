#include "rule.h"

#include "eggroll/rule_arithmetic.h"

namespace eggroll::reference {
namespace {

// What a node without operands reads.
struct NodeInputs {
  const egg_rule_node& node;
  const RuleInputs& in;
  const uint32_t* slots;

  uint32_t vote_i32() const { return static_cast<uint32_t>(in.vote); }
  uint32_t vote_f32() const { return egg_bits_of(static_cast<float>(in.vote)); }
  uint32_t vote_std() const { return egg_bits_of(in.vote_std); }
  uint32_t weight() const { return static_cast<uint32_t>(in.weight); }
  uint32_t slot() const { return slots[node.index]; }
  uint32_t scalar() const { return egg_bits_of(in.scalars[node.index]); }
  uint32_t const_i32() const { return static_cast<uint32_t>(node.integer); }
  uint32_t const_f32() const { return egg_bits_of(node.real); }
};

}  // namespace

int32_t run_rule(const egg_rule& rule, const RuleInputs& inputs, uint32_t* slots, std::vector<uint32_t>& nodes) {
  for (uint32_t n = 0; n < rule.node_count; ++n) {
    const egg_rule_node& node = rule.nodes[n];
    const auto operand = [&](int k) { return node.in[k] < 0 ? 0 : nodes[static_cast<size_t>(node.in[k])]; };
    nodes[n] =
        egg_rule_value<egg_float32>(node.code, NodeInputs{node, inputs, slots}, operand(0), operand(1), operand(2));
  }
  // Every node has read the old slots by now.
  for (uint32_t s = 0; s < rule.slot_count; ++s) slots[s] = nodes[static_cast<size_t>(rule.slots[s].node)];
  return static_cast<int32_t>(nodes[static_cast<size_t>(rule.delta)]);
}

}  // namespace eggroll::reference
