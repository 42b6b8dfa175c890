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
constexpr uint32_t kColumnParts = kWarps / kRowParts;

// q of every row and rank, with its member's sign.
template <class T>
__device__ inline void perturb_inputs(const T& tile, const DeviceOp& op, uint32_t ranks) {
  constexpr uint32_t kAhead = 4;  // loads of noise under way at once
  const uint32_t row = tile.row();
  const uint32_t blocks = op.in_blocks;
  for (uint32_t r = 0; r < ranks; ++r) {
    const NoiseUnits b = tile.noise_units(row, op.b_offset + r * op.b_stride);
    int32_t sum = 0;
    for (uint32_t k = 0; k < blocks; k += kAhead) {
      uint4 ahead[kAhead];
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) ahead[i] = k + i < blocks ? b[k + i] : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) {
        sum = dot16(tile.unit(op.in[0], row, tile.quarter() + 4 * min(k + i, blocks - 1)), ahead[i], sum);
      }
    }
    sum = row_sum(sum);
    if (tile.quarter() == 0) {
      tile.q()[row * ranks + r] = tile.sign_of(row) * egg_linear_q(sum, tile.args.q_shift, tile.args.nearest);
    }
  }
}

// The data that turn a row's sums into outputs.
struct Finish {
  int32_t shift;
  int32_t rounding;
  int32_t q_low;  // q of the first rank in either half of a word
  int32_t q_high;

  template <class T>
  __device__ Finish(const T& tile, const DeviceOp& op, uint32_t row, uint32_t ranks)
      : shift(op.attr + EGG_LINEAR_GUARD_BITS), rounding(egg_rounding(shift, tile.args.nearest)) {
    const int32_t q = ranks > 0 ? tile.q()[row * ranks] : 0;
    q_low = q & 0xffff;
    q_high = q << 16;
  }

  // egg_linear_out of four outputs, its rounding with the perturbation; plus a bias. a: noise of the first rank; more:
  // the perturbation of the others.
  template <bool kBias>
  __device__ void operator()(const int32_t (&sums)[4], uint32_t a, const int32_t (&more)[4], uint32_t bias,
                             int32_t (&y)[4]) const {
    const auto factors = static_cast<int32_t>(a);
    y[0] = __dp2a_lo(q_low, factors, rounding + more[0]);
    y[1] = __dp2a_lo(q_high, factors, rounding + more[1]);
    y[2] = __dp2a_hi(q_low, factors, rounding + more[2]);
    y[3] = __dp2a_hi(q_high, factors, rounding + more[3]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      y[i] = (sums[i] * (1 << EGG_LINEAR_GUARD_BITS) + y[i]) >> shift;
      if (kBias) y[i] += byte_of(bias, i);
    }
  }
};

// The perturbation of four outputs of a row, word k of a thread's unit i, by the ranks after the first.
template <class T>
__device__ inline void perturb_more(const T& tile, const DeviceOp& op, uint32_t row, uint32_t i, uint32_t k,
                                    uint32_t ranks, int32_t (&more)[4]) {
  for (uint32_t r = 1; r < ranks; ++r) {
    const NoiseUnits a = tile.noise_units(row, op.a_offset + r * op.a_stride);
    const auto word = a.template part<uint32_t>(i, k);
    const int32_t factor = tile.q()[row * ranks + r];
#pragma unroll
    for (int e = 0; e < 4; ++e) more[e] += factor * byte_of(word, e);
  }
}

// Four outputs, word k of a thread's unit i: into `word`, or to their place where the value is wide.
template <bool kWide, class T>
__device__ inline void put4(const T& tile, const DeviceOp& op, uint32_t row, uint32_t i, uint32_t k,
                            const int32_t (&y)[4], uint32_t& word) {
  if (kWide) {
    tile.wide_word(op.out, row, 4 * i + tile.quarter(), k) = wide_unit(y);
  } else {
    word = clip_pack4(y);
  }
}

// Rows row and row + 8 of a slab, from the accumulators of half h of block i: 8 outputs of each thread. a: noise of the
// first rank.
template <bool kWide, bool kBias, class T>
__device__ inline void finish_slab(const T& tile, const DeviceOp& op, uint32_t i, uint32_t h, uint32_t row,
                                   const uint2& a, uint32_t ranks, const int32_t (&sums)[kTiles][4]) {
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    const Finish finish(tile, op, row + 8 * half, ranks);
    const uint2 bias = kBias ? tile.vector(op.vectors[1], row + 8 * half).template part<uint2>(i, h) : make_uint2(0, 0);
    uint32_t words[2];
#pragma unroll
    for (uint32_t k = 0; k < 2; ++k) {
      int32_t more[4] = {};
      perturb_more(tile, op, row + 8 * half, i, 2 * h + k, ranks, more);
      const int32_t(&first)[4] = sums[2 * k];
      const int32_t(&second)[4] = sums[2 * k + 1];
      const int32_t four[4] = {first[2 * half], first[2 * half + 1], second[2 * half], second[2 * half + 1]};
      int32_t y[4];
      finish.template operator()<kBias>(four, k == 0 ? a.x : a.y, more, k == 0 ? bias.x : bias.y, y);
      put4<kWide>(tile, op, row + 8 * half, i, 2 * h + k, y, words[k]);
    }
    if (!kWide) {
      auto* unit = reinterpret_cast<uint2*>(&tile.unit(op.out, row + 8 * half, 4 * i + tile.quarter()));
      unit[h] = make_uint2(words[0], words[1]);
    }
  }
}

// The inputs of a slab as fragments: block k of 64 inputs in two halves, x[0] of the first 32. row: the slab's first.
template <class T>
__device__ inline void load_inputs(const T& tile, const Place& in, uint32_t row, uint32_t k, uint4 (&x)[2]) {
  const uint32_t lane = tile.lane();
  if constexpr (T::kOnChip) {
    x[0] = load_pieces(&tile.unit(in, row + lane % 16, 4 * k + lane / 16));
    x[1] = load_pieces(&tile.unit(in, row + lane % 16, 4 * k + 2 + lane / 16));
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
    // The first rank's noise, on its way while the products are made.
    uint2 a[kSlabs] = {};
    if (ranks > 0) {
#pragma unroll
      for (uint32_t s = 0; s < kSlabs; ++s) {
        a[s] = tile.noise_units(first_row + 16 * s + lane / 4, op.a_offset).template part<uint2>(half / 2, half % 2);
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
      finish_slab<kWide, kBias>(tile, op, half / 2, half % 2, first_row + 16 * s + lane / 4, a[s], ranks, sums[s]);
    }
  }
}

template <class T>
__device__ inline void run_loaded_linear(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t ranks = tile.ranks(op);
  perturb_inputs(tile, op, ranks);
  tile.barrier();
  const bool bias = op.vectors[1].offset >= 0;
  if (tile.is_wide(op.out)) {
    bias ? multiply<true, true>(tile, op, ranks) : multiply<true, false>(tile, op, ranks);
  } else {
    bias ? multiply<false, true>(tile, op, ranks) : multiply<false, false>(tile, op, ranks);
  }
  tile.barrier();
}

}  // namespace eggroll::cuda

#endif
