// Cases for every rule op. The operands a, b, c are slots that the runner fills with ordinary values and with the edges
// of their type (largest, smallest, denormal, infinite, NaN), so one case covers thousands of operand pairs.
#include <fmt/format.h>

#include "conformance/cases.h"
#include "eggroll/error.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

// An op of slots.
Node make_node(RuleBuilder& rule, egg_rule_code code, char any) {
  const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(code)];
  const char* names[] = {"a", "b", "c"};
  Node in[3];
  for (size_t k = 0; k < info.operands.size(); ++k) {
    const char type = info.operands[k] == 't' ? any : info.operands[k];
    in[k] = rule.slot(names[k], type);
    rule.set_slot(in[k], in[k]);
  }
  switch (info.operands.size()) {
    case 1:
      return rule.op(code, {in[0]});
    case 2:
      return rule.op(code, {in[0], in[1]});
    default:
      return rule.op(code, {in[0], in[1], in[2]});
  }
}

// An op without operands.
Node leaf(RuleBuilder& rule, egg_rule_code code, char type) {
  if (code == EGG_RULE_SLOT) {
    const Node slot = rule.slot("a", type);
    rule.set_slot(slot, slot);
    return slot;
  }
  if (code == EGG_RULE_SCALAR) {
    rule.scalar("first");
    return rule.scalar("second");
  }
  if (code == EGG_RULE_CONST_I32) return rule.constant(-1234567);
  if (code == EGG_RULE_CONST_F32) return rule.constant(-0.1F);
  if (code == EGG_RULE_VOTE_I32) return rule.vote_i32();
  if (code == EGG_RULE_VOTE_F32) return rule.vote_f32();
  if (code == EGG_RULE_VOTE_STD) return rule.vote_std();
  if (code == EGG_RULE_WEIGHT) return rule.weight();
  throw Error(
      fmt::format("the rule op '{}' has no conformance case; add one", kRuleOpInfo[static_cast<size_t>(code)].name));
}

void add_cases(std::vector<RuleCase>& cases, egg_rule_code code) {
  const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(code)];
  const bool either = info.result == 't';
  for (const char type : either ? std::string("if") : std::string(1, info.result)) {
    RuleCase test{code, fmt::format("rule {} {}", info.name, type == 'i' ? "int32" : "float32"), {}};
    test.build = [=](RuleBuilder& rule) {
      const Node result = info.operands.empty() ? leaf(rule, code, type) : make_node(rule, code, type);
      const Node out = rule.slot("out", type);
      rule.set_slot(out, result);
      // The weight moves with the result, far enough to saturate at times.
      rule.delta(type == 'i' ? result : rule.op(EGG_RULE_TRUNC_I32, {result}));
    };
    cases.push_back(std::move(test));
  }
}

}  // namespace

std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> cases;
  for (int code = 0; code < EGG_RULE_COUNT; ++code) add_cases(cases, static_cast<egg_rule_code>(code));
  return cases;
}

}  // namespace eggroll
