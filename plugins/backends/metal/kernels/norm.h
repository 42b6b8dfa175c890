// The ops that need a whole row: norms and the loss. Four neighbouring lanes share one row.
#ifndef EGGROLL_METAL_NORM_H
#define EGGROLL_METAL_NORM_H

#include "tile.h"

inline void run_l1_norm(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t row = tile.quad_row();
  int32_t sum = 0;
  for (uint32_t u = tile.quad_lane(); u < op.out.padded / 4; u += 4) {
    const Four x = load(tile, op.in[0], row, u);
    for (uint32_t i = 0; i < 4; ++i) sum += abs(x.at[i]);
  }
  const int32_t mean = egg_l1_mean(quad_sum(sum), static_cast<int32_t>(op.out.size));
  if (!tile.quad_has_row()) return;
  for (uint32_t u = tile.quad_lane(); u < op.out.padded / 4; u += 4) {
    Four x = load(tile, op.in[0], row, u);
    const Four gain = load_bytes(vector_of(tile, op, 0, row), u);
    const Four none = {{0, 0, 0, 0}};
    const Four bias = with_bias(tile, op, row, u, none);
    for (uint32_t i = 0; i < 4; ++i) {
      x.at[i] = egg_l1_norm(x.at[i] * gain.at[i], mean, bias.at[i], op.attr, tile.args->nearest);
    }
    store(tile, op.out, row, u, x);
  }
}

inline void run_max_norm(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t row = tile.quad_row();
  int32_t largest = 0;
  for (uint32_t u = tile.quad_lane(); u < op.out.padded / 4; u += 4) {
    const Four x = load(tile, op.in[0], row, u);
    for (uint32_t i = 0; i < 4; ++i) largest = max(largest, abs(x.at[i]));
  }
  largest = quad_max(largest);
  if (!tile.quad_has_row()) return;
  for (uint32_t u = tile.quad_lane(); u < op.out.padded / 4; u += 4) {
    Four x = load(tile, op.in[0], row, u);
    for (uint32_t i = 0; i < 4; ++i) x.at[i] = egg_max_norm(x.at[i], largest);
    store(tile, op.out, row, u, x);
  }
}

inline void run_loss(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t row = tile.quad_row();
  const uint32_t vocab = op.in[0].size;
  const uint32_t target = tile.targets[tile.entry(row)];
  device const int8_t* logits = tile.narrow(op.in[0], row);
  int32_t largest = -128;
  for (uint32_t v = tile.quad_lane(); v < vocab; v += 4) largest = max(largest, static_cast<int32_t>(logits[v]));
  largest = quad_max(largest);
  uint64_t sum = 0;
  for (uint32_t v = tile.quad_lane(); v < vocab; v += 4) sum += tile.loss_tables->exp2_q30[largest - logits[v]];
  // The sum is at most 2^46. Metal has no 64-bit sums over lanes, so this adds up two parts.
  const uint32_t low = quad_sum(static_cast<uint32_t>(sum) & 0xffffffu);
  const uint64_t high = quad_sum(static_cast<uint32_t>(sum >> 24));
  const bool scored = target != 0xffffffffu && tile.is_in_window(row);  // EGG_NO_TARGET
  if (!scored || !tile.quad_has_row() || tile.quad_lane() != 0) return;
  *tile.loss(row) += egg_loss_q16((high << 24) + low, largest, logits[target], op.attr, &tile.loss_tables->log2_q24[0]);
}

#endif
