// The op lists of eggroll/ops.h as tables.
#ifndef EGGROLL_PROGRAM_OP_INFO_H
#define EGGROLL_PROGRAM_OP_INFO_H

#include <array>
#include <string_view>

#include "eggroll/ops.h"

namespace eggroll {

struct OpInfo {
  const char* name;
  int required_values;
  int optional_values;
  int required_params;
  int optional_params;  // of them each is a bias
  const char* text;
};

#define EGG_OP_INFO(code, name, required_values, optional_values, required_params, optional_params, text) \
  OpInfo{#name, required_values, optional_values, required_params, optional_params, text},
inline constexpr std::array<OpInfo, EGG_OP_COUNT> kOpInfo{{EGG_OPS(EGG_OP_INFO)}};
#undef EGG_OP_INFO

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
