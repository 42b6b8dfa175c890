// The forward pass: a threadgroup has a tile of members and runs the program op by op, token by token.
#include <metal_stdlib>
#ifdef EGG_INT8_UNITS
#include <metal_tensor>
//
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#endif

#include "attention.h"
#include "elementwise.h"
#include "linear.h"
#include "norm.h"

inline void run_op(thread const Tile& tile, constant DeviceOp& op) {
  switch (op.code) {
    case kLoadState:
      return run_load_state(tile, op);
    case kKeepValue:
      return run_keep_value(tile, op);
    case kTakeValue:
      return run_take_value(tile, op);
#define EGG_RUN_OP(code, name, ...) \
  case EGG_OP_##code:               \
    return run_##name(tile, op);
      EGG_OPS(EGG_RUN_OP)
#undef EGG_RUN_OP
  }
}

// After the last token; of a state they are what it is then.
inline void write_logits(thread const Tile& tile, constant DeviceOp& loss) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    device const int8_t* from = loss.of_state != 0 ? tile.state(row, loss.state) : tile.narrow(loss.in[0], row);
    device int8_t* to = tile.kept + uint64_t(tile.row_of_call(row)) * tile.args->vocab;
    for (uint32_t v = tile.lane; v < tile.args->vocab; v += kLanes) to[v] = from[v];
  }
}

EGG_KERNEL forward(EGG_ARGUMENTS(ForwardArgs), EGG_CONSTANTS(DeviceOp, ops, kBindOps),
                   EGG_CONSTANTS(NoisePart, parts, kBindNoiseParts), EGG_BUFFER(const int8_t, weights, kBindWeights),
                   EGG_BUFFER(const half, halves, kBindHalves), EGG_BUFFER(const int32_t, tables, kBindTables),
                   EGG_BUFFER(const egg_loss_tables, loss_tables, kBindLossTables),
                   EGG_BUFFER(const int8_t, noise, kBindNoise), EGG_BUFFER(const uint32_t, inputs, kBindInputs),
                   EGG_BUFFER(const uint32_t, targets, kBindTargets), EGG_BUFFER(const uint8_t, resets, kBindResets),
                   EGG_BUFFER(const uint32_t, index_rows, kBindIndexRows),
                   EGG_BUFFER(const int8_t, before, kBindStatesBefore), EGG_BUFFER(int8_t, states, kBindStates),
                   EGG_BUFFER(int8_t, kept, kBindKept), EGG_BUFFER(uint8_t, workspace, kBindWorkspace), EGG_THREAD) {
  Tile tile;
  tile.args = &args;
  tile.weights = weights;
  tile.halves = halves;
  tile.tables = tables;
  tile.loss_tables = loss_tables;
  tile.noise_values = noise;
  tile.inputs = inputs;
  tile.targets = targets;
  tile.resets = resets;
  tile.index_rows = index_rows;
  tile.states = states;
  tile.kept = kept;
  tile.number = args.first_tile + group;
  tile.workspace = workspace + tile.number * args.workspace_stride;
  tile.scratch = scratch;
  tile.rows = min(kTileRows, args.rows - tile.number * kTileRows);
  tile.lane = lane;
  tile.simdgroup = simdgroup;
  if (args.first_token == 0) draw_noise(tile, parts);
  bring_states(tile, before);
  threadgroup_barrier(mem_flags::mem_device);
  for (tile.token = args.first_token; tile.token < args.end_token; ++tile.token) {
    const bool is_at_place = args.place_ops != 0 && tile.token == 0;
    for (uint32_t i = is_at_place ? 0 : args.place_ops; i < (is_at_place ? args.place_ops : args.op_count); ++i) {
      run_op(tile, ops[i]);
      threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    }
  }
  if (args.wants_logits != 0 && args.end_token == args.tokens) write_logits(tile, ops[args.op_count - 1]);
}
