// The right shifts after products, as models let a configuration name them.
#ifndef EGGROLL_MODELS_COMMON_SHIFT_RULE_H
#define EGGROLL_MODELS_COMMON_SHIFT_RULE_H

#include <map>
#include <string>
#include <vector>

#include "eggroll/op_signature.h"
#include "eggroll/settings.h"

namespace eggroll {

// The integer nearest to log2(n) / halves, halves rounding up; n >= 1, halves 1 or 2.
inline int32_t rounded_log2(int64_t n, int32_t halves) {
  const int64_t squared = halves == 1 ? n * n : n;
  int32_t k = 0;
  while (squared >> (2 * k + 1) != 0) ++k;
  return k;
}

// The shifts that are settings of their own under shift_rule fixed, by key; under any other rule they are null.
inline std::map<std::string, int32_t> read_shifts(Settings& settings, bool fixed,
                                                  const std::vector<std::string>& keys) {
  std::map<std::string, int32_t> shifts;
  for (const std::string& key : keys) {
    if (fixed) {
      shifts[key] = settings.int32(key, 0, kLargestShift);
    } else if (!settings.is_null(key)) {
      throw setting_error(key, key + " is given, expected null unless shift_rule is fixed; change one of them");
    }
  }
  return shifts;
}

}  // namespace eggroll

#endif
