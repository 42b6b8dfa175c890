// The ops on channels, and what brings states and noise to a tile.
#ifndef EGGROLL_METAL_ELEMENTWISE_H
#define EGGROLL_METAL_ELEMENTWISE_H

#include "tile.h"

// The noise of the tile's pairs into its workspace, once for all tokens: a simdgroup a segment of a pair.
inline void draw_noise(thread const Tile& tile, device const Segment* segments, device const int8_t* noise) {
  const uint32_t pairs = divide_up(tile.rows, 2);
  const uint32_t first_pair = tile.number * kTilePairs;
  for (uint32_t item = tile.simdgroup; item < pairs * tile.args->segment_count; item += kSimdgroups) {
    const Segment s = own(segments[item / pairs]);
    const uint32_t pair = item % pairs;
    const bool perturbed = tile.args->perturbed != 0 && s.perturbed != 0;
    const bool vector = s.kind == kVector;
    if (!perturbed && !vector) continue;
    const NoiseArgs args = own_argument(tile.args->noise);
    const uint64_t key = draw_key(args, first_pair + pair, s.param, s.side, s.rank);
    const uint64_t key_b = draw_key(args, first_pair + pair, s.param, EGG_SIDE_B, 0);
    const uint32_t size = padded(s.size, kBlock);
    device uint32_t* out =
        reinterpret_cast<device uint32_t*>(tile.workspace + pair * tile.args->noise_bytes + s.offset);
    for (uint32_t u = tile.lane; u < size / 4; u += kLanes) {
      Four even = {{0, 0, 0, 0}};
      if (perturbed) even = draw_four(noise, args.table_log2, key, s.side, u, s.size);
      if (!vector) {
        out[u] = packed(even);
        continue;
      }
      const Four weights = load_bytes(tile.weights + s.weights, u);
      Four odd = weights;
      if (perturbed) {
        const Four b = draw_four(noise, args.table_log2, key_b, EGG_SIDE_B, u, s.size);
        for (uint32_t i = 0; i < 4; ++i) {
          const int32_t ab = even.at[i] * b.at[i];
          const int32_t shift = tile.args->vector_shift;
          const int32_t nearest = tile.args->nearest;
          even.at[i] = egg_perturbed(weights.at[i], ab, 1, shift, nearest);
          odd.at[i] = egg_perturbed(weights.at[i], ab, -1, shift, nearest);
        }
      } else {
        even = weights;
      }
      out[u] = packed(even);
      out[size / 4 + u] = packed(odd);
    }
  }
}

inline void run_load_state(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const bool reset = tile.resets[tile.stream(row) + tile.token] != 0;
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(tile.state(row, op.state));
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.narrow(op.out, row));
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) to[u] = reset ? 0 : from[u];
  }
}

inline void run_store(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(tile.narrow(op.in[0], row));
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.state(row, op.state));
    for (uint32_t u = tile.lane; u < op.in[0].padded / 4; u += kLanes) to[u] = from[u];
  }
}

inline void run_embed(thread const Tile& tile, device const DeviceOp& op) {
  const uint32_t ranks = tile.args->perturbed != 0 ? op.ranks : 0;
  const int32_t shift = tile.args->embed_shift;
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const uint32_t token = tile.inputs[tile.stream(row) + tile.token];
    device const int8_t* weights = tile.weights + op.matrix + uint64_t(token) * op.stride;
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      Four four = load_bytes(weights, u);
      Four ab = {{0, 0, 0, 0}};
      for (uint32_t r = 0; r < ranks; ++r) {
        const int32_t a = *tile.noise(row, op.a + r * op.a_stride + token);
        const Four b = load_bytes(tile.noise(row, op.b + r * op.b_stride), u);
        for (uint32_t i = 0; i < 4; ++i) ab.at[i] += a * b.at[i];
      }
      for (uint32_t i = 0; i < 4 && ranks > 0; ++i) {
        four.at[i] = egg_perturbed(four.at[i], ab.at[i], tile.sign(row), shift, tile.args->nearest);
      }
      store(tile, op.out, row, u, four);
    }
  }
}

inline void run_add(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      Four sum = load(tile, op.in[0], row, u);
      if (op.in[1].size != 0) {
        const Four other = load(tile, op.in[1], row, u);
        for (uint32_t i = 0; i < 4; ++i) sum.at[i] += other.at[i];
      }
      store(tile, op.out, row, u, with_bias(tile, op, row, u, sum));
    }
  }
}

inline void run_gru_gate(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      const Four f = load(tile, op.in[0], row, u);
      Four h = load(tile, op.in[1], row, u);
      for (uint32_t i = 0; i < 4; ++i) h.at[i] = egg_gru_gate(f.at[i], h.at[i]);
      store(tile, op.out, row, u, h);
    }
  }
}

inline void run_gru_mix(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      const Four f = load(tile, op.in[0], row, u);
      Four h = load(tile, op.in[1], row, u);
      const Four c = load(tile, op.in[2], row, u);
      for (uint32_t i = 0; i < 4; ++i) h.at[i] = egg_gru_mix(f.at[i], h.at[i], c.at[i]);
      store(tile, op.out, row, u, h);
    }
  }
}

// The one op that would make something else of the zeros beyond the last channel.
inline void run_lut(thread const Tile& tile, device const DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      Four four = load(tile, op.in[0], row, u);
      for (uint32_t i = 0; i < 4; ++i) {
        four.at[i] = 4 * u + i < op.out.size ? tile.tables[op.table + static_cast<uint32_t>(four.at[i] + 128)] : 0;
      }
      store(tile, op.out, row, u, four);
    }
  }
}

inline void run_rope(thread const Tile& tile, device const DeviceOp& op) {
  const uint32_t head = static_cast<uint32_t>(op.head);
  device const int32_t* angles = tile.tables + op.table + tile.token * head;
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      const Four x = load(tile, op.in[0], row, u);
      Four y;
      for (uint32_t i = 0; i < 4; i += 2) {
        const uint32_t channel = (4 * u + i) % head;
        const int32_t c = angles[channel];
        const int32_t d = angles[channel + 1];
        y.at[i] = egg_rotate(x.at[i], c, x.at[i + 1], -d);
        y.at[i + 1] = egg_rotate(x.at[i], d, x.at[i + 1], c);
      }
      store(tile, op.out, row, u, y);
    }
  }
}

#endif
