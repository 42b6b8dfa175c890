// The rule on one weight: nodes are evaluated in turn, their values kept in device memory, a column a thread. Floats
// are their bits: see float32.h.
#ifndef EGGROLL_METAL_RULE_H
#define EGGROLL_METAL_RULE_H

#include "draw.h"
#include "float32.h"

// What a node reads beside its operands.
struct RuleInputs {
  int64_t vote;
  uint32_t vote_std;
  int32_t weight;
  device const uint32_t* scalars;
  device const uint32_t* slots;  // of this weight
  uint64_t slot_stride;
};

inline uint32_t node_value(RuleNode node, RuleInputs in, uint32_t a, uint32_t b, uint32_t c) {
  switch (static_cast<egg_rule_code>(node.code)) {
    case EGG_RULE_VOTE_I32:
      return static_cast<uint32_t>(in.vote);
    case EGG_RULE_VOTE_F32:
      return f32_from_int64(in.vote);
    case EGG_RULE_VOTE_STD:
      return in.vote_std;
    case EGG_RULE_WEIGHT:
      return static_cast<uint32_t>(in.weight);
    case EGG_RULE_SLOT:
      return in.slots[static_cast<uint32_t>(node.index) * in.slot_stride];
    case EGG_RULE_SCALAR:
      return in.scalars[node.index];
    case EGG_RULE_CONST_I32:
    case EGG_RULE_CONST_F32:
      return node.constant_bits;
    case EGG_RULE_IADD:
      return a + b;
    case EGG_RULE_ISUB:
      return a - b;
    case EGG_RULE_IMUL:
      return a * b;
    case EGG_RULE_ILT:
      return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? 1 : 0;
    case EGG_RULE_FADD:
      return f32_add(a, b);
    case EGG_RULE_FSUB:
      return f32_subtract(a, b);
    case EGG_RULE_FMUL:
      return f32_multiply(a, b);
    case EGG_RULE_FDIV:
      return f32_divide(a, b);
    case EGG_RULE_FSQRT:
      return f32_square_root(a);
    case EGG_RULE_FABS:
      return a & ~EGG_F32_SIGN;
    case EGG_RULE_FLT:
      return f32_less(a, b) ? 1 : 0;
    case EGG_RULE_SELECT:
      return a != 0 ? b : c;
    case EGG_RULE_TO_F32:
      return f32_from_int64(static_cast<int32_t>(a));
    case EGG_RULE_TRUNC_I32:
      return static_cast<uint32_t>(egg_trunc_i32(as_type<float>(a)));
    case EGG_RULE_COUNT:
      break;
  }
  return 0;
}

// A thread's way through the rule.
struct RuleRun {
  RuleShape shape;
  device const RuleNode* nodes;
  device const int32_t* slot_nodes;
  device const uint32_t* scalars;
  device uint32_t* mine;  // the thread's column
  uint32_t column;        // to the next node's value

  uint64_t place(int32_t node) const { return uint64_t(static_cast<uint32_t>(node)) * column; }
};

// Moves a weight and its slots, the next of which is slot_stride further on. 1 where the weight is another than before.
inline uint32_t apply_rule(thread const RuleRun& run, int64_t vote, uint32_t vote_std, device int8_t* weight,
                           device uint32_t* slots, uint64_t slot_stride) {
  RuleInputs in;
  in.vote = vote;
  in.vote_std = vote_std;
  in.weight = *weight;
  in.scalars = run.scalars;
  in.slots = slots;
  in.slot_stride = slot_stride;
  for (uint32_t n = 0; n < run.shape.node_count; ++n) {
    const RuleNode node = own(run.nodes[n]);
    uint32_t operands[3];
    for (uint32_t k = 0; k < 3; ++k) operands[k] = node.in[k] < 0 ? 0 : run.mine[run.place(node.in[k])];
    run.mine[uint64_t(n) * run.column] = node_value(node, in, operands[0], operands[1], operands[2]);
  }
  // Every node has read the old slots by now.
  for (uint32_t s = 0; s < run.shape.slot_count; ++s) {
    slots[uint64_t(s) * slot_stride] = run.mine[run.place(run.slot_nodes[s])];
  }
  const int32_t delta = static_cast<int32_t>(run.mine[run.place(run.shape.delta)]);
  const int32_t next = egg_clip(in.weight + egg_clip(delta, 254), 127);
  *weight = static_cast<int8_t>(next);
  return next != in.weight ? 1 : 0;
}

#endif
