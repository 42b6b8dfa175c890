// Proof that EGG_SPEC_HASH in ops.h names the op set and noise that these headers define.
#ifndef EGGROLL_SPEC_H
#define EGGROLL_SPEC_H

#include <cstdint>
#include <string_view>

#include "eggroll/ops.h"

namespace eggroll {

#define EGG_TEXT_OF(code, name, a, b, c, d, text, ...) #code text #a #b #c #d
#define EGG_RULE_TEXT_OF(code, name, result, operands, text) #code #result operands text
inline constexpr std::string_view kSpecText =
    "spec " EGG_SPEC_REVISION " " EGG_OPS(EGG_TEXT_OF) EGG_RULE_OPS(EGG_RULE_TEXT_OF);
#undef EGG_TEXT_OF
#undef EGG_RULE_TEXT_OF

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * UINT64_C(0x100000001b3);
  return hash;
}

template <uint64_t kDefined, uint64_t kDeclared>
struct SpecHashCheck {
  static_assert(kDefined == kDeclared, "set EGG_SPEC_HASH in ops.h to the first number of this template");
  static constexpr bool value = true;
};
static_assert(SpecHashCheck<fnv1a(kSpecText), EGG_SPEC_HASH>::value);

}  // namespace eggroll

#endif
