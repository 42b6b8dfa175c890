#include "rule.h"

#include <cmath>

#include "eggroll/arithmetic.h"

namespace eggroll::reference {
namespace {

// Wraps modulo 2^32, without the undefined behaviour of signed overflow.
int32_t wrap(uint32_t x) { return static_cast<int32_t>(x); }
uint32_t bits(int32_t x) { return static_cast<uint32_t>(x); }

using NodeFunction = Cell (*)(const egg_rule_node&, const RuleInputs&, const Cell* slots, const Cell& a, const Cell& b,
                              const Cell& c);

#define EGG_NODE(name)                                                                                                 \
  Cell node_##name([[maybe_unused]] const egg_rule_node& node, [[maybe_unused]] const RuleInputs& in,                  \
                   [[maybe_unused]] const Cell* slots, [[maybe_unused]] const Cell& a, [[maybe_unused]] const Cell& b, \
                   [[maybe_unused]] const Cell& c)
EGG_NODE(vote_i32) { return {.i = static_cast<int32_t>(in.vote)}; }
EGG_NODE(vote_f32) { return {.f = static_cast<float>(in.vote)}; }
EGG_NODE(vote_std) { return {.f = in.vote_std}; }
EGG_NODE(weight) { return {.i = in.weight}; }
EGG_NODE(slot) { return slots[node.index]; }
EGG_NODE(scalar) { return {.f = in.scalars[node.index]}; }
EGG_NODE(const_i32) { return {.i = node.integer}; }
EGG_NODE(const_f32) { return {.f = node.real}; }
EGG_NODE(iadd) { return {.i = wrap(bits(a.i) + bits(b.i))}; }
EGG_NODE(isub) { return {.i = wrap(bits(a.i) - bits(b.i))}; }
EGG_NODE(imul) { return {.i = wrap(bits(a.i) * bits(b.i))}; }
EGG_NODE(ilt) { return {.i = a.i < b.i ? 1 : 0}; }
EGG_NODE(fadd) { return {.f = a.f + b.f}; }
EGG_NODE(fsub) { return {.f = a.f - b.f}; }
EGG_NODE(fmul) { return {.f = a.f * b.f}; }
EGG_NODE(fdiv) { return {.f = a.f / b.f}; }
EGG_NODE(fsqrt) { return {.f = std::sqrt(a.f)}; }
EGG_NODE(fabs) { return {.f = std::fabs(a.f)}; }
EGG_NODE(flt) { return {.i = a.f < b.f ? 1 : 0}; }
EGG_NODE(select) { return a.i != 0 ? b : c; }
EGG_NODE(to_f32) { return {.f = static_cast<float>(a.i)}; }
EGG_NODE(trunc_i32) { return {.i = egg_trunc_i32(a.f)}; }
#undef EGG_NODE

// Made from the list of rule ops: one without an implementation does not compile.
#define EGG_NODE_FUNCTION(code, name, result, operands, text) &node_##name,
constexpr NodeFunction kNodes[EGG_RULE_COUNT] = {EGG_RULE_OPS(EGG_NODE_FUNCTION)};
#undef EGG_NODE_FUNCTION

}  // namespace

int32_t run_rule(const egg_rule& rule, const RuleInputs& inputs, Cell* slots, std::vector<Cell>& nodes) {
  const Cell none{.i = 0};
  for (uint32_t n = 0; n < rule.node_count; ++n) {
    const egg_rule_node& node = rule.nodes[n];
    const auto operand = [&](int k) -> const Cell& {
      return node.in[k] < 0 ? none : nodes[static_cast<size_t>(node.in[k])];
    };
    nodes[n] = kNodes[node.code](node, inputs, slots, operand(0), operand(1), operand(2));
  }
  // Every node has read the old slots by now.
  for (uint32_t s = 0; s < rule.slot_count; ++s) slots[s] = nodes[static_cast<size_t>(rule.slots[s].node)];
  return nodes[static_cast<size_t>(rule.delta)].i;
}

}  // namespace eggroll::reference
