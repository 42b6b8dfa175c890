// The token step of a tile.
#ifndef EGGROLL_TILE_FORWARD_H
#define EGGROLL_TILE_FORWARD_H

#include "attention.h"
#include "elementwise.h"
#include "linear.h"
#include "loss.h"
#include "wide.h"

namespace eggroll::tile {

// One function an op; an op without one does not compile.
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

// Reads all tokens of the batch. stream_of[lane]: the stream that a lane reads, negative for a lane that is not used.
template <class S>
void run_tile(Tile<S>& tile, const egg_batch& batch, const std::array<int64_t, Tile<S>::kMembers>& stream_of) {
  constexpr size_t kMembers = Tile<S>::kMembers;
  const egg_program& program = *tile.model.plan.program;
  const size_t indices = program.index_count;
  tile.losses.fill(0);
  tile.first_visible.fill(0);
  for (size_t t = 0; t < batch.tokens; ++t) {
    tile.position = t;
    std::array<int32_t, kMembers> keep;
    int32_t all = -1;
    for (size_t i = 0; i < kMembers; ++i) {
      const bool used = stream_of[i] >= 0;
      const size_t at = used ? static_cast<size_t>(stream_of[i]) * batch.tokens + t : 0;
      tile.tokens[i] = used ? batch.inputs[at] : 0;
      tile.targets[i] = used ? batch.targets[at] : EGG_NO_TARGET;
      for (size_t j = 0; j < indices; ++j) {
        tile.rows[j * kMembers + i] = used ? batch.rows[at * indices + j] : EGG_NO_ROW;
      }
      keep[i] = used && batch.resets[at] != 0 ? 0 : -1;
      all &= keep[i];
    }
    const bool reset = all == 0;
    for (size_t i = 0; reset && i < kMembers; ++i) {
      if (keep[i] == 0) tile.first_visible[i] = static_cast<int32_t>(t);
    }
    if (reset) tile.zero_states(keep);
    tile.oldest_visible = static_cast<size_t>(*std::min_element(tile.first_visible.begin(), tile.first_visible.end()));
    for (uint32_t i = 0; i < program.op_count; ++i) Kernels<S>::kAll[program.ops[i].code](tile, program.ops[i]);
    tile.end_token();
  }
}

}  // namespace eggroll::tile

#endif
