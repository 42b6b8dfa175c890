// The ops on channels, and what brings states and noise to a tile.
#ifndef EGGROLL_METAL_ELEMENTWISE_H
#define EGGROLL_METAL_ELEMENTWISE_H

#include "tile.h"

// The noise of the tile's pairs into its workspace, once for all tokens: a simdgroup a part of a pair.
inline void draw_noise(thread const Tile& tile, constant NoisePart* parts) {
  const uint32_t pairs = divide_up(tile.rows, 2);
  const uint32_t first_pair = tile.number * kTilePairs;
  for (uint32_t item = tile.simdgroup; item < pairs * tile.args->part_count; item += kSimdgroups) {
    const NoisePart s = own(parts[item / pairs]);
    const uint32_t pair = item % pairs;
    const NoiseArgs args = own(tile.args->noise);
    const bool in_range = args.first_pair + first_pair + pair - s.first_pair < s.pairs;
    const bool perturbed = tile.args->perturbed != 0 && in_range;
    const bool vector = s.kind == kVector;
    if (tile.args->perturbed == 0 && !vector) continue;
    const uint64_t key = draw_key(args, first_pair + pair, s.param, s.side, s.rank);
    const uint64_t key_b = draw_key(args, first_pair + pair, s.param, EGG_SIDE_B, 0);
    const uint32_t size = padded(s.size, kBlock);
    device uint32_t* out =
        reinterpret_cast<device uint32_t*>(tile.workspace + pair * tile.args->noise_bytes + s.offset);
    if (s.kind == kKeys) {
      device uint64_t* keys = reinterpret_cast<device uint64_t*>(out);
      for (uint32_t r = tile.lane; r < s.size; r += kLanes) {
        keys[r] = draw_key(args, first_pair + pair, s.param, EGG_SIDE_A, r);
      }
      continue;
    }
    for (uint32_t u = tile.lane; u < size / 4; u += kLanes) {
      // A matrix that the pair does not perturb has draws of zeros, and so the products of its weights alone.
      Four even = {{0, 0, 0, 0}};
      if (perturbed) even = draw_four(tile.noise_values, args.table_log2, key, s.side, u, s.size);
      if (!vector) {
        out[u] = packed(even);
        continue;
      }
      const Four weights = load_bytes(tile.weights + s.weights, u);
      Four odd = weights;
      if (perturbed) {
        const Four b = draw_four(tile.noise_values, args.table_log2, key_b, EGG_SIDE_B, u, s.size);
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

// Every member's states and loss, as the slice before this one has left them, to where this one works.
inline void bring_states(thread const Tile& tile, device const int8_t* before) {
  const uint32_t words = tile.args->state_stride / 4;
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.state(row, 0));
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(before + (tile.state(row, 0) - tile.states));
    for (uint32_t u = tile.lane; u < words; u += kLanes) {
      const bool begins = tile.args->first_token == 0 && u >= words - kLossBytes / 4;
      to[u] = begins ? 0 : from[u];
    }
  }
}

inline void run_load_state(thread const Tile& tile, constant DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const bool reset = tile.resets[tile.entry(row)] != 0;
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(tile.state(row, op.state));
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.narrow(op.out, row));
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) to[u] = reset ? 0 : from[u];
  }
}

inline void run_store(thread const Tile& tile, constant DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(tile.narrow(op.in[0], row));
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.state(row, op.state));
    for (uint32_t u = tile.lane; u < op.in[0].padded / 4; u += kLanes) to[u] = from[u];
  }
}

inline void run_keep_value(thread const Tile& tile, constant DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const bool stays = op.attr != 0 || tile.targets[tile.entry(row)] != 0xffffffffu;  // EGG_NO_TARGET
    const uint64_t place = tile.member(row) * tile.args->tokens + tile.token;
    device const uint32_t* from = reinterpret_cast<device const uint32_t*>(tile.row_at(op.in[0], row));
    device uint32_t* to = reinterpret_cast<device uint32_t*>(tile.kept + place * tile.args->kept_bytes + op.state);
    for (uint32_t u = tile.lane; u < row_bytes(op.in[0]) / 4; u += kLanes) to[u] = stays ? from[u] : 0;
  }
}

// What a draw's member reads of its place: a value as it was kept, or, that of the site, as the draw has moved it.
inline void run_take_value(thread const Tile& tile, constant DeviceOp& op) {
  const MoveArgs move = own(tile.args->move);
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const uint32_t place = tile.place(row);
    const uint32_t draw = tile.row_of_call(row) % tile.args->members_per_stream / 2;
    const uint64_t key = place_key(move.places, place, move.orthogonal != 0 ? 0 : draw + 1);
    const uint32_t hadamard_row = (draw + egg_draw_offset(key)) & move.row_mask;
    device const int8_t* from = tile.kept + uint64_t(move.first_kept + place) * tile.args->kept_bytes + op.state;
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      Four four = load_from(from, op.out, u);
      for (uint32_t i = 0; i < 4 && op.attr != 0; ++i) {
        const uint32_t channel = 4 * u + i;
        const uint32_t by_row = move.orthogonal != 0 ? egg_hadamard_bit(hadamard_row, channel) : 0;
        const int32_t sign = (egg_draw_bit(key, channel) ^ by_row) != 0 ? -tile.sign(row) : tile.sign(row);
        if (channel < op.out.size) four.at[i] += sign * move.amplitude;
      }
      store(tile, op.out, row, u, four);
    }
  }
}

// Adds four channels of a table's row as the member sees it. Of each draw of side A it makes the one value that it
// takes.
inline Four with_table_row(thread const Tile& tile, constant DeviceOp& op, uint32_t row, uint32_t u, uint32_t table_row,
                           Four sum) {
  const uint32_t ranks = tile.args->perturbed != 0 ? op.ranks : 0;
  const int32_t table_log2 = tile.args->noise.table_log2;
  device const uint64_t* keys = reinterpret_cast<device const uint64_t*>(tile.noise(row, op.a));
  Four ab = {{0, 0, 0, 0}};
  for (uint32_t r = 0; r < ranks; ++r) {
    const int32_t a = draw_one(tile.noise_values, table_log2, keys[r], EGG_SIDE_A, table_row);
    const Four b = load_bytes(tile.noise(row, op.b + r * op.b_stride), u);
    for (uint32_t i = 0; i < 4; ++i) ab.at[i] += a * b.at[i];
  }
  const Four weights = load_bytes(tile.weights + op.matrix + uint64_t(table_row) * op.stride, u);
  for (uint32_t i = 0; i < 4; ++i) {
    sum.at[i] += weights.at[i] + tile.sign(row) * egg_rshift(ab.at[i], op.shift, tile.args->nearest);
  }
  return sum;
}

inline void run_embed(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t index_count = tile.args->index_count;
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const uint64_t at = tile.entry(row);
    const uint32_t table_row =
        op.attr == 0 ? tile.inputs[at] : tile.index_rows[at * index_count + static_cast<uint32_t>(op.attr - 1)];
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      Four sum = {{0, 0, 0, 0}};
      if (op.in[0].size != 0) sum = load(tile, op.in[0], row, u);
      if (table_row != 0xffffffffu) sum = with_table_row(tile, op, row, u, table_row, sum);  // EGG_NO_ROW
      store(tile, op.out, row, u, sum);
    }
  }
}

inline void run_add(thread const Tile& tile, constant DeviceOp& op) {
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

inline void run_gru_gate(thread const Tile& tile, constant DeviceOp& op) {
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    for (uint32_t u = tile.lane; u < op.out.padded / 4; u += kLanes) {
      const Four f = load(tile, op.in[0], row, u);
      Four h = load(tile, op.in[1], row, u);
      for (uint32_t i = 0; i < 4; ++i) h.at[i] = egg_gru_gate(f.at[i], h.at[i]);
      store(tile, op.out, row, u, h);
    }
  }
}

inline void run_gru_mix(thread const Tile& tile, constant DeviceOp& op) {
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
inline void run_lut(thread const Tile& tile, constant DeviceOp& op) {
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

inline void run_rope(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t head = static_cast<uint32_t>(op.head);
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    device const int32_t* angles = tile.tables + op.table + tile.position(row) * head;
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
