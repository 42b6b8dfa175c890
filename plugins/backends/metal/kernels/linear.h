// linear: products of a tile's rows with a shared matrix, on the matrix units. int8 numbers are exact as halves, their
// products and the sums of a block of inputs as float32, and blocks are added as int32.
#ifndef EGGROLL_METAL_LINEAR_H
#define EGGROLL_METAL_LINEAR_H

#include "tile.h"

// Matrices of 8 x 8 that a simdgroup makes of kTileRows rows and kBlock outputs: all rows, a quarter of the outputs.
EGG_CONSTANT uint32_t kRowMatrices = kTileRows / 8;
EGG_CONSTANT uint32_t kColMatrices = kBlock / 8 / kSimdgroups;
EGG_CONSTANT uint32_t kSums = kTileRows * kBlock / kThreads;  // that a thread adds up as int32

inline threadgroup int32_t* q_of(thread const Tile& tile) {
  return reinterpret_cast<threadgroup int32_t*>(tile.scratch + kStaging);
}

// q of each row and rank: four neighbouring lanes have a row.
inline void project(thread const Tile& tile, device const DeviceOp& op, uint32_t ranks) {
  const uint32_t row = tile.quad_row();
  for (uint32_t r = 0; r < ranks; ++r) {
    device const int8_t* b = tile.noise(row, op.b + r * op.b_stride);
    int32_t part = 0;
    for (uint32_t u = tile.quad_lane(); u < op.in[0].padded / 4; u += 4) {
      part += dot_four(load(tile, op.in[0], row, u), load_bytes(b, u));
    }
    const int32_t xb = quad_sum(part);
    if (!tile.quad_has_row() || tile.quad_lane() != 0) continue;
    q_of(tile)[row * ranks + r] = egg_linear_q(xb, tile.args->q_shift, tile.args->nearest);
  }
}

// Four numbers of row or output `at` from input k on, in threadgroup memory: 8 x 8 matrices one behind another, all
// those of eight inputs first. `many`: rows or outputs.
inline void stage_four(threadgroup half* to, uint32_t many, uint32_t at, uint32_t k, uint32_t word) {
  const Four four = unpacked(word);
  threadgroup half* place = to + (k / 8 * (many / 8) + at / 8) * 64 + at % 8 * 8 + k % 8;
  for (uint32_t i = 0; i < 4; ++i) place[i] = static_cast<half>(four.at[i]);
}

// `inputs` inputs from k on: of the rows, those that are no members zero, and of `outputs` outputs from `first` on.
inline void stage(thread const Tile& tile, device const DeviceOp& op, uint32_t first, uint32_t outputs, uint32_t k,
                  uint32_t inputs, threadgroup half* xs, threadgroup half* ws) {
  const uint32_t thread_number = tile.thread_number();
  const uint32_t row = thread_number / 4;
  const uint32_t row_k = thread_number % 4 * 16;
  device const uint32_t* x = reinterpret_cast<device const uint32_t*>(tile.narrow(op.in[0], row) + k + row_k);
  for (uint32_t i = 0; i < 4 && row_k + 4 * i < inputs; ++i) {
    stage_four(xs, kTileRows, row, row_k + 4 * i, row < tile.rows ? x[i] : 0);
  }
  const uint32_t output = thread_number / 2;
  const uint32_t output_k = thread_number % 2 * 32;
  device const uint32_t* w = reinterpret_cast<device const uint32_t*>(
      tile.weights + op.matrix + uint64_t(first + output) * op.stride + k + output_k);
  for (uint32_t i = 0; i < 8 && output < outputs && output_k + 4 * i < inputs; ++i) {
    stage_four(ws, kBlock, output, output_k + 4 * i, w[i]);
  }
}

// Sums of products of all rows with kBlock outputs from `first` on. Sum i of a thread is that of row 2 i + thread / 64
// and output thread % 64. What lies beyond rows, outputs and inputs is neither staged nor multiplied, in eights.
inline void multiply(thread const Tile& tile, device const DeviceOp& op, uint32_t first,
                     thread int32_t (&sums)[kSums]) {
  threadgroup half* xs = reinterpret_cast<threadgroup half*>(tile.scratch);
  threadgroup half* ws = xs + kTileRows * kBlock;
  threadgroup float* exact = reinterpret_cast<threadgroup float*>(tile.scratch);
  const uint32_t own_col = tile.simdgroup * kColMatrices;
  const uint32_t outputs = min(kBlock, padded(op.out.size - first, 8));
  for (uint32_t begin = 0; begin < op.in[0].padded; begin += tile.args->block_inputs) {
    const uint32_t end = min(op.in[0].padded, begin + tile.args->block_inputs);
    simdgroup_float8x8 products[kRowMatrices][kColMatrices];
    EGG_UNROLL
    for (uint32_t i = 0; i < kRowMatrices; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kColMatrices; ++j) products[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint32_t k = begin; k < end; k += kBlock) {
      const uint32_t inputs = min(kBlock, padded(op.in[0].size - k, 8));
      stage(tile, op, first, outputs, k, inputs, xs, ws);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint32_t eight = 0; eight < inputs / 8; ++eight) {
        simdgroup_half8x8 x[kRowMatrices];
        simdgroup_half8x8 w[kColMatrices];
        EGG_UNROLL
        for (uint32_t j = 0; j < kColMatrices; ++j) {
          if (8 * (own_col + j) >= outputs) continue;
          simdgroup_load(w[j], ws + (eight * (kBlock / 8) + own_col + j) * 64, 8, 0, true);
        }
        EGG_UNROLL
        for (uint32_t i = 0; i < kRowMatrices; ++i) {
          if (8 * i >= tile.rows) continue;
          simdgroup_load(x[i], xs + (eight * kRowMatrices + i) * 64, 8, 0, false);
          EGG_UNROLL
          for (uint32_t j = 0; j < kColMatrices; ++j) {
            if (8 * (own_col + j) >= outputs) continue;
            simdgroup_multiply_accumulate(products[i][j], x[i], w[j], products[i][j]);
          }
        }
      }
      // All have read the factors before others, or the sums, take their place.
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    EGG_UNROLL
    for (uint32_t i = 0; i < kRowMatrices; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kColMatrices; ++j) {
        simdgroup_store(products[i][j], exact + 8 * i * kBlock + 8 * (own_col + j), kBlock, 0, false);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint32_t i = 0; i < kSums; ++i) sums[i] += static_cast<int32_t>(exact[i * kThreads + tile.thread_number()]);
    // All have read the sums before the next factors take their place.
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

inline void run_linear(thread const Tile& tile, device const DeviceOp& op) {
  const uint32_t ranks = tile.args->perturbed != 0 ? op.ranks : 0;
  project(tile, op, ranks);
  for (uint32_t first = 0; first < op.out.padded; first += kBlock) {
    int32_t sums[kSums] = {};
    multiply(tile, op, first, sums);
    const uint32_t output = first + tile.thread_number() % kBlock;
    for (uint32_t i = 0; i < kSums; ++i) {
      const uint32_t row = i * (kThreads / kBlock) + tile.thread_number() / kBlock;
      if (row >= tile.rows) break;
      int32_t perturbation = 0;
      for (uint32_t r = 0; r < ranks; ++r) {
        perturbation += q_of(tile)[row * ranks + r] * *tile.noise(row, op.a + r * op.a_stride + output);
      }
      int32_t y = egg_linear_out(sums[i], tile.sign(row) * perturbation, op.attr, tile.args->nearest);
      if (op.vectors[1] >= 0) y += vector_of(tile, op, 1, row)[output];
      if (op.out.wide != 0) {
        tile.wide(op.out, row)[output] = y;
      } else {
        tile.narrow(op.out, row)[output] = egg_clip8(y);
      }
    }
  }
}

#endif
