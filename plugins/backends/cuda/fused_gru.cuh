// The layer of a minimal GRU as a fused op.
#ifndef EGGROLL_CUDA_FUSED_GRU_CUH
#define EGGROLL_CUDA_FUSED_GRU_CUH

#include "fused_tile.cuh"

namespace eggroll::cuda {

// A layer's work. Two products are under way while a thread works on the results of the two before.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
struct GruLayer {
  using Tile = FusedTile<kBlocks, kGroups, kMore, kRows>;
  static constexpr uint32_t kMostOwn = Tile::kMostOwn;
  static constexpr bool kAhead = Tile::kAhead;
  static constexpr int kParts = Tile::kParts;

  Tile& tile;
  const FusedOp& op;
  Fragment<kBlocks> y;  // the norm of x
  Fragment<kBlocks> h;  // the state, then the gated state
  int32_t q_h[2] = {0, 0};
  int32_t q_y[2] = {0, 0};
  int32_t q_candidate[2] = {0, 0};
  int32_t first[Tile::kPartSums];  // sums of the products, or of a part of them
  int32_t second[Tile::kPartSums];
  uint32_t first_free = 0;  // the barriers that free the products' weights
  uint32_t second_free = 0;

  __device__ GruLayer(Tile& t, const FusedOp& s) : tile(t), op(s) {}

  template <int kSums>
  __device__ __forceinline__ uint32_t begin(const Fragment<kBlocks>& in, int32_t (&sums)[kSums]) {
    if constexpr (kAhead) {
      tile.await_weights();
      return tile.multiply(in, sums);
    }
    return 0;
  }
  // Begins the products of both inputs for a part of 64 outputs.
  __device__ __forceinline__ void begin_both(const Fragment<kBlocks>& a, const Fragment<kBlocks>& b, int part) {
    if (part == 0) tile.await_both_weights();
    if constexpr (kParts == 1) {
      first_free = tile.multiply(a, first);
      second_free = tile.multiply(b, second);
    } else {
      RingPlace from = tile.stage;
      first_free = tile.multiply_part(a, first, from, part);
      from.advance();
      second_free = tile.multiply_part(b, second, from, part);
      if (part + 1 < kParts) return;
      from.advance();
      tile.stage = from;
    }
  }
  __device__ __forceinline__ auto state() const {
    return [this](uint32_t b, uint32_t half) { return tile.state_unit(b, half); };
  }

  __device__ __forceinline__ void load_inputs();
  __device__ __forceinline__ void make_gates();
  __device__ __forceinline__ void load_gated();
  __device__ __forceinline__ void make_state();
};

// If products begin ahead, the state's product goes on while y is made.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void GruLayer<kBlocks, kGroups, kMore, kRows>::load_inputs() {
  const Rescale(&linears)[4] = op.linears;
  tile.await_state();
  if constexpr (kGroups == 1) {
    tile.load(h, state());
    tile.make_q(h, linears[1].of_q, q_h, kOfState);
  } else {
    tile.add_own_dots(q_h, state());
  }
  int32_t factor[2];
  tile.make_factors(factor);
  if constexpr (kGroups > 1) tile.load(h, state());
  if constexpr (kAhead) first_free = begin(h, first);
  tile.norm_own(factor, [&](const uint4(&block)[2]) {
    uint4 draws[2];
    tile.take_noise(draws[0], draws[1]);
    tile.add_dot(block, draws[0], q_y);
    tile.add_dot(block, draws[1], q_candidate);
  });
  if constexpr (kGroups == 1) {
    tile.load_scratch(y);
    tile.sharing.add_up(kOfY, q_y, q_candidate);
  } else {
    tile.sharing.add_up(kOfY, q_y, q_candidate, q_h);
    tile.scale_q(linears[1].of_q, q_h);
    tile.load_scratch(y);
  }
  tile.scale_q(linears[0].of_q, q_y);
  tile.scale_q(linears[2].of_q, q_candidate);
  const auto keep_first = [&] {
    tile.keep(kOfForget, 0, q_y);
    tile.keep(kOfCandidate, 0, q_candidate);
  };
  tile.each_rank(keep_first, [&](uint32_t rank) {
    int32_t two_y[2] = {0, 0};
    int32_t two_candidate[2] = {0, 0};
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
      uint4 draws[2];
      tile.take_noise(draws[0], draws[1]);
      tile.add_dot(&y.of[8 * b], draws[0], two_y[0], two_y[1]);
      tile.add_dot(&y.of[8 * b], draws[1], two_candidate[0], two_candidate[1]);
    }
    tile.sharing.add_up(kOfY, two_y, two_candidate);
    tile.scale_q(linears[0].of_q, two_y);
    tile.scale_q(linears[2].of_q, two_candidate);
    tile.keep(kOfForget, rank, two_y);
    tile.keep(kOfCandidate, rank, two_candidate);
  });
}

// A part of 16 channels of a row's forget gate and of its gated state. Biases are 128 higher.
template <int kParts>
__device__ __forceinline__ void gate(const uint32_t (&of_y)[8], const uint32_t (&of_h)[8], const uint4& biases,
                                     const uint4& state, int part, uint4& f, uint4& g) {
#pragma unroll
  for (int j = 0; j < 4 / kParts; ++j) {
    const int k = part * (4 / kParts) + j;
    const uint32_t bias = word_of(biases, k) ^ 0x80808080u;
    const auto sum = [&](int i, uint32_t two) {
      return __viaddmin_s16x2_relu(of_y[i] + of_h[i] + two, twice(-255), twice(254));
    };
    const uint32_t low = sum(2 * k, plain_low(bias));
    const uint32_t high = sum(2 * k + 1, plain_high(bias));
    word_at(f, k) = lower_bytes(low, high);
    word_at(g, k) = gated(low, high, word_of(state, k));
  }
}

// The forget gate takes the place of the scratch value, the gated state that of the state.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void GruLayer<kBlocks, kGroups, kMore, kRows>::make_gates() {
  const Rescale(&linears)[4] = op.linears;
  if constexpr (kAhead) second_free = begin(y, second);
#pragma unroll(kGroups == 1 ? 1 : kMostOwn)
  for (uint32_t i = 0; i < kMostOwn; ++i) {
    if (!tile.owns(i)) break;
    const uint32_t b = tile.own_block(i);
    uint4 draws[2];
    uint4 biases[2];
    uint4 f[2];
    uint4 g[2];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if constexpr (!kAhead) begin_both(h, y, part);
      if (part == 0) tile.take_noise(draws[0], draws[1]);
      NoiseBlocks more;
      Outputs of_y;
      Outputs of_h;
      wait_products<1>();
      take_sums(first);
      if (part + 1 == kParts) tile.leave_weights(first_free);
      tile.take_outputs(first, draws[1], linears[1], q_h, kOfState, more, tile.rounding, part, of_h);
      tile.pin_registers(of_h, part);
      // Begins the next block's product, or the candidate's first, which does not need the gated state.
      if constexpr (kAhead) first_free = i + 1 < kMostOwn ? begin(h, first) : begin(y, first);
      if (part == 0) tile.take_noise(biases[0], biases[1]);
      wait_products<kAhead ? 1 : 0>();
      take_sums(second);
      if (part + 1 == kParts) tile.leave_weights(second_free);
      tile.take_outputs(second, draws[0], linears[0], q_y, kOfForget, more, tile.rounding, part, of_y);
      if (kAhead && i + 1 < kMostOwn) {
        tile.pin_registers(of_y, part);
        second_free = begin(y, second);
      }
      if (i == 0 && part == 0) tile.sharing.meet();  // the other group has loaded what is overwritten here
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        gate<kParts>(of_y.of[half], of_h.of[half], biases[half], tile.state_unit(b, half), part, f[half], g[half]);
        if (part + 1 < kParts) continue;
        tile.unit(kScratch, b, half) = f[half];
        tile.state_unit(b, half) = g[half];
      }
    }
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void GruLayer<kBlocks, kGroups, kMore, kRows>::load_gated() {
  if constexpr (kGroups > 1) {
    q_h[0] = q_h[1] = 0;
    tile.add_own_dots(q_h, state());
    tile.sharing.add_up(kOfOutputs, q_h);
    tile.scale_q(op.linears[3].of_q, q_h);
  }
  tile.load(h, state());
}

// A part of 16 channels of a row's next state, and of x with it added.
template <int kParts>
__device__ __forceinline__ void mix(const uint32_t (&of_y)[8], const uint32_t (&of_h)[8], const uint4& biases,
                                    const uint4& f, const uint4& state, const uint4& x, int part, uint4& next,
                                    uint4& sum) {
#pragma unroll
  for (int j = 0; j < 4 / kParts; ++j) {
    const int k = part * (4 / kParts) + j;
    const uint32_t bias = word_of(biases, k) ^ kFall;
    const auto fallen = [&](int i, uint32_t two) {
      return __viaddmin_s16x2_relu(of_y[i] + of_h[i] + two, twice(-254), twice(254));
    };
    const uint32_t c = lower_bytes(fallen(2 * k, plain_low(bias)), fallen(2 * k + 1, plain_high(bias))) ^ kFall;
    const Mixed both = mixed(word_of(f, k), word_of(state, k), c);
    word_at(next, k) = lower_bytes(both.low, both.high);
    const uint32_t old = word_of(x, k);
    word_at(sum, k) = lower_bytes(add_clipped(both.low, signed_low(old)), add_clipped(both.high, signed_high(old)));
  }
}

// Makes the candidate, and from it the next state and x.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void GruLayer<kBlocks, kGroups, kMore, kRows>::make_state() {
  const Rescale(&linears)[4] = op.linears;
  // If so, the state stays on chip, because nothing orders a copy after the stores.
  const bool only_state = op.next_state == op.state;
  const bool real[2] = {tile.is_real(0), tile.is_real(1)};
  if constexpr (kAhead) second_free = begin(h, second);
#pragma unroll(kGroups == 1 ? 1 : kMostOwn)
  for (uint32_t i = 0; i < kMostOwn; ++i) {
    if (!tile.owns(i)) break;
    const uint32_t b = tile.own_block(i);
    uint4 states[2];
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) states[half] = __ldcg(tile.state_of(half, op.state) + 4 * b);
    uint4 draws[2];
    uint4 biases[2];
    uint4 next[2];
    uint4 sum[2];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if constexpr (!kAhead) begin_both(y, h, part);
      if (i == 0 && part == 0) tile.make_later_q(h, linears[3].of_q, q_h, kOfState);
      if (part == 0) tile.take_noise(draws[0], draws[1]);
      NoiseBlocks more;
      Outputs of_y;
      Outputs of_h;
      wait_products<1>();
      take_sums(first);
      if (part + 1 == kParts) tile.leave_weights(first_free);
      tile.take_outputs(first, draws[0], linears[2], q_candidate, kOfCandidate, more, tile.fallen_rounding, part, of_y);
      tile.pin_registers(of_y, part);
      const bool goes_on = kAhead && i + 1 < kMostOwn;
      if (goes_on) first_free = begin(y, first);
      if (part == 0) tile.take_noise(biases[0], biases[1]);
      if (goes_on) {
        wait_products<1>();
      } else {
        wait_products<0>();
      }
      take_sums(second);
      if (part + 1 == kParts) tile.leave_weights(second_free);
      tile.take_outputs(second, draws[1], linears[3], q_h, kOfState, more, tile.fallen_rounding, part, of_h);
      if (goes_on) {
        tile.pin_registers(of_h, part);
        second_free = begin(h, second);
      }
      if (i == 0 && part == 0) tile.sharing.meet();  // the other group has loaded what is overwritten here
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        mix<kParts>(of_y.of[half], of_h.of[half], biases[half], tile.unit(kScratch, b, half), states[half],
                    tile.unit(kX, b, half), part, next[half], sum[half]);
        if (part + 1 < kParts) continue;
        if (real[half]) __stcg(tile.state_of(half, op.state) + 4 * b, next[half]);
        if (only_state) tile.state_unit(b, half) = next[half];
        tile.unit(kX, b, half) = sum[half];
        tile.magnitudes[half] = add_magnitudes(sum[half], tile.magnitudes[half]);
      }
    }
  }
  if (!only_state) tile.ask_for_state(op.next_state);
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_gru(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op) {
  GruLayer<kBlocks, kGroups, kMore, kRows> layer(tile, op);
  layer.load_inputs();
  layer.make_gates();
  layer.load_gated();
  layer.make_state();
}

}  // namespace eggroll::cuda

#endif
