// The rule, a thread a weight: nodes are evaluated in turn, their values kept in device memory, a column a thread.
// Floats are their bits: see float32.h.
#include <metal_stdlib>

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
  switch (node.code) {
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
    default:  // EGG_RULE_TRUNC_I32
      return static_cast<uint32_t>(egg_trunc_i32(as_type<float>(a)));
  }
}

kernel void rule(constant RuleArgs& args [[buffer(0)]], device const RuleNode* nodes [[buffer(1)]],
                 device const int32_t* slot_nodes [[buffer(2)]], device const RuleJob* jobs [[buffer(3)]],
                 device const uint32_t* scalars [[buffer(4)]], device const uint32_t* vote_stds [[buffer(5)]],
                 device const int64_t* votes [[buffer(6)]], device int8_t* weights [[buffer(7)]],
                 device uint32_t* slots [[buffer(8)]], device uint32_t* columns [[buffer(9)]],
                 device atomic_uint* changed [[buffer(10)]], EGG_THREAD) {
  const uint32_t thread_number = simdgroup * kLanes + lane;
  const uint32_t column = args.groups * kThreads;
  device uint32_t* mine = columns + group * kThreads + thread_number;
  uint32_t at = 0;
  for (uint32_t piece = group; piece < args.pieces; piece += args.groups) {
    while (at + 1 < args.job_count && jobs[at + 1].first <= piece) ++at;
    const RuleJob job = own(jobs[at]);
    const uint32_t i = (piece - job.first) * kThreads + thread_number;
    uint32_t moved = 0;
    if (i < job.count) {
      device int8_t* weight = weights + job.weights + uint64_t(i / job.cols) * job.stride + i % job.cols;
      RuleInputs in;
      in.vote = 0;
      for (uint32_t s = 0; s < args.shares; ++s) in.vote += votes[s * args.cells + job.cells + i];
      in.vote_std = vote_stds[job.param];
      in.weight = *weight;
      in.scalars = scalars;
      in.slots = slots + job.slots + i;
      in.slot_stride = job.count;
      for (uint32_t n = 0; n < args.node_count; ++n) {
        const RuleNode node = own(nodes[n]);
        uint32_t operands[3];
        for (uint32_t k = 0; k < 3; ++k) {
          operands[k] = node.in[k] < 0 ? 0 : mine[uint64_t(static_cast<uint32_t>(node.in[k])) * column];
        }
        mine[uint64_t(n) * column] = node_value(node, in, operands[0], operands[1], operands[2]);
      }
      // Every node has read the old slots by now.
      for (uint32_t s = 0; s < args.slot_count; ++s) {
        slots[job.slots + uint64_t(s) * job.count + i] = mine[uint64_t(static_cast<uint32_t>(slot_nodes[s])) * column];
      }
      const int32_t delta = static_cast<int32_t>(mine[uint64_t(static_cast<uint32_t>(args.delta)) * column]);
      const int32_t next = egg_clip(in.weight + egg_clip(delta, 254), 127);
      moved = next != in.weight ? 1 : 0;
      *weight = static_cast<int8_t>(next);
    }
    moved = simd_sum(moved);
    if (lane == 0 && moved > 0) atomic_fetch_add_explicit(changed + job.param, moved, memory_order_relaxed);
  }
}
