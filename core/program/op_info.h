// The list of rule ops in eggroll/ops.h as a table.
#ifndef EGGROLL_PROGRAM_OP_INFO_H
#define EGGROLL_PROGRAM_OP_INFO_H

#include <array>
#include <string_view>

#include "eggroll/op_signature.h"

namespace eggroll {

struct RuleOpInfo {
  const char* name;
  char result;                // 'i' int32, 'f' float32, 't' the type of its operands or slot
  std::string_view operands;  // one letter each
};

#define EGG_RULE_INFO(code, name, result, operands, text) RuleOpInfo{#name, result, operands},
inline constexpr std::array<RuleOpInfo, EGG_RULE_COUNT> kRuleOpInfo{{EGG_RULE_OPS(EGG_RULE_INFO)}};
#undef EGG_RULE_INFO

}  // namespace eggroll

#endif
