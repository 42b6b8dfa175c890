// Runs a tile through tokens.
#ifndef EGGROLL_TILE_FORWARD_H
#define EGGROLL_TILE_FORWARD_H

#include "attention.h"
#include "elementwise.h"
#include "loss.h"
#include "tiled_linear.h"
#include "wide.h"

namespace eggroll::tile {

// One function for each op; an op without a function does not compile.
template <class S>
struct Kernels {
  static void run_embed(Tile<S>& tile, const egg_op& op) { Elementwise<S>::embed(tile, op); }
  static void run_linear(Tile<S>& tile, const egg_op& op) { Linear<S>::run(tile, op); }
  static void run_l1_norm(Tile<S>& tile, const egg_op& op) { Elementwise<S>::l1_norm(tile, op); }
  static void run_add(Tile<S>& tile, const egg_op& op) {
    const Plan& plan = tile.model.plan;
    const bool wide = plan.is_wide(op.in[0]) || plan.is_wide(op.in[1]) || plan.is_wide(op.out);
    wide ? Wide<S>::add(tile, op) : Elementwise<S>::add(tile, op);
  }
  static void run_gru_gate(Tile<S>& tile, const egg_op& op) { Elementwise<S>::gru_gate(tile, op); }
  static void run_gru_mix(Tile<S>& tile, const egg_op& op) { Elementwise<S>::gru_mix(tile, op); }
  static void run_store(Tile<S>& tile, const egg_op& op) { Elementwise<S>::store(tile, op); }
  static void run_lut(Tile<S>& tile, const egg_op& op) { Elementwise<S>::lut(tile, op); }
  static void run_max_norm(Tile<S>& tile, const egg_op& op) { Wide<S>::max_norm(tile, op); }
  static void run_rope(Tile<S>& tile, const egg_op& op) { Wide<S>::rope(tile, op); }
  static void run_attention(Tile<S>& tile, const egg_op& op) { Attention<S>::run(tile, op); }
  static void run_loss(Tile<S>& tile, const egg_op& op) { Loss<S>::run(tile, op); }

  using Function = void (*)(Tile<S>&, const egg_op&);
#define EGG_TILE_KERNEL(code, name, ...) &run_##name,
  static constexpr Function kAll[EGG_OP_COUNT] = {EGG_OPS(EGG_TILE_KERNEL)};
#undef EGG_TILE_KERNEL
};

// Finds what the lanes read at token t. before: what they read at the token before it.
template <class S>
void read_token(const egg_batch& batch, size_t t, const std::array<int64_t, Tile<S>::kMembers>& stream_of,
                size_t indices, const typename Tile<S>::Inputs& before, typename Tile<S>::Inputs& inputs) {
  constexpr size_t kMembers = Tile<S>::kMembers;
  inputs.position = t;
  int32_t all = -1;
  for (size_t i = 0; i < kMembers; ++i) {
    const bool used = stream_of[i] >= 0;
    const size_t at = used ? static_cast<size_t>(stream_of[i]) * batch.tokens + t : 0;
    inputs.tokens[i] = used ? batch.inputs[at] : 0;
    inputs.targets[i] = used ? batch.targets[at] : EGG_NO_TARGET;
    for (size_t j = 0; j < indices; ++j) {
      inputs.rows[j * kMembers + i] = used ? batch.rows[at * indices + j] : EGG_NO_ROW;
    }
    inputs.keep[i] = used && batch.resets[at] != 0 ? 0 : -1;
    inputs.first_visible[i] = t == 0 ? 0 : inputs.keep[i] == 0 ? static_cast<int32_t>(t) : before.first_visible[i];
    all &= inputs.keep[i];
  }
  inputs.reset = all == 0;
  inputs.oldest_visible =
      static_cast<size_t>(*std::min_element(inputs.first_visible.begin(), inputs.first_visible.end()));
}

// Reads all tokens of the batch. stream_of[lane]: the stream that the lane reads; negative: the lane is not used.
template <class S>
void run_tile(Tile<S>& tile, const egg_batch& batch, const std::array<int64_t, Tile<S>::kMembers>& stream_of) {
  const Plan& plan = tile.model.plan;
  const egg_program& program = *plan.program;
  tile.losses.fill(0);
  for (size_t first = 0; first < batch.tokens; first += plan.together) {
    const size_t count = std::min(plan.together, batch.tokens - first);
    for (size_t i = 0; i < count; ++i) {
      const size_t before = (i + plan.together - 1) % plan.together;
      read_token<S>(batch, first + i, stream_of, program.index_count, tile.inputs[before], tile.inputs[i]);
    }
    for (const PlanPart& part : plan.parts) {
      for (size_t i = 0; i < count; ++i) {
        tile.begin_part(part, i);
        for (size_t step = part.begin; step < part.end; ++step) {
          if (plan.steps[step].op < 0) continue;
          const egg_op& op = program.ops[plan.steps[step].op];
          Kernels<S>::kAll[op.code](tile, op);
          if (tile.listener != nullptr) tile.listener->after(tile, static_cast<uint32_t>(plan.steps[step].op));
        }
        if (tile.listener != nullptr) tile.listener->end(tile);
        tile.end_part(part);
      }
    }
  }
  tile.end(batch.tokens);
}

}  // namespace eggroll::tile

#endif
