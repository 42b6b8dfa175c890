// linear where a device has wgmma: the copy engine brings the weights to a ring in shared memory, ahead of the two
// warpgroups that multiply with them. The first has the even blocks of outputs, the second the odd ones.
#ifndef EGGROLL_CUDA_STREAM_CUH
#define EGGROLL_CUDA_STREAM_CUH

#include "linear.cuh"
#include "tile.cuh"
#include "wgmma.cuh"

namespace eggroll::cuda {

// What the ring is filled with next.
struct alignas(16) Cursor {
  uint32_t source;
  uint32_t stage;   // of the ring
  uint32_t passes;  // through all sources, done so far: one a token
};
static_assert(sizeof(Cursor) + 16 * kMostStages == kRingState);

// Behind the ring lie the cursor, and for each stage a barrier that ends a phase when its weights have come, and the
// number of warps that are done with it. The last of these fills it anew, so that no thread waits for others to leave.
struct Ring {
  const ForwardArgs& args;
  uint32_t weights;
  uint32_t barriers;

  __device__ explicit Ring(const ForwardArgs& the_args)
      : args(the_args),
        weights(shared_address(ring_start(args))),
        barriers(shared_address(ring_end(args) + sizeof(Cursor))) {}
  __device__ uint32_t full(uint32_t stage) const { return barriers + 16 * stage; }
  __device__ uint32_t users(uint32_t stage) const { return barriers + 16 * stage + 8; }

  // By one thread, before all others.
  __device__ void init() const {
    for (uint32_t s = 0; s < args.stages; ++s) {
      init_barrier(full(s), 1);
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(users(s)), "r"(0) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    publish_to_async();
    cursor() = {0, 0, 0};
    for (uint32_t s = 0; s < args.stages; ++s) fill_next();
  }

  __device__ void advance(uint32_t& stage, uint32_t& phase) const {
    if (++stage == args.stages) {
      stage = 0;
      phase ^= 1;
    }
  }

  // By each warp, once it has read the stage; speaks: one of its lanes.
  __device__ void release(uint32_t stage, bool speaks) const {
    const uint32_t last = tiles_at_once() * kWarps - 1;
    uint32_t before = 0;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %3, 0;\n"
        "@p atom.relaxed.cta.shared::cta.inc.u32 %0, [%1], %2;\n"
        "}\n"
        : "+r"(before)
        : "r"(users(stage)), "r"(last), "r"(static_cast<uint32_t>(speaks))
        : "memory");
    if (before == last) {
      __threadfence_block();
      fill_next();
    }
  }

 private:
  __device__ Cursor& cursor() const { return *reinterpret_cast<Cursor*>(ring_end(args)); }

  // Stages are filled in the order in which they are emptied, each after the one before: a warp that is the last to
  // leave a stage has left all before it. One thread at a time; atomics are how the next one sees what it left.
  __device__ void fill_next() const {
    Cursor& c = cursor();
    const uint32_t number = atomicInc(&c.source, args.source_count - 1);
    const uint32_t stage = atomicInc(&c.stage, args.stages - 1);
    const uint32_t pass = atomicAdd(&c.passes, number + 1 == args.source_count ? 1 : 0);
    const uint32_t tile = (blockIdx.x + pass / args.tokens * gridDim.x) * tiles_at_once();
    if (tile >= tiles_of(args)) return;
    const StageSource source = args.sources[number];
    fetch(weights + stage * kStage, source.weights, kStage, full(stage));
    if (args.tile_noise == 0 || source.noise_end == source.noise_begin) return;
    for (uint32_t i = tile; i < min(tile + tiles_at_once(), tiles_of(args)); ++i) {
      prefetch(args.noise + i * args.tile_noise + size_t{source.noise_begin} * kTilePairs,
               (source.noise_end - source.noise_begin) * kTilePairs);
    }
  }
};

// Rows row and row + 8 of a slab, from the accumulators of block i: 16 outputs of each thread.
template <bool kWide, bool kBias, bool kMore, class T>
__device__ __forceinline__ void finish_block(const T& tile, const DeviceOp& op, uint32_t i, const uint4& a,
                                             const uint4 (&biases)[2], uint32_t ranks, const int32_t (&sums)[32]) {
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t row = tile.slab() + tile.lane() / 4 + 8 * half;
    const Finish finish(tile, op, row, ranks);
    const uint4& bias = biases[half];
    uint32_t words[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      int32_t more[4] = {};
      if (kMore) perturb_more(tile, op, row, i, k, ranks, more);
      const uint32_t at = 8 * k + 2 * half;
      const int32_t four[4] = {sums[at], sums[at + 1], sums[at + 4], sums[at + 5]};
      int32_t y[4];
      finish.template operator()<kBias>(four, word_of(a, static_cast<int>(k)), more, word_of(bias, static_cast<int>(k)),
                                        y);
      put4<kWide>(tile, op, row, i, k, y, words[k]);
    }
    if (!kWide) {
      tile.unit(op.out, row, 4 * i + tile.quarter()) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

template <bool kMore, class T>
__device__ __forceinline__ void finish_block(const T& tile, const DeviceOp& op, uint32_t i, const uint4& a,
                                             const uint4 (&biases)[2], uint32_t ranks, const int32_t (&sums)[32]) {
  const bool bias = op.vectors[1].offset >= 0;
  if (tile.is_wide(op.out)) {
    bias ? finish_block<true, true, kMore>(tile, op, i, a, biases, ranks, sums)
         : finish_block<true, false, kMore>(tile, op, i, a, biases, ranks, sums);
  } else {
    bias ? finish_block<false, true, kMore>(tile, op, i, a, biases, ranks, sums)
         : finish_block<false, false, kMore>(tile, op, i, a, biases, ranks, sums);
  }
}

// The same in all lanes, as the compiler cannot know.
__device__ inline uint32_t uniform(uint32_t x) { return __shfl_sync(0xffffffffu, x, 0); }

template <class T>
__device__ __forceinline__ void run_streamed_linear(T& tile, const DeviceOp& planned) {
  constexpr uint32_t kHalf = kPart / 2;
  constexpr uint32_t kWeightPlane = kBlock * kUnit;
  constexpr uint32_t kPlanes = 32 / kUnit;  // of a product's inputs
  const typename T::Op op = planned;
  const uint32_t ranks = tile.ranks(op);
  perturb_inputs(tile, op, ranks);
  publish_to_async();
  tile.barrier();
  const Ring ring(tile.args);
  const bool speaks = tile.lane() == 0;
  const uint32_t group = uniform(tile.warp() / 4);
  const uint32_t inputs = uniform(describe(shared_address(tile.start(op.in[0])), kPlane));
  const uint32_t weights = describe(ring.weights + group * kHalf, kWeightPlane);
  const uint32_t in_blocks = uniform(op.in_blocks);
  const uint32_t out_blocks = uniform(op.out_blocks);
  uint32_t stage = uniform(tile.at.stage);
  uint32_t phase = uniform(tile.at.phase);
  for (uint32_t block = group; block < out_blocks + group; block += 2) {
    const bool real = block < out_blocks;  // the last block has no partner where their number is odd
    // Under way while the products are made.
    const uint32_t row = tile.slab() + tile.lane() / 4;
    uint4 a = {};
    uint4 biases[2] = {};
    if (ranks > 0 && real) a = tile.noise_units(row, op.a_offset)[block];
    if (op.vectors[1].offset >= 0 && real) {
      biases[0] = tile.vector(op.vectors[1], row)[block];
      biases[1] = tile.vector(op.vectors[1], row + 8)[block];
    }
    int32_t sums[32];
    uint32_t x = inputs;
    uint32_t last = stage;
    // Beyond the last input whatever lies there meets weights of zero.
    const auto multiply_stage = [&](bool first) {
      wait_for(ring.full(stage), phase);
      const uint32_t w = weights + stage * (kStage >> 4);
      constexpr uint32_t kNextX = kPlanes * kPlane >> 4;
      constexpr uint32_t kNextW = kPlanes * kWeightPlane >> 4;
      static_assert(2 * kNextW * 16 == kHalf);
      order_products();
#pragma unroll
      for (uint32_t part = 0; part < kParts; ++part) {
        const uint32_t from = w + part * (kPart >> 4);
        if (first && part == 0) {
          begin_product(sums, x, from);
        } else {
          add_product(sums, x, from);
        }
        add_product(sums, x + kNextX, from + kNextW);
        x += 2 * kNextX;
      }
      commit_products();
      ring.advance(stage, phase);
    };
    multiply_stage(true);
#pragma unroll 1
    for (uint32_t k = kParts; k < in_blocks; k += kParts) {
      const uint32_t now = stage;
      multiply_stage(false);
      wait_products<1>();
      ring.release(last, speaks);
      last = now;
    }
    wait_products<0>();
    take_sums(sums);
    ring.release(last, speaks);
    if (op.takes_inputs_place != 0 && block + 2 >= out_blocks + group) tile.barrier();
    if (!real) continue;
    if (ranks > 1) {
      finish_block<true>(tile, op, block, a, biases, ranks, sums);
    } else {
      finish_block<false>(tile, op, block, a, biases, ranks, sums);
    }
  }
  if (speaks) {
    tile.at.stage = stage;
    tile.at.phase = phase;
  }
  tile.barrier();
}

}  // namespace eggroll::cuda

#endif
