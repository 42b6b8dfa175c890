// The rings of the fused forward pass: what brings weights and noise to shared memory, and what those see that read.
#ifndef EGGROLL_CUDA_FUSED_RING_CUH
#define EGGROLL_CUDA_FUSED_RING_CUH

#include "fused.h"
#include "wgmma.cuh"

namespace eggroll::cuda {

// A place in a ring of `count`, each with two barriers: filled, and 8 bytes behind it free.
struct RingPlace {
  uint32_t barriers;
  uint32_t count;
  uint32_t at = 0;
  uint32_t phase = 0;

  __device__ uint32_t filled() const { return barriers + 16 * at; }
  __device__ uint32_t free() const { return filled() + 8; }
  __device__ void advance() {
    if (++at == count) {
      at = 0;
      phase ^= 1;
    }
  }
};

__device__ inline void init_ring(uint32_t barriers, uint32_t count, uint32_t readers) {
  for (uint32_t i = 0; i < count; ++i) {
    init_barrier(barriers + 16 * i, 1);
    init_barrier(barriers + 16 * i + 8, readers);
  }
}

// Passes of a block over its tiles: body() for each token of each.
template <class Body>
__device__ __forceinline__ void each_pass(const FusedArgs& args, Body&& body) {
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  for (uint32_t first = blockIdx.x * args.tiles; first < tiles; first += gridDim.x * args.tiles) {
    for (uint32_t token = 0; token < args.tokens; ++token) body(first);
  }
}

// By a warp.
__device__ inline void bring_weights(const FusedArgs& args, uint32_t ring, RingPlace place) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t bytes = fused_stage_bytes(args.blocks);
  each_pass(args, [&](uint32_t) {
    for (uint32_t begin = 0; begin < args.stage_count; begin += 32) {
      const uint32_t count = min(args.stage_count - begin, 32u);
      unsigned long long own = 0;
      if (lane < count) own = __ldg(args.stages_of + begin + lane);
      for (uint32_t k = 0; k < count; ++k) {
        const auto from = __shfl_sync(0xffffffffu, own, static_cast<int>(k));
        wait_for(place.free(), place.phase ^ 1);
        if (lane == 0) fetch(ring + place.at * bytes, reinterpret_cast<const int8_t*>(from), bytes, place.filled());
        place.advance();
      }
    }
  });
}

// By a warp, of the block's tile number `own`. Noise is asked for ahead, to the L2 cache: the ring is too short for
// what device memory takes.
__device__ inline void bring_noise(const FusedArgs& args, uint32_t own, uint32_t ring, RingPlace place) {
  constexpr uint32_t kAhead = 8;  // slots
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  each_pass(args, [&](uint32_t first) {
    const int8_t* noise = args.noise + min(first + own, tiles - 1) * args.tile_noise;
    for (uint32_t begin = 0; begin < args.slot_count; begin += kAhead) {
      const uint32_t count = min(args.slot_count - begin, kAhead);
      // Lanes of the first eight have the slots at hand, those of the second the ones after them.
      uint32_t number = begin + lane;
      if (number >= args.slot_count) number -= args.slot_count;
      uint32_t own_pair = 0;
      if (lane < 2 * kAhead && number < args.slot_count) {
        own_pair = __ldg(reinterpret_cast<const uint32_t*>(args.slots_of) + number);
        if (lane >= kAhead) {
          prefetch(noise + size_t{own_pair & 0xffff} * kNoiseBlock, kNoiseBlock);
          if (own_pair >> 16 != kNoNoise) prefetch(noise + size_t{own_pair >> 16} * kNoiseBlock, kNoiseBlock);
        }
      }
      for (uint32_t k = 0; k < count; ++k) {
        const uint32_t pair = __shfl_sync(0xffffffffu, own_pair, static_cast<int>(k));
        wait_for(place.free(), place.phase ^ 1);
        if (lane == 0) {
          const uint32_t to = ring + place.at * kNoiseSlot;
          const bool two = pair >> 16 != kNoNoise;
          announce(place.filled(), two ? kNoiseSlot : kNoiseBlock);
          bring(to, noise + size_t{pair & 0xffff} * kNoiseBlock, kNoiseBlock, place.filled());
          if (two) bring(to + kNoiseBlock, noise + size_t{pair >> 16} * kNoiseBlock, kNoiseBlock, place.filled());
        }
        place.advance();
      }
    }
  });
}

}  // namespace eggroll::cuda

#endif
