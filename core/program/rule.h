// The host's own copy of an optimizer's update rule: validated, printable, hashed.
#ifndef EGGROLL_PROGRAM_RULE_H
#define EGGROLL_PROGRAM_RULE_H

#include <cstdint>
#include <string>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

class Rule {
 public:
  // Copies and validates: operands must come earlier and have the right types, slots must be typed, the weight change
  // be an int32. Names must pass fault_of_name() and be unique; no scalar may have a name that metrics use.
  explicit Rule(const egg_rule& source);
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  const egg_rule& view() const { return view_; }
  const std::vector<egg_slot>& slots() const { return slots_; }
  const std::vector<const char*>& scalar_names() const { return scalar_names_; }
  std::string text() const;
  std::string hash() const;

 private:
  std::vector<std::string> names_;
  std::vector<egg_rule_node> nodes_;
  std::vector<egg_slot> slots_;
  std::vector<const char*> scalar_names_;
  egg_rule view_;
};

// The type of each node: 'i' or 'f'. Throws Error if the rule is malformed.
std::vector<char> rule_types(const egg_rule& rule);

// A rule that moves nothing, for a session that must have one.
Rule idle_rule();

// Throws Error if the rule reads the vote as int32 and pairs * 127 * noise^2 * rank does not fit int32.
void require_votes_fit(const egg_rule& rule, const egg_noise& noise, uint32_t pairs);

}  // namespace eggroll

#endif
