// Evaluation of an update rule, one weight at a time.
#ifndef EGGROLL_REFERENCE_RULE_H
#define EGGROLL_REFERENCE_RULE_H

#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll::reference {

struct RuleInputs {
  int64_t vote;
  float vote_std;
  int32_t weight;
  const float* scalars;
};

// slots: (slot_count) of this weight, read and replaced. nodes: working memory, node_count values. Returns the weight's
// change.
int32_t run_rule(const egg_rule& rule, const RuleInputs& inputs, uint32_t* slots, std::vector<uint32_t>& nodes);

}  // namespace eggroll::reference

#endif
