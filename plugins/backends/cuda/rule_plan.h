// A rule as the kernel runs it: without nodes that nothing reads, those that are the same for all weights first, and
// each node's value in a place that is free again when its last reader has read it. Host code, no CUDA.
#ifndef EGGROLL_CUDA_RULE_PLAN_H
#define EGGROLL_CUDA_RULE_PLAN_H

#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll::cuda {

struct alignas(16) RuleNode {
  int32_t code;   // egg_rule_code
  int32_t in[3];  // places; 0 if absent
  int32_t out;    // place
  int32_t index;  // slot or scalar
  uint32_t bits;  // of a constant
  uint32_t reserved;
};

struct RulePlan {
  explicit RulePlan(const egg_rule& rule);

  std::vector<RuleNode> nodes;
  uint32_t constants = 0;  // the first of the nodes: the same for all weights of an update
  uint32_t places = 0;
  std::vector<int32_t> slot_places;  // of each slot's new value
  int32_t delta_place = 0;
};

}  // namespace eggroll::cuda

#endif
