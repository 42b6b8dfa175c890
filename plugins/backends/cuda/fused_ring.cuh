// The rings of the fused forward pass, which bring weights and noise to shared memory: writers and readers.
#ifndef EGGROLL_CUDA_FUSED_RING_CUH
#define EGGROLL_CUDA_FUSED_RING_CUH

#include "fused.h"
#include "wgmma.cuh"

namespace eggroll::cuda {

// A place in a ring. Each place has two barriers: `filled`, and `free` 8 bytes after it. A worker advances about 60
// times per token, so this holds only the barrier.
struct RingPlace {
  uint32_t begin;  // of the ring's barriers
  uint32_t end;
  uint32_t filled;
  uint32_t phase = 0;

  __device__ RingPlace(uint32_t barriers, uint32_t count)
      : begin(barriers), end(barriers + 16 * count), filled(barriers) {}
  __device__ uint32_t free() const { return filled + 8; }
  // 16 times the place's number.
  __device__ uint32_t behind() const { return filled - begin; }
  __device__ void advance() {
    filled += 16;
    if (filled == end) {
      filled = begin;
      phase ^= 1;
    }
  }
};

// Arrives at the free barrier of the place with this filled barrier, for `count` threads.
__device__ inline void set_free(uint32_t filled) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0+8];" ::"r"(filled) : "memory");
}
__device__ inline void set_free(uint32_t filled, uint32_t count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0+8], %1;" ::"r"(filled), "r"(count) : "memory");
}

__device__ inline void init_ring(uint32_t barriers, uint32_t count, uint32_t readers) {
  for (uint32_t i = 0; i < count; ++i) {
    init_barrier(barriers + 16 * i, 1);
    init_barrier(barriers + 16 * i + 8, readers);
  }
}

template <Rows kRows>
__device__ inline uint32_t tiles_of(const FusedArgs& args) {
  if constexpr (kRows == Rows::kWindows) return divide_up(args.rows, tile_members(args.shape));
  return divide_up(args.rows, kRows == Rows::kSpan ? kTileRows / kSpan : kTileRows);
}
// If rows are tokens: the tile that a block's worker number `own` does in a pass. The last pass's tiles are spread over
// all blocks, so that fewer of them share a multiprocessor.
__device__ inline uint32_t tile_of_pass(const FusedArgs& args, uint32_t pass, uint32_t own) {
  return (pass * args.shape.tiles + own) * gridDim.x + blockIdx.x;
}
// Spans that a tile takes one after the other.
template <Rows kRows>
__device__ inline uint32_t steps_of(const FusedArgs& args) {
  return kRows == Rows::kSpan ? divide_up(args.tokens, kSpan) : 1;
}

// If rows are members: the number of a block's seat. If tiles are cut, a seat waits for the one before it, which
// is in the same block or in the block before. GPUs start blocks in the order of their numbers, though CUDA does not
// promise it: so that block is at work or done, even if not all blocks find room at once.
__device__ inline uint32_t seat_number(const FusedArgs& args, uint32_t own) {
  const bool cuts_tiles = args.seat_tokens > args.tokens;
  return cuts_tiles ? blockIdx.x * args.shape.tiles + own : own * gridDim.x + blockIdx.x;
}

// By one thread.
__device__ inline void bring_weights(const FusedArgs& args, const FusedFeed& feed, uint32_t ring, RingPlace place) {
  const uint32_t bytes = fused_stage_bytes(args.blocks);
  const unsigned long long* stages_of = args.stages_of + feed.first_stage;
  unsigned long long from = __ldg(stages_of);
  for (uint32_t token = 0; token < args.seat_tokens; ++token) {
    for (uint32_t i = 0; i < feed.stage_count; ++i) {
      const unsigned long long next = __ldg(stages_of + (i + 1 < feed.stage_count ? i + 1 : 0));
      wait_for(place.free(), place.phase ^ 1);
      if (from != 0) {
        fetch(ring + place.behind() / 16 * bytes, reinterpret_cast<const int8_t*>(from), bytes, place.filled);
      } else {
        arrive(place.filled);
      }
      place.advance();
      from = next;
    }
  }
}

// By one thread, of the block's seat number `own` and of number `also`, if there is one: as all tiles read the same
// weights, neither is far ahead of the other. Each token reads all of the noise anew, and the L2 cache does not hold
// the noise of all tiles at work. Were its lines like any other, each would be gone before its turn comes again. The
// cache gives up the newest of them first, so a part of the others is still there.
__device__ inline void bring_noise(const FusedArgs& args, const FusedFeed& feed, const FusedSeat* seats, uint32_t own,
                                   uint32_t also, uint32_t ring, RingPlace place) {
  const uint32_t repeated = feed.repeated_noise_stages;
  const uint32_t stages = feed.noise_stage_count;
  const uint32_t apart = (also - own) * (place.end - place.begin);  // bytes from one's barriers to the other's
  const int8_t* noise = args.noise + feed.first_noise_stage * kNoiseStage;
  const auto bring_stage = [&](uint32_t tile, uint32_t from, uint32_t behind) {
    wait_for(place.free() + behind, place.phase ^ 1);
    fetch_passing(ring + (place.behind() + behind) / 16 * kNoiseStage,
                  noise + tile * args.tile_noise + from * kNoiseStage, kNoiseStage, place.filled + behind);
  };
  for (uint32_t token = 0;; ++token) {
    const uint32_t tile = tile_of_token(seats[own], token, args.tokens);
    const uint32_t other = also < args.shape.tiles ? tile_of_token(seats[also], token, args.tokens) : kNoTile;
    if (tile == kNoTile && other == kNoTile) break;
    for (uint32_t i = 0; i < stages + repeated; ++i) {
      const uint32_t from = i < stages ? i : i - repeated;
      if (tile != kNoTile) bring_stage(tile, from, 0);
      if (other != kNoTile) bring_stage(other, from, apart);
      place.advance();
    }
  }
}

// The noise of pair `pair` of a launch: its first block; the next block lies kNoiseBlock further.
__device__ inline const int8_t* noise_of_pair(const FusedArgs& args, uint32_t pair) {
  return args.noise + pair / kTilePairs * args.tile_noise + pair % kTilePairs * kBlock;
}

// The filler of a ring with many stages uses this, because it leaves the processor to other threads while it waits.
__device__ inline void wait_idly(uint32_t barrier, uint32_t parity) {
  while (!has_ended(barrier, parity)) __nanosleep(100);
}

// bring_weights if rows are tokens: op after op, each at all steps.
template <Rows kRows>
__device__ inline void bring_token_weights(const FusedArgs& args, uint32_t ring, RingPlace place) {
  const uint32_t bytes = fused_stage_bytes(args.blocks);
  const uint32_t tiles = tiles_of<kRows>(args);
  const uint32_t steps = steps_of<kRows>(args);
  for (uint32_t pass = 0; tile_of_pass(args, pass, 0) < tiles; ++pass) {
    const unsigned long long* of_op = args.stages_of;
    for (uint32_t s = 0; s < args.op_count; ++s) {
      const uint32_t stages = args.needs[s].stages;
      for (uint32_t step = 0; step < steps; ++step) {
        for (uint32_t i = 0; i < stages; ++i) {
          const auto* from = reinterpret_cast<const int8_t*>(__ldg(of_op + i));
          wait_idly(place.free(), place.phase ^ 1);
          fetch(ring + place.behind() / 16 * bytes, from, bytes, place.filled);
          place.advance();
        }
      }
      of_op += stages;
    }
  }
}

// Must be called by one warp. A stage of the ring has all that an op takes of the tile's pairs, at all steps.
template <Rows kRows>
__device__ inline void bring_pair_noise(const FusedArgs& args, uint32_t own, uint32_t ring, RingPlace place) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t tiles = tiles_of<kRows>(args);
  const uint32_t pairs = kRows == Rows::kSpan ? 1 : tile_pairs(args.shape);
  const uint32_t bytes = pairs * kBlock;  // of a block
  for (uint32_t pass = 0; tile_of_pass(args, pass, own) < tiles; ++pass) {
    const int8_t* from = noise_of_pair(args, tile_of_pass(args, pass, own) * pairs);
    for (uint32_t s = 0; s < args.op_count; ++s) {
      const uint32_t blocks = 2 * args.needs[s].noise_stages;
      wait_idly(place.free(), place.phase ^ 1);
      if (lane == 0) announce(place.filled, blocks * bytes);
      __syncwarp();
      for (uint32_t b = lane; b < blocks; b += 32) {
        bring(ring + place.behind() / 16 * args.shape.noise_slot + b * bytes, from + size_t{b} * kNoiseBlock, bytes,
              place.filled);
      }
      __syncwarp();
      from += size_t{blocks} * kNoiseBlock;
      place.advance();
    }
  }
}

}  // namespace eggroll::cuda

#endif
