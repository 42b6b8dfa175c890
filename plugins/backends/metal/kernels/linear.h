// linear: products of a tile's rows with a shared matrix, on matrix units. If EGG_INT8_UNITS is defined, the units
// take int8 and add up int32, which only Metal 4 can do. Else int8 numbers are exact as halves, their products and the
// sums of a block of inputs as float32, and blocks are added as int32; the matrix is read where it lies, as halves.
#ifndef EGGROLL_METAL_LINEAR_H
#define EGGROLL_METAL_LINEAR_H

#include "tile.h"

EGG_CONSTANT uint32_t kSums = kTileRows * kBlock / kThreads;  // of each thread

// A simdgroup has half of a tile's rows and a quarter of kBlock outputs, in cells of kCell x kCell.
EGG_CONSTANT uint32_t kRowParts = 2;
EGG_CONSTANT uint32_t kColParts = kSimdgroups / kRowParts;
EGG_CONSTANT uint32_t kRowCells = kTileRows / kCell / kRowParts;
EGG_CONSTANT uint32_t kColCells = kBlock / kCell / kColParts;

inline threadgroup int32_t* q_of(thread const Tile& tile) {
  return reinterpret_cast<threadgroup int32_t*>(tile.scratch + kStaging);
}

// q of each row and rank. Four neighbouring lanes share a row.
inline void project(thread const Tile& tile, constant DeviceOp& op, uint32_t ranks) {
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

#ifdef EGG_INT8_UNITS
using namespace mpp::tensor_ops;

// Sums of products of all rows with kBlock outputs from `first` on. Sum i of a thread is that of row
// i * (kThreads / kBlock) + thread / kBlock and output thread % kBlock. Rows beyond the last member, and the padding of
// outputs and inputs, are multiplied too: they lie in the tile's memory and among the weights.
inline void multiply(thread const Tile& tile, constant DeviceOp& op, uint32_t first, thread int32_t (&sums)[kSums]) {
  typedef dextents<int32_t, 2> Extents;  // the inner one first
  typedef tensor<device int8_t, Extents, tensor_inline> Rows;
  typedef array<int32_t, 2> Strides;
  const int32_t inputs = static_cast<int32_t>(op.in[0].padded);
  const int32_t stride = static_cast<int32_t>(op.stride);
  device int8_t* matrix = const_cast<device int8_t*>(tile.weights + op.matrix + uint64_t(first) * op.stride);
  threadgroup int32_t* exact = reinterpret_cast<threadgroup int32_t*>(tile.scratch);
  Rows x(tile.narrow(op.in[0], 0), Extents(inputs, kTileRows), Strides{1, inputs});
  Rows w(matrix, Extents(inputs, kBlock), Strides{1, stride});
  tensor<threadgroup int32_t, Extents, tensor_inline> all(exact, Extents(kBlock, kTileRows), Strides{1, kBlock});
  constexpr auto kShape = matmul2d_descriptor(kTileRows, kBlock, static_cast<int>(dynamic_extent), false, true, false,
                                              matmul2d_descriptor::mode::multiply);
  matmul2d<kShape, execution_simdgroups<kSimdgroups>> product;
  auto result = product.get_destination_cooperative_tensor<Rows, Rows, int32_t>();
  product.run(x, w, result);
  result.store(all);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint32_t i = 0; i < kSums; ++i) sums[i] = exact[i * kThreads + tile.thread_number()];
  // All have read the sums before the next ones take their place.
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

#else

// Four int8 numbers of a word as halves, exactly: 1024 + n is the half 0x6400 + n for n below 1024.
inline half4 halves_of(uint32_t word) {
  const uint32_t biased = word ^ 0x80808080u;  // each number + 128
  const half2 bias = half2(static_cast<half>(1152.0f));
  const half2 even = as_type<half2>((biased & 0x00ff00ffu) | 0x64006400u) - bias;
  const half2 odd = as_type<half2>((biased >> 8 & 0x00ff00ffu) | 0x64006400u) - bias;
  half4 halves;
  halves.x = even.x;
  halves.y = odd.x;
  halves.z = even.y;
  halves.w = odd.y;
  return halves;
}

// `inputs` inputs of all rows from k on, to threadgroup memory: cells of kCell rows by kCell inputs, those of kCell
// inputs one behind another. Rows that are no members are zeros.
inline void stage(thread const Tile& tile, constant DeviceOp& op, uint32_t k, uint32_t inputs, threadgroup half* xs) {
  constexpr uint32_t kOwn = kStagedInputs * kTileRows / kThreads;
  const uint32_t row = tile.thread_number() / (kThreads / kTileRows);
  const uint32_t first = tile.thread_number() % (kThreads / kTileRows) * kOwn;
  device const uint32_t* x = reinterpret_cast<device const uint32_t*>(tile.narrow(op.in[0], row) + k + first);
  for (uint32_t i = 0; i < kOwn / 4 && first + 4 * i < inputs; ++i) {
    const uint32_t at = first + 4 * i;
    threadgroup half* to =
        xs + (at / kCell * (kTileRows / kCell) + row / kCell) * (kCell * kCell) + row % kCell * kCell + at % kCell;
    *reinterpret_cast<threadgroup half4*>(to) = halves_of(row < tile.rows ? x[i] : 0);
  }
}

// Sums of products of all rows with kBlock outputs from `first` on. Sum i of a thread is that of row
// i * (kThreads / kBlock) + thread / kBlock and output thread % kBlock. What lies beyond rows, outputs and inputs is
// neither staged nor multiplied, in cells.
inline void multiply(thread const Tile& tile, constant DeviceOp& op, uint32_t first, thread int32_t (&sums)[kSums]) {
  threadgroup half* xs = reinterpret_cast<threadgroup half*>(tile.scratch);
  threadgroup float* exact = reinterpret_cast<threadgroup float*>(tile.scratch);
  const uint32_t own_row = tile.simdgroup / kColParts * kRowCells;
  const uint32_t own_col = tile.simdgroup % kColParts * kColCells;
  const uint32_t outputs = min(kBlock, padded(op.out.size - first, kCell));
  for (uint32_t begin = 0; begin < op.in[0].padded; begin += tile.args->block_inputs) {
    const uint32_t end = min(op.in[0].padded, begin + tile.args->block_inputs);
    simdgroup_float8x8 products[kRowCells][kColCells];
    EGG_UNROLL
    for (uint32_t i = 0; i < kRowCells; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kColCells; ++j) products[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint32_t k = begin; k < end; k += kStagedInputs) {
      const uint32_t inputs = min(min(kStagedInputs, end - k), padded(op.in[0].size - k, kCell));
      stage(tile, op, k, inputs, xs);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint32_t cell = 0; cell < inputs / kCell; ++cell) {
        simdgroup_half8x8 x[kRowCells];
        simdgroup_half8x8 w[kColCells];
        EGG_UNROLL
        for (uint32_t j = 0; j < kColCells; ++j) {
          const uint32_t output = kCell * (own_col + j);
          if (output >= outputs) continue;
          device const half* from = tile.halves + op.halves + half_place(first + output, k + kCell * cell, op.stride);
          simdgroup_load(w[j], from, kCell, 0, false);
        }
        EGG_UNROLL
        for (uint32_t i = 0; i < kRowCells; ++i) {
          if (kCell * (own_row + i) >= tile.rows) continue;
          simdgroup_load(x[i], xs + (cell * (kTileRows / kCell) + own_row + i) * (kCell * kCell), kCell, 0, false);
          EGG_UNROLL
          for (uint32_t j = 0; j < kColCells; ++j) {
            if (kCell * (own_col + j) >= outputs) continue;
            simdgroup_multiply_accumulate(products[i][j], x[i], w[j], products[i][j]);
          }
        }
      }
      // All have read the inputs before others, or the sums, take their place.
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    EGG_UNROLL
    for (uint32_t i = 0; i < kRowCells; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kColCells; ++j) {
        simdgroup_store(products[i][j], exact + kCell * ((own_row + i) * kBlock + own_col + j), kBlock, 0, false);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint32_t i = 0; i < kSums; ++i) sums[i] += static_cast<int32_t>(exact[i * kThreads + tile.thread_number()]);
    // All have read the sums before the next inputs take their place.
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

#endif

inline void run_linear(thread const Tile& tile, constant DeviceOp& op) {
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
