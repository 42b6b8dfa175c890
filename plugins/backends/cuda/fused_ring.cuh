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

// The tile that number `own` of a block's works on in a pass. Those of the last pass are spread over all blocks, so
// that the fewer of them share a multiprocessor.
__device__ inline uint32_t tile_of_pass(const FusedArgs& args, uint32_t pass, uint32_t own) {
  return (pass * args.shape.tiles + own) * gridDim.x + blockIdx.x;
}

// Calls body(tile) for each token of each pass in which number `own` has a tile.
template <class Body>
__device__ __forceinline__ void each_pass(const FusedArgs& args, uint32_t own, Body&& body) {
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  for (uint32_t pass = 0; tile_of_pass(args, pass, own) < tiles; ++pass) {
    for (uint32_t token = 0; token < args.tokens; ++token) body(tile_of_pass(args, pass, own));
  }
}

// By one thread.
__device__ inline void bring_weights(const FusedArgs& args, const FusedFeed& feed, uint32_t ring, RingPlace place) {
  const uint32_t bytes = fused_stage_bytes(args.blocks);
  const unsigned long long* stages_of = args.stages_of + feed.first_stage;
  unsigned long long from = __ldg(stages_of);
  each_pass(args, 0, [&](uint32_t) {
    for (uint32_t i = 0; i < feed.stage_count; ++i) {
      const unsigned long long next = __ldg(stages_of + (i + 1 < feed.stage_count ? i + 1 : 0));
      wait_for(place.free(), place.phase ^ 1);
      if (from != 0) {
        fetch(ring + place.at * bytes, reinterpret_cast<const int8_t*>(from), bytes, place.filled());
      } else {
        arrive(place.filled());
      }
      place.advance();
      from = next;
    }
  });
}

// By one thread, of the block's tile number `own`. Noise is asked for ahead, to the L2 cache, a few stages at a time:
// the ring is too short for what device memory takes.
__device__ inline void bring_noise(const FusedArgs& args, const FusedFeed& feed, uint32_t own, uint32_t ring,
                                   RingPlace place) {
  constexpr uint32_t kChunk = 4 * kNoiseStage;
  constexpr uint32_t kAhead = 3 * kChunk;
  const uint32_t bytes = feed.noise_stage_count * kNoiseStage;
  each_pass(args, own, [&](uint32_t tile) {
    const int8_t* noise = args.noise + tile * args.tile_noise + feed.first_noise_stage * kNoiseStage;
    for (uint32_t at = 0; at < bytes; at += kNoiseStage) {
      if (at % kChunk == 0) {
        // Behind the end comes the next token's beginning.
        const uint32_t ahead = at + kAhead < bytes ? at + kAhead : at % kAhead;
        if (ahead < bytes) prefetch(noise + ahead, min(kChunk, bytes - ahead));
      }
      wait_for(place.free(), place.phase ^ 1);
      fetch(ring + place.at * kNoiseStage, noise + at, kNoiseStage, place.filled());
      place.advance();
    }
  });
}

}  // namespace eggroll::cuda

#endif
