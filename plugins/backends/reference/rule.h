// Evaluation of an update rule, one weight at a time.
#ifndef EGGROLL_REFERENCE_RULE_H
#define EGGROLL_REFERENCE_RULE_H

#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll::reference {

// A node's value: which member is live follows from the node's type.
union Cell {
  int32_t i;
  float f;
};

struct RuleInputs {
  int64_t vote;
  float vote_std;
  int32_t weight;
  const float* scalars;
};

// slots: (slot_count) cells of this weight, read and replaced. nodes: working memory, node_count cells. Returns the
// weight's change.
int32_t run_rule(const egg_rule& rule, const RuleInputs& inputs, Cell* slots, std::vector<Cell>& nodes);

}  // namespace eggroll::reference

#endif
