// The ops on channels: each thread works on its quarter of a row.
#ifndef EGGROLL_CUDA_ELEMENTWISE_CUH
#define EGGROLL_CUDA_ELEMENTWISE_CUH

#include "tile.cuh"

namespace eggroll::cuda {

template <class T>
__device__ inline void run_load_state(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const bool reset = tile.args.resets[tile.entry(tile.row())] != 0;
  const auto* state = reinterpret_cast<const uint4*>(
      tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
  uint4* out = tile.units(op.out, tile.row());
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) out[u] = reset ? make_uint4(0, 0, 0, 0) : state[u];
}

template <class T>
__device__ inline void run_store(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  if (!tile.is_real(tile.row())) return;
  auto* state =
      reinterpret_cast<uint4*>(tile.args.states + tile.member(tile.row()) * tile.args.state_stride + op.state_offset);
  const uint4* in = tile.units(op.in[0], tile.row());
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) state[u] = in[u];
}

template <class T>
__device__ inline void run_embed(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t token = tile.args.inputs[tile.entry(tile.row())];
  const uint32_t ranks = tile.ranks(op);
  const auto* weights = reinterpret_cast<const uint32_t*>(op.matrix + size_t{token} * op.matrix_stride);
  const int8_t* noise = tile.noise_of(tile.row());
  const int32_t sign = tile.sign_of(tile.row());
  for (uint32_t w = tile.quarter(); w < op.out.bytes / 4; w += 4) {
    const uint32_t word = __ldg(weights + w);
    int32_t ab[4] = {};
    for (uint32_t r = 0; r < ranks; ++r) {
      const int32_t a = noise[op.a_offset + r * op.a_stride + token];
      const uint32_t b = __ldg(reinterpret_cast<const uint32_t*>(noise + op.b_offset + r * op.b_stride) + w);
#pragma unroll
      for (int i = 0; i < 4; ++i) ab[i] += a * byte_of(b, i);
    }
    int32_t y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      y[i] = egg_perturbed(byte_of(word, i), ab[i], sign, tile.args.embed_shift, tile.args.nearest);
    }
    tile.word(op.out, tile.row(), 4 * w) = clip_pack4(y);
  }
}

// Sum of the magnitudes of four int8 values, added to sum.
__device__ inline int32_t add_magnitudes(uint32_t word, int32_t sum) {
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(word), "r"(0));
  return sum;
}

// The bytes of a word that are channels below `size`; the word begins with channel i.
__device__ inline uint32_t real_bytes(uint32_t word, uint32_t i, uint32_t size) {
  if (i + 4 <= size) return word;
  return i >= size ? 0 : word & (0xffffffffu >> (8 * (4 - (size - i))));
}

template <class T>
__device__ inline void run_l1_norm(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t row = tile.row();
  const uint32_t size = op.in[0].size;
  const uint32_t units = units_of(op.out);
  const uint4* x = tile.units(op.in[0], row);
  int32_t sum = 0;
  for (uint32_t u = tile.quarter(); u < units; u += 4) {
    const uint4 unit = x[u];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      sum = add_magnitudes(real_bytes(word_of(unit, static_cast<int>(k)), 16 * u + 4 * k, size), sum);
    }
  }
  const int32_t mean = egg_l1_mean(row_sum(sum), static_cast<int32_t>(size));
  const uint4* gain = tile.vector(op.vectors[0], row);
  const uint4* bias = tile.vector(op.vectors[1], row);
  uint4* out = tile.units(op.out, row);
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units; u += 4) {
    const uint4 unit = x[u];
    const uint4 gains = __ldg(gain + u);
    const uint4 biases = bias != nullptr ? __ldg(bias + u) : make_uint4(0, 0, 0, 0);
    const auto norm = [&](int32_t division) {
      return each_word([&](int k) {
        int32_t y[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          y[i] = egg_l1_norm(byte_of(word_of(unit, k), i) * byte_of(word_of(gains, k), i), mean,
                             byte_of(word_of(biases, k), i), division, tile.args.nearest);
        }
        return pack4(y[0], y[1], y[2], y[3]);
      });
    };
    out[u] = op.attr == EGG_DIVIDE_RECIPROCAL ? norm(EGG_DIVIDE_RECIPROCAL) : norm(op.attr);
  }
}

// Four channels at a time through body(x, u, k), in place in x: word k of unit u of the op's first input.
template <class T, class Body>
__device__ inline void each_four(T& tile, const DeviceOp& op, Body&& body) {
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int32_t a[4];
      load4(tile, op.in[0], tile.row(), u, k, a);
      body(a, u, k);
      store4(tile, op.out, tile.row(), u, k, a);
    }
  }
}

template <class T>
__device__ inline void run_add(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint4* bias = tile.vector(op.vectors[1], tile.row());
#pragma unroll 4
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 biases = bias != nullptr ? __ldg(bias + u) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int32_t a[4];
      load4(tile, op.in[0], tile.row(), u, k, a);
      if (op.in[1].bytes != 0) {
        int32_t b[4];
        load4(tile, op.in[1], tile.row(), u, k, b);
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] += b[i];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] += byte_of(word_of(biases, k), i);
      store4(tile, op.out, tile.row(), u, k, a);
    }
  }
}

template <class T>
__device__ inline void run_gru_gate(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t row = tile.row();
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.units(op.in[0], row)[u];
    const uint4 h = tile.units(op.in[1], row)[u];
    tile.units(op.out, row)[u] = each_word([&](int k) {
      const auto y = [&](int i) { return egg_gru_gate(byte_of(word_of(f, k), i), byte_of(word_of(h, k), i)); };
      return pack4(y(0), y(1), y(2), y(3));
    });
  }
}

template <class T>
__device__ inline void run_gru_mix(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t row = tile.row();
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 f = tile.units(op.in[0], row)[u];
    const uint4 h = tile.units(op.in[1], row)[u];
    const uint4 c = tile.units(op.in[2], row)[u];
    tile.units(op.out, row)[u] = each_word([&](int k) {
      const auto y = [&](int i) {
        return egg_gru_mix(byte_of(word_of(f, k), i), byte_of(word_of(h, k), i), byte_of(word_of(c, k), i));
      };
      return pack4(y(0), y(1), y(2), y(3));
    });
  }
}

template <class T>
__device__ inline void run_lut(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  for (uint32_t u = tile.quarter(); u < units_of(op.out); u += 4) {
    const uint4 x = tile.units(op.in[0], tile.row())[u];
    tile.units(op.out, tile.row())[u] = each_word([&](int k) {
      const auto y = [&](int i) { return __ldg(op.byte_table + byte_of(word_of(x, k), i) + 128); };
      return pack4(y(0), y(1), y(2), y(3));
    });
  }
}

template <class T>
__device__ inline void run_max_norm(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t size = op.in[0].size;
  int32_t largest = 0;
  for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) {
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      int32_t x[4];
      load4(tile, op.in[0], tile.row(), u, static_cast<int>(k), x);
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) largest = max(largest, 16 * u + 4 * k + i < size ? abs(x[i]) : 0);
    }
  }
  largest = max(1, row_max(largest));
  const float scale = __fdiv_rn(127.0F, static_cast<float>(largest));
  each_four(tile, op, [&](int32_t(&x)[4], uint32_t u, int k) {
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      x[i] = 16 * u + 4 * static_cast<uint32_t>(k) + i < size ? max_norm32(x[i], largest, scale) : 0;
    }
  });
}

template <class T>
__device__ inline void run_rope(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const auto head = static_cast<uint32_t>(op.head);
  const int32_t* angles = op.table + size_t{tile.token} * head;
  each_four(tile, op, [&](int32_t(&x)[4], uint32_t u, int k) {
#pragma unroll
    for (uint32_t i = 0; i < 4; i += 2) {
      const uint32_t at = (16 * u + 4 * static_cast<uint32_t>(k) + i) % head;
      const int32_t c = __ldg(angles + at);
      const int32_t d = __ldg(angles + at + 1);
      const int32_t x0 = x[i];
      const int32_t x1 = x[i + 1];
      x[i] = egg_rotate(x0, c, x1, -d);
      x[i + 1] = egg_rotate(x0, d, x1, c);
    }
  });
}

}  // namespace eggroll::cuda

#endif
