// The ops on channels: each thread works on its quarter of a row.
#ifndef EGGROLL_CUDA_ELEMENTWISE_CUH
#define EGGROLL_CUDA_ELEMENTWISE_CUH

#include "draw.cuh"
#include "eggroll/draws.h"
#include "tile.cuh"

namespace eggroll::cuda {

// Makes the thread's units of an int8 value. load(unit, its number among the thread's units, loaded) sets kCount loaded
// units, of which make(unit, loaded) makes one. Several loads are under way before the first is used.
template <int kCount, class T, class Load, class Make>
__device__ inline void each_unit(T& tile, const DeviceOp& op, Load&& load, Make&& make) {
  constexpr uint32_t kAhead = 4;
  const uint32_t count = units_of(op.out) / 4;
  for (uint32_t first = 0; first < count; first += kAhead) {
    uint4 loaded[kAhead][kCount];
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t i = min(first + k, count - 1);
      load(tile.quarter() + 4 * i, i, loaded[k]);
    }
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t u = tile.quarter() + 4 * (first + k);
      if (first + k < count) tile.unit(op.out, tile.row(), u) = make(u, loaded[k]);
    }
  }
}

template <class T>
__device__ inline void run_load_state(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const bool reset = tile.args.resets[tile.entry(tile.row())] != 0;
  const auto* state = reinterpret_cast<const uint4*>(
      tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
  each_unit<1>(
      tile, op, [&](uint32_t u, uint32_t, uint4(&v)[1]) { v[0] = state[u]; },
      [&](uint32_t, const uint4(&v)[1]) { return reset ? make_uint4(0, 0, 0, 0) : v[0]; });
}

template <class T>
__device__ inline void run_store(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  if (!tile.is_real(tile.row())) return;
  auto* state =
      reinterpret_cast<uint4*>(tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) state[u] = tile.unit(op.in[0], tile.row(), u);
}

template <class T>
__device__ inline void run_keep(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  if (tile.args.kept == nullptr || !tile.is_real(tile.row())) return;
  const size_t place = size_t{tile.args.first_kept + tile.member(tile.row())} * tile.args.tokens + tile.at.token;
  auto* kept = reinterpret_cast<uint4*>(tile.args.kept + op.keys_offset + place * op.in[0].bytes);
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) {
    if (op.in[0].wide == 0) {
      kept[u] = tile.unit(op.in[0], tile.row(), u);
      continue;
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) kept[4 * u + k] = tile.wide_word(op.in[0], tile.row(), u, k);
  }
}

// Takes a kept value: change(unit, kept) makes a unit of an int8 value, change_wide(first, kept) four wide channels.
template <class T, class Change, class ChangeWide>
__device__ inline void run_take(T& tile, const DeviceOp& planned, Change&& change, ChangeWide&& change_wide) {
  const typename T::Op op = planned;
  const size_t place = tile.args.first_kept + tile.entry(tile.row());
  const auto* kept = reinterpret_cast<const uint4*>(tile.args.kept + op.keys_offset + place * op.out.bytes);
  if (op.out.wide != 0) {
    for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        tile.wide_word(op.out, tile.row(), u, k) = change_wide(kUnit * u + 4 * k, kept[4 * u + k]);
      }
    }
    return;
  }
  each_unit<1>(
      tile, op, [&](uint32_t u, uint32_t, uint4(&v)[1]) { v[0] = kept[u]; },
      [&](uint32_t u, const uint4(&v)[1]) { return change(u, v[0]); });
}

template <class T>
__device__ inline void run_take(T& tile, const DeviceOp& planned) {
  const auto as_it_is = [](uint32_t, const uint4& kept) { return kept; };
  run_take(tile, planned, as_it_is, as_it_is);
}

// A bit for each of the 16 columns from `first` on: 1 if the Hadamard matrix is -1 there. first: a multiple of 16.
__device__ inline uint32_t hadamard_bits(uint32_t row, uint32_t first) {
  uint32_t bits = egg_hadamard_bit(row, first) != 0 ? 0xffffu : 0;
  if ((row & 1) != 0) bits ^= 0xaaaau;
  if ((row & 2) != 0) bits ^= 0xccccu;
  if ((row & 4) != 0) bits ^= 0xf0f0u;
  if ((row & 8) != 0) bits ^= 0xff00u;
  return bits;
}

// Takes a kept value and adds a draw's signs, times the amplitude; an odd member subtracts them.
template <class T>
__device__ inline void run_move(T& tile, const DeviceOp& planned) {
  const MoveArgs& move = tile.args.move;
  const uint32_t member = tile.member(tile.row());
  const uint32_t place = move.place + member / (2 * move.draws);
  const uint32_t draw = member % (2 * move.draws) / 2;
  const uint64_t key = egg_draw_key(move.seed, move.step, move.stream + place / move.tokens, move.number,
                                    place % move.tokens, move.orthogonal != 0 ? 0 : draw + 1);
  const uint32_t row = move.orthogonal != 0 ? (draw + egg_draw_offset(key)) & ((1u << egg_log2_up(move.size)) - 1) : 0;
  const uint32_t other = member % 2 != 0 ? 0xffffu : 0;
  // A bit for each of the 16 channels of unit u: 1 if the member subtracts the amplitude there.
  const auto signs = [&](uint32_t u) {
    return (egg_noise_word(key, u / 2) >> (u % 2 * 16)) ^ hadamard_bits(row, 16 * u) ^ other;
  };
  const auto sign = [](uint32_t bits, uint32_t i) { return 1 - 2 * static_cast<int32_t>(bits >> i & 1); };
  const auto narrow = [&](uint32_t u, const uint4& four) {
    const uint32_t bits = signs(u);
    uint32_t out[4];
#pragma unroll
    for (uint32_t w = 0; w < 4; ++w) {
      out[w] = 0;
#pragma unroll
      for (uint32_t b = 0; b < 4; ++b) {
        const uint32_t i = 4 * w + b;
        if (16 * u + i >= move.size) continue;
        const int32_t old = static_cast<int8_t>(word_of(four, static_cast<int>(w)) >> 8 * b);
        out[w] |= (static_cast<uint32_t>(egg_clip8(old + sign(bits, i) * move.amplitude)) & 0xff) << 8 * b;
      }
    }
    return make_uint4(out[0], out[1], out[2], out[3]);
  };
  const auto wide = [&](uint32_t first, const uint4& four) {
    const uint32_t bits = signs(first / 16);
    int32_t out[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const bool is_real = first + i < move.size;
      out[i] = static_cast<int32_t>(word_of(four, static_cast<int>(i)));
      if (is_real) out[i] += sign(bits, first % 16 + i) * move.amplitude;
    }
    return wide_unit(out);
  };
  run_take(tile, planned, narrow, wide);
}

// Brings the next token's row to the L2 cache while this token's ops run. entry: this token's entry.
template <class T>
__device__ inline void ask_for_next_row(const T& tile, const DeviceOp& op, size_t entry) {
  const ForwardArgs& args = tile.args;
  if (op.attr == 0 || tile.at.token + 1 == args.tokens) return;
  const uint32_t id = args.row_numbers[(entry + 1) * args.index_count + static_cast<uint32_t>(op.attr) - 1];
  if (id == EGG_NO_ROW) return;
  const int8_t* const row = op.matrix + size_t{id} * op.matrix_stride;
  for (uint32_t at = kBlock * tile.quarter(); at < op.matrix_stride; at += 4 * kBlock) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
  }
}

template <class T>
__device__ inline void run_embed(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const ForwardArgs& args = tile.args;
  const uint32_t own = tile.row();
  const size_t entry = tile.entry(own);
  const uint32_t id = op.attr == 0 ? args.inputs[entry]
                                   : args.row_numbers[entry * args.index_count + static_cast<uint32_t>(op.attr) - 1];
  const uint32_t ranks = tile.ranks(op);
  const bool has_row = id != EGG_NO_ROW;
  const auto* weights = reinterpret_cast<const uint4*>(op.matrix + size_t{has_row ? id : 0} * op.matrix_stride);
  ask_for_next_row(tile, op, entry);
  const int32_t sign = tile.sign_of(own);
  // The pair's draw of side A for the row.
  const auto draw = [&](uint32_t r) -> int32_t {
    if (op.side_a == kDrawnA) return __ldg(tile.noise(own, op.a_offset + r * op.a_stride + id));
    const int8_t* key = tile.noise(own, op.a_offset + r * op.a_stride);
    return draw_of(args.values_of_noise, __ldg(reinterpret_cast<const unsigned long long*>(key)), EGG_SIDE_A, id);
  };
  // Several loads of a row, which lies anywhere in memory, are under way before the first is used.
  constexpr uint32_t kAhead = 4;
  const uint32_t count = units_of(op.out) / 4;
#pragma unroll 1
  for (uint32_t start = 0; start < count; start += kAhead) {
    uint4 units[kAhead];
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) units[k] = __ldg(weights + tile.quarter() + 4 * min(start + k, count - 1));
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t i = start + k;
      if (i >= count) break;
      const uint32_t u = tile.quarter() + 4 * i;
      uint4 x = {};
      if (op.in[0].bytes != 0) x = tile.unit(op.in[0], own, u);
      if (!has_row) {
        tile.unit(op.out, own, u) = x;
        continue;
      }
      if (ranks == 0) {
        tile.unit(op.out, own, u) = each_word([&](int w) {
          return clip_raised(raised_low(word_of(x, w)) + raised_low(word_of(units[k], w)),
                             raised_high(word_of(x, w)) + raised_high(word_of(units[k], w)), 2 * 128);
        });
        continue;
      }
      int32_t ab[16] = {};
      for (uint32_t r = 0; r < ranks; ++r) {
        const int32_t a = draw(r);
        const uint4 b = tile.noise_units(own, op.b_offset + r * op.b_stride)[i];
#pragma unroll
        for (int c = 0; c < 16; ++c) ab[c] += a * byte_of(word_of(b, c / 4), c % 4);
      }
      tile.unit(op.out, own, u) = each_word([&](int w) {
        int32_t y[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          y[e] = byte_of(word_of(x, w), e) + byte_of(word_of(units[k], w), e) +
                 sign * egg_rshift(ab[4 * w + e], args.embed_shift, args.nearest);
        }
        return clip_pack4(y);
      });
    }
  }
}

template <bool kTwo, bool kBias, class T>
__device__ inline void add_narrow(T& tile, const DeviceOp& op) {
  const uint32_t row = tile.row();
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  each_unit<1 + kTwo + kBias>(
      tile, op,
      [&](uint32_t u, uint32_t i, uint4(&v)[1 + kTwo + kBias]) {
        v[0] = tile.unit(op.in[0], row, u);
        if (kTwo) v[kTwo] = tile.unit(op.in[1], row, u);
        if (kBias) v[kTwo + kBias] = bias[i];
      },
      [&](uint32_t, const uint4(&v)[1 + kTwo + kBias]) {
        return each_word([&](int k) {
          uint32_t low = 0;
          uint32_t high = 0;
#pragma unroll
          for (const uint4& x : v) {
            low += raised_low(word_of(x, k));
            high += raised_high(word_of(x, k));
          }
          return clip_raised(low, high, 128 * (1 + kTwo + kBias));
        });
      });
}

// What is not wide may lie in device memory: four units of it are under way at once.
template <bool kWide0, bool kWide1, class T>
__device__ inline void add_wide(T& tile, const DeviceOp& op) {
  constexpr uint32_t kAhead = 4;
  const uint32_t row = tile.row();
  const NoiseUnits bias = tile.vector(op.vectors[1], row);
  const bool two = op.in[1].bytes != 0;
  const uint32_t count = units_of(op.out) / 4;
#pragma unroll 1
  for (uint32_t start = 0; start < count; start += kAhead) {
    uint4 narrow[kAhead][3] = {};
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      const uint32_t i = min(start + k, count - 1);
      const uint32_t u = tile.quarter() + 4 * i;
      if (!kWide0) narrow[k][0] = tile.unit(op.in[0], row, u);
      if (!kWide1 && two) narrow[k][1] = tile.unit(op.in[1], row, u);
      if (bias.any()) narrow[k][2] = bias[i];
    }
#pragma unroll
    for (uint32_t k = 0; k < kAhead; ++k) {
      if (start + k >= count) break;
      const uint32_t u = tile.quarter() + 4 * (start + k);
      int32_t sums[4][4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const uint4 x = kWide0 ? tile.wide_word(op.in[0], row, u, static_cast<uint32_t>(w)) : make_uint4(0, 0, 0, 0);
        const uint4 y = kWide1 ? tile.wide_word(op.in[1], row, u, static_cast<uint32_t>(w)) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          sums[w][e] = static_cast<int32_t>(word_of(x, e) + word_of(y, e)) + byte_of(word_of(narrow[k][2], w), e);
          if (!kWide0) sums[w][e] += byte_of(word_of(narrow[k][0], w), e);
          if (!kWide1) sums[w][e] += byte_of(word_of(narrow[k][1], w), e);
        }
      }
      store16(tile, op.out, row, u, sums);
    }
  }
}

template <class T>
__device__ inline void run_add(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  if constexpr (T::kAnyOp) {
    if (op.in[0].wide + op.in[1].wide + op.out.wide != 0) {
      return with_flag(op.in[0].wide != 0, [&](auto first) {
        with_flag(op.in[1].wide != 0, [&](auto second) { add_wide<first.value, second.value>(tile, op); });
      });
    }
  }
  const bool two = op.in[1].bytes != 0;
  with_flag(two, [&](auto other) {
    with_flag(op.vectors[1].offset >= 0, [&](auto bias) { add_narrow<other.value, bias.value>(tile, op); });
  });
}

// Packs byte 1 of each of four numbers.
__device__ inline uint32_t second_bytes(int32_t a, int32_t b, int32_t c, int32_t d) {
  const uint32_t low = pick(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x0051);
  const uint32_t high = pick(static_cast<uint32_t>(c), static_cast<uint32_t>(d), 0x0051);
  return pick(low, high, 0x5410);
}

// Channel i of a word, plus 127.
__device__ inline int32_t gate_of(uint32_t f, int i) { return __dp4a(static_cast<int32_t>(f), 1 << (8 * i), 127); }

template <class T>
__device__ inline void run_gru_gate(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.unit(op.in[0], row, u);
    const uint4 h = tile.unit(op.in[1], row, u);
    // egg_gru_gate: the product's bits 8 to 15 are the result.
    tile.unit(op.out, row, u) = each_word([&](int k) {
      const auto y = [&](int i) { return gate_of(word_of(f, k), i) * byte_of(word_of(h, k), i); };
      return second_bytes(y(0), y(1), y(2), y(3));
    });
  }
}

template <class T>
__device__ inline void run_gru_mix(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.unit(op.in[0], row, u);
    const uint4 h = tile.unit(op.in[1], row, u);
    const uint4 c = tile.unit(op.in[2], row, u);
    // egg_gru_mix, h + (F (c - h) >> 8), is ((256 - F) h + F c) >> 8.
    tile.unit(op.out, row, u) = each_word([&](int k) {
      const auto low = static_cast<int32_t>(pick(word_of(h, k), word_of(c, k), 0x5140));
      const auto high = static_cast<int32_t>(pick(word_of(h, k), word_of(c, k), 0x7362));
      const auto factors = [&](int i) { return gate_of(word_of(f, k), i) * 0xffff + 256; };
      return second_bytes(__dp2a_lo(factors(0), low, 0), __dp2a_hi(factors(1), low, 0), __dp2a_lo(factors(2), high, 0),
                          __dp2a_hi(factors(3), high, 0));
    });
  }
}

template <class T>
__device__ inline void run_lut(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  // Channels beyond the last must be zero in every value. A lut may make another number of a zero.
#pragma unroll 2
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 x = tile.unit(op.in[0], tile.row(), u);
    tile.unit(op.out, tile.row(), u) = each_word([&](int k) {
      const uint32_t raised = word_of(x, k) ^ 0x80808080u;
      const auto y = [&](int i) { return static_cast<int32_t>(__ldg(op.byte_table + (raised >> (8 * i) & 0xff))); };
      return real_bytes(pack4(y(0), y(1), y(2), y(3)), kUnit * u + 4 * static_cast<uint32_t>(k), op.out.size);
    });
  }
}

template <bool kWide, class T>
__device__ inline void rotate(T& tile, const DeviceOp& op) {
  const auto head = static_cast<uint32_t>(op.head);
  const int32_t* angles = op.table + size_t{tile.position(tile.row())} * head;
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    uint32_t channel = kUnit * u % head;
    int32_t y[4][4];
    load16<kWide>(tile, op.in[0], tile.row(), u, [&](int32_t(&x)[4], int k) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const int2 constants = __ldg(reinterpret_cast<const int2*>(angles + channel));
        channel = channel + 2 == head ? 0 : channel + 2;
        y[k][i] = egg_rotate(x[i], constants.x, x[i + 1], -constants.y);
        y[k][i + 1] = egg_rotate(x[i], constants.y, x[i + 1], constants.x);
      }
    });
    store16(tile, op.out, tile.row(), u, y);
  }
}

template <class T>
__device__ inline void run_rope(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  with_flag(op.in[0].wide != 0, [&](auto wide) { rotate<wide.value>(tile, op); });
}

}  // namespace eggroll::cuda

#endif
