#include "device.h"
#include "fused_segments.cuh"

namespace eggroll::cuda {
namespace {

template <uint32_t kBlocks>
__device__ void write_logits(const FusedTile<kBlocks>& tile) {
  const FusedArgs& args = tile.args;
  for (uint32_t h = 0; h < 2; ++h) {
    if (!tile.is_real(h)) continue;
    int8_t* out = args.logits + size_t{tile.member(h)} * args.vocab;
    for (uint32_t b = 0; b < args.logit_blocks; ++b) {
      const auto* raised = reinterpret_cast<const uint8_t*>(&tile.unit(kX, b, h));
      const uint32_t begin = kBlock * b + kUnit * tile.quarter();
      for (uint32_t i = 0; i < kUnit && begin + i < args.vocab; ++i)
        out[begin + i] = static_cast<int8_t>(raised[i] - 127);
    }
  }
}

// Rows that begin anew: their states, on chip and in memory.
template <uint32_t kBlocks>
__device__ void reset(const FusedTile<kBlocks>& tile, uint32_t token) {
  const FusedArgs& args = tile.args;
  for (uint32_t h = 0; h < 2; ++h) {
    if (args.resets[tile.entry(h, token)] == 0) continue;
    tile.await_state();
    for (uint32_t b = 0; b < kBlocks; ++b) tile.state_unit(b, h) = make_uint4(0, 0, 0, 0);
    if (!tile.is_real(h)) continue;
    for (uint32_t s = 0; s < args.segment_count; ++s) {
      if (args.segments[s].code != kGruSegment) continue;
      for (uint32_t b = 0; b < kBlocks; ++b)
        __stcg(tile.state_of(h, args.segments[s].state) + 4 * b, make_uint4(0, 0, 0, 0));
    }
  }
}

template <uint32_t kBlocks>
__device__ __forceinline__ void work(FusedTile<kBlocks>& tile, uint32_t group) {
  const FusedArgs& args = tile.args;
  const uint32_t first_state = args.segments[args.segment_count - 1].next_state;
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  for (uint32_t first = blockIdx.x * args.tiles; first < tiles; first += gridDim.x * args.tiles) {
    tile.number = first + group;
    if (tile.quarter() == 0) tile.losses[0] = tile.losses[8] = 0;
    __syncwarp();
    tile.ask_for_state(first_state);
#pragma unroll 1
    for (uint32_t token = 0; token < args.tokens; ++token) {
      reset(tile, token);
#pragma unroll 1
      for (uint32_t s = 0; s < args.segment_count; ++s) {
        const FusedSegment& segment = args.segments[s];
        switch (segment.code) {
          case kEmbedSegment:
            run_embed(tile, token);
            break;
          case kGruSegment:
            run_gru(tile, segment);
            break;
          case kMlpSegment:
            run_mlp(tile, segment);
            break;
          default:
            run_head(tile, segment, token);
            break;
        }
      }
    }
    tile.await_state();
    __syncwarp();
    for (uint32_t h = 0; h < 2; ++h) {
      if (tile.quarter() == 0 && tile.is_real(h)) args.losses[tile.member(h)] = tile.losses[8 * h];
    }
    if (args.logits != nullptr) write_logits(tile);
    __syncwarp();
  }
}

template <uint32_t kBlocks>
__device__ __forceinline__ void run_block(const FusedArgs& args) {
  extern __shared__ __align__(128) char fused_memory[];
  const FusedShared at = fused_shared(args.blocks, args.logit_blocks, args.tiles, args.stages, args.slots);
  const uint32_t start = shared_address(fused_memory);
  auto* tables = reinterpret_cast<uint32_t*>(fused_memory + at.tables);
  if (threadIdx.x == 0) {
    init_ring(start + at.barriers, args.stages, args.tiles * kTileWarps);
    init_ring(start + at.barriers + 16 * args.stages, args.tiles * args.slots, kTileWarps * 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    publish_to_async();
  }
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) tables[i] = args.loss_tables->exp2_q30[i];
  for (uint32_t i = threadIdx.x; i < 128; i += blockDim.x) {
    tables[256 + i] = static_cast<uint32_t>(egg_reciprocal(static_cast<int32_t>(max(i, 1u))));
  }
  __syncthreads();
  const uint32_t group = own_group();
  const auto slots_of = [&](uint32_t tile) {
    return RingPlace{start + at.barriers + 16 * (args.stages + tile * args.slots), args.slots};
  };
  const RingPlace stages{start + at.barriers, args.stages};
  if (group == args.tiles) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    const uint32_t warp = threadIdx.x / 32 % kTileWarps;
    if (threadIdx.x % 32 != 0) return;
    if (warp == 0) {
      bring_weights(args, start, stages);
    } else if (warp <= args.tiles) {
      bring_noise(args, warp - 1, start + at.noise + (warp - 1) * args.slots * kNoiseSlot, slots_of(warp - 1));
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const uint32_t thread = threadIdx.x % kGroupThreads;
    char* const values = fused_memory + at.values + group * at.tile_values;
    const char* const noise = fused_memory + at.noise + group * args.slots * kNoiseSlot;
    auto* const losses = reinterpret_cast<int64_t*>(fused_memory + at.losses) + group * kTileRows;
    // The four threads of a row may each add to its loss: one does at a time, in tokens that are far apart.
    FusedTile<kBlocks> tile{args,
                            reinterpret_cast<uint4*>(values) + thread,
                            reinterpret_cast<uint4*>(values + at.state) + thread,
                            reinterpret_cast<const uint4*>(noise) + thread,
                            tables,
                            reinterpret_cast<const int32_t*>(tables + 256),
                            losses + thread / 32 * 16 + thread % 32 / 4,
                            describe(start, kBlock * kUnit),
                            stages,
                            slots_of(group),
                            0,
                            egg_rounding(16, args.nearest) + kRaise,
                            (args.nearest != 0 ? 32767 : 65535) + kRaise,
                            {0, 0}};
    work(tile, group);
  }
}

template <uint32_t kBlocks>
__global__ void __launch_bounds__(3 * kGroupThreads, 1) fused_kernel(const __grid_constant__ FusedArgs args) {
  if constexpr (kHasWgmma) run_block<kBlocks>(args);
}

using Kernel = void (*)(FusedArgs);
constexpr Kernel kKernels[kMostFusedBlocks] = {&fused_kernel<1>, &fused_kernel<2>, &fused_kernel<3>, &fused_kernel<4>};

}  // namespace

void prepare_fused(uint32_t shared_bytes) {
  for (const Kernel kernel : kKernels) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
          "reserve shared memory");
  }
}

void launch_fused(const FusedArgs& args, uint32_t blocks, cudaStream_t stream) {
  const FusedShared shared = fused_shared(args.blocks, args.logit_blocks, args.tiles, args.stages, args.slots);
  kKernels[args.blocks - 1]<<<blocks, (args.tiles + 1) * kGroupThreads, shared.bytes, stream>>>(args);
  check_launch("run the forward pass");
}

}  // namespace eggroll::cuda
