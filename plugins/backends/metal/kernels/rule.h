// The rule for one weight. Nodes are evaluated in order, and their values lie in device memory, a column for each
// thread. Floats are stored as their bits: see float32.h.
#ifndef EGGROLL_METAL_RULE_H
#define EGGROLL_METAL_RULE_H

#include "draw.h"
#include "eggroll/rule_arithmetic.h"
#include "float32.h"

// The data of a weight that nodes read.
struct RuleInputs {
  int64_t vote;
  uint32_t vote_std;
  int32_t weight;
  constant uint32_t* scalars;
  device const uint32_t* slots;  // of this weight
  uint64_t slot_stride;
};

// What a node without operands reads.
struct NodeInputs {
  RuleNode node;
  RuleInputs in;

  uint32_t vote_i32() const { return static_cast<uint32_t>(in.vote); }
  uint32_t vote_f32() const { return f32_from_int64(in.vote); }
  uint32_t vote_std() const { return in.vote_std; }
  uint32_t weight() const { return static_cast<uint32_t>(in.weight); }
  uint32_t slot() const { return in.slots[static_cast<uint32_t>(node.index) * in.slot_stride]; }
  uint32_t scalar() const { return in.scalars[node.index]; }
  uint32_t const_i32() const { return node.constant_bits; }
  uint32_t const_f32() const { return node.constant_bits; }
};

// Evaluates the rule in one thread.
struct RuleRun {
  RuleShape shape;
  constant RuleNode* nodes;
  constant int32_t* slot_nodes;
  constant uint32_t* scalars;
  device uint32_t* mine;  // the thread's column
  uint32_t column;        // to the next node's value

  uint64_t place(int32_t node) const { return uint64_t(static_cast<uint32_t>(node)) * column; }
};

// thread_number: among those of the dispatch.
inline RuleRun rule_run(constant RuleShape& shape, constant RuleNode* nodes, constant int32_t* slot_nodes,
                        constant uint32_t* scalars, device uint32_t* columns, uint32_t thread_number) {
  RuleRun run;
  run.shape = own(shape);
  run.nodes = nodes;
  run.slot_nodes = slot_nodes;
  run.scalars = scalars;
  run.mine = columns + thread_number;
  run.column = shape.groups * kThreads;
  return run;
}

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
    NodeInputs inputs;
    inputs.node = own(run.nodes[n]);
    inputs.in = in;
    uint32_t operands[3];
    for (uint32_t k = 0; k < 3; ++k) {
      const int32_t operand = inputs.node.in[k];
      operands[k] = operand < 0 ? 0 : run.mine[run.place(operand)];
    }
    run.mine[uint64_t(n) * run.column] =
        egg_rule_value<Float32>(inputs.node.code, inputs, operands[0], operands[1], operands[2]);
  }
  // Every node has read the old slots by now.
  for (uint32_t s = 0; s < run.shape.slot_count; ++s) {
    slots[uint64_t(s) * slot_stride] = run.mine[run.place(run.slot_nodes[s])];
  }
  const int32_t delta = static_cast<int32_t>(run.mine[run.place(run.shape.delta)]);
  const int32_t next = egg_moved(in.weight, delta);
  *weight = static_cast<int8_t>(next);
  return next != in.weight ? 1 : 0;
}

// Moves four columns of a table's row, from 4 * word on, by their votes. Returns how many have moved.
inline uint32_t apply_to_row(thread const RuleRun& run, MaskedJob job, VotedRow row, uint32_t word,
                             thread const int64_t* votes, device int8_t* weights, device uint32_t* slots) {
  uint32_t moved = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t col = 4 * word + k;
    if (col >= job.cols) break;
    device int8_t* weight = weights + job.weights + uint64_t(row.row) * job.stride + col;
    device uint32_t* own_slots = slots + job.slots + uint64_t(row.row) * job.cols + col;
    moved += apply_rule(run, votes[k], row.vote_std, weight, own_slots, job.count);
  }
  return moved;
}

#endif
