// linear: products on the tensor cores (mma.sync, int8), the perturbation and the rounding on what they leave in
// registers: neighbouring channels of one member, because the weights are laid out for that (weights.cu).
#ifndef EGGROLL_CUDA_LINEAR_CUH
#define EGGROLL_CUDA_LINEAR_CUH

#include "mma.cuh"
#include "tile.cuh"

namespace eggroll::cuda {

constexpr uint32_t kSlabs = 2;                             // of 16 rows, that a warp works on at once
constexpr uint32_t kTiles = 4;                             // of 8 outputs, likewise: half a block
constexpr uint32_t kBlockUnits = kBlock * kBlock / kUnit;  // of a block of weights
constexpr uint32_t kRowParts = kTileRows / (16 * kSlabs);  // of a tile, each a warp's
constexpr uint32_t kColumnParts = kTileThreads / 32 / kRowParts;

__device__ inline int32_t dot16(const uint4& x, const uint4& y, int32_t sum) {
  sum = __dp4a(static_cast<int32_t>(x.x), static_cast<int32_t>(y.x), sum);
  sum = __dp4a(static_cast<int32_t>(x.y), static_cast<int32_t>(y.y), sum);
  sum = __dp4a(static_cast<int32_t>(x.z), static_cast<int32_t>(y.z), sum);
  return __dp4a(static_cast<int32_t>(x.w), static_cast<int32_t>(y.w), sum);
}

// q of every row and rank, with its member's sign.
template <class T>
__device__ inline void perturb_inputs(const T& tile, const DeviceOp& op, uint32_t ranks) {
  constexpr uint32_t kAhead = 4;  // loads of noise under way at once
  const uint32_t row = tile.row();
  const uint32_t blocks = op.in_blocks;
  const uint4* x = tile.units(op.in[0], row) + tile.quarter();
  const int8_t* noise = tile.noise_of(row) + op.b_offset;
  for (uint32_t r = 0; r < ranks; ++r) {
    const auto* b = reinterpret_cast<const uint4*>(noise + r * op.b_stride) + tile.quarter();
    int32_t sum = 0;
    for (uint32_t k = 0; k < blocks; k += kAhead) {
      uint4 ahead[kAhead];
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) {
        ahead[i] = k + i < blocks ? __ldg(b + 4 * (k + i)) : make_uint4(0, 0, 0, 0);
      }
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) sum = dot16(x[4 * min(k + i, blocks - 1)], ahead[i], sum);
    }
    sum = row_sum(sum);
    if (tile.quarter() == 0) {
      tile.q()[row * ranks + r] = tile.sign_of(row) * egg_linear_q(sum, tile.args.q_shift, tile.args.nearest);
    }
  }
}

// Rows row and row + 8 of a slab, from the accumulators of half a block: 8 outputs of each thread. at: the first of
// them in the row; a: noise of the first rank.
template <bool kWide, bool kBias, class T>
__device__ inline void finish_slab(const T& tile, const DeviceOp& op, uint32_t at, uint32_t row, const uint2& a,
                                   uint32_t ranks, const int32_t (&sums)[kTiles][4]) {
  const int32_t shift = op.attr + EGG_LINEAR_GUARD_BITS;
  const int32_t rounding = egg_rounding(shift, tile.args.nearest);
  uint2 bias[2] = {};
  int32_t q[2] = {};
  char* out[2];
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    if (kBias) {
      const auto* biases = reinterpret_cast<const char*>(tile.vector(op.vectors[1], row + 8 * half));
      bias[half] = __ldg(reinterpret_cast<const uint2*>(biases + at));
    }
    if (ranks > 0) q[half] = tile.q()[(row + 8 * half) * ranks];
    out[half] = tile.row_start(op.out, row + 8 * half) + (kWide ? 4 * at : at);
  }
  uint32_t words[2][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    int32_t y[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int32_t factor = byte_of(k == 0 ? a.x : a.y, i);
#pragma unroll
      for (int half = 0; half < 2; ++half) y[half][i] = q[half] * factor + rounding;
    }
    for (uint32_t r = 1; r < ranks; ++r) {
      const int8_t* more = tile.noise_of(row) + op.a_offset + r * op.a_stride + at + 4 * k;
      const uint32_t word = __ldg(reinterpret_cast<const uint32_t*>(more));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int32_t factor = tile.q()[(row + 8 * half) * ranks + r];
#pragma unroll
        for (int i = 0; i < 4; ++i) y[half][i] += factor * byte_of(word, i);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int32_t sum = sums[2 * k + i / 2][2 * half + i % 2];
        y[half][i] = (sum * (1 << EGG_LINEAR_GUARD_BITS) + y[half][i]) >> shift;
        if (kBias) y[half][i] += byte_of(k == 0 ? bias[half].x : bias[half].y, i);
      }
      if (kWide) {
        reinterpret_cast<uint4*>(out[half])[k] =
            make_uint4(static_cast<uint32_t>(y[half][0]), static_cast<uint32_t>(y[half][1]),
                       static_cast<uint32_t>(y[half][2]), static_cast<uint32_t>(y[half][3]));
      } else {
        words[half][k] = clip_pack4(y[half]);
      }
    }
  }
  if (!kWide) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      *reinterpret_cast<uint2*>(out[half]) = make_uint2(words[half][0], words[half][1]);
    }
  }
}

// The inputs of a slab as fragments: block k of 64 inputs in two halves, x[0] of the first 32. row: the slab's first.
template <bool kAllShared>
__device__ inline void load_inputs(const Tile<kAllShared>& tile, const Place& in, uint32_t row, uint32_t k,
                                   uint4 (&x)[2]) {
  const uint32_t lane = tile.lane();
  if constexpr (kAllShared) {
    const uint4* mine = tile.units(in, row + lane % 16) + 4 * k + lane / 16;
    x[0] = load_pieces(mine);
    x[1] = load_pieces(mine + 2);
  } else {
    const auto word = [&](uint32_t half, uint32_t u) {
      return tile.word(in, row + lane / 4 + 8 * half, kBlock * k + kUnit * u + 4 * (lane % 4));
    };
    x[0] = make_uint4(word(0, 0), word(1, 0), word(0, 1), word(1, 1));
    x[1] = make_uint4(word(0, 2), word(1, 2), word(0, 3), word(1, 3));
  }
}

template <bool kWide, bool kBias, class T>
__device__ inline void multiply(T& tile, const DeviceOp& op, uint32_t ranks) {
  const uint32_t lane = tile.lane();
  const uint32_t first_row = tile.warp() % kRowParts * 16 * kSlabs;
  const uint32_t in_blocks = op.in_blocks;
  for (uint32_t half = tile.warp() / kRowParts; half < 2 * op.out_blocks; half += kColumnParts) {
    const uint32_t at = half / 2 * kBlock + lane % 4 * kUnit + half % 2 * 8;
    // Of the first rank, under way while the products are made.
    uint2 a[kSlabs] = {};
    if (ranks > 0) {
#pragma unroll
      for (uint32_t s = 0; s < kSlabs; ++s) {
        const int8_t* noise = tile.noise_of(first_row + 16 * s + lane / 4) + op.a_offset;
        a[s] = __ldg(reinterpret_cast<const uint2*>(noise + at));
      }
    }
    int32_t sums[kSlabs][kTiles][4] = {};
    const uint4* weights = reinterpret_cast<const uint4*>(op.matrix) + size_t{half / 2} * in_blocks * kBlockUnits +
                           half % 2 * (kBlockUnits / 2) + lane;
    uint4 w[kTiles];
#pragma unroll
    for (uint32_t j = 0; j < kTiles; ++j) w[j] = __ldg(weights + 32 * j);
#pragma unroll 2
    for (uint32_t k = 0; k < in_blocks; ++k) {
      weights += kBlockUnits;
      uint4 next[kTiles] = {};
      if (k + 1 < in_blocks) {
#pragma unroll
        for (uint32_t j = 0; j < kTiles; ++j) next[j] = __ldg(weights + 32 * j);
      }
#pragma unroll
      for (uint32_t s = 0; s < kSlabs; ++s) {
        uint4 x[2];
        load_inputs(tile, op.in[0], first_row + 16 * s, k, x);
#pragma unroll
        for (uint32_t j = 0; j < kTiles; ++j) {
          multiply_add(sums[s][j], x[0].x, x[0].y, x[0].z, x[0].w, w[j].x, w[j].y);
        }
#pragma unroll
        for (uint32_t j = 0; j < kTiles; ++j) {
          multiply_add(sums[s][j], x[1].x, x[1].y, x[1].z, x[1].w, w[j].z, w[j].w);
        }
      }
#pragma unroll
      for (uint32_t j = 0; j < kTiles; ++j) w[j] = next[j];
    }
#pragma unroll
    for (uint32_t s = 0; s < kSlabs; ++s) {
      finish_slab<kWide, kBias>(tile, op, at, first_row + 16 * s + lane / 4, a[s], ranks, sums[s]);
    }
  }
}

template <class T>
__device__ inline void run_linear(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const uint32_t ranks = tile.ranks(op);
  perturb_inputs(tile, op, ranks);
  __syncthreads();
  const bool bias = op.vectors[1].offset >= 0;
  if (op.out.wide != 0) {
    bias ? multiply<true, true>(tile, op, ranks) : multiply<true, false>(tile, op, ranks);
  } else {
    bias ? multiply<false, true>(tile, op, ranks) : multiply<false, false>(tile, op, ranks);
  }
  __syncthreads();
}

}  // namespace eggroll::cuda

#endif
