#include "device.h"
#include "fused_ops.cuh"

namespace eggroll::cuda {
namespace {

// Rows that begin anew: their states, on chip and in memory.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore>
__device__ void reset(const FusedTile<kBlocks, kGroups, kMore>& tile, uint32_t token) {
  const FusedArgs& args = tile.args;
  for (uint32_t h = 0; h < 2; ++h) {
    if (args.resets[tile.entry(h, token)] == 0) continue;
    tile.await_state();
    for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups) tile.state_unit(b, h) = make_uint4(0, 0, 0, 0);
    if (!tile.is_real(h)) continue;
    for (uint32_t s = 0; s < args.op_count; ++s) {
      if (args.ops[s].code != kFusedGru) continue;
      for (uint32_t b = tile.sharing.first(); b < kBlocks; b += kGroups)
        __stcg(tile.state_of(h, args.ops[s].state) + 4 * b, make_uint4(0, 0, 0, 0));
    }
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, bool kWide>
__device__ __forceinline__ void work(FusedTile<kBlocks, kGroups, kMore>& tile, uint32_t own_tile) {
  const FusedArgs& args = tile.args;
  const uint32_t first_state = args.ops[args.op_count - 1].next_state;
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  for (uint32_t pass = 0; tile_of_pass(args, pass, 0) < tiles; ++pass) {
    tile.number = tile_of_pass(args, pass, own_tile);
    if (tile.number >= tiles) {
      tile.pass_by_weights(args.feeds[0].stage_count * args.tokens);
      continue;
    }
    // One thread of one group keeps each row's loss.
    const bool keeps_loss = tile.quarter() == 0 && tile.sharing.first() == 0;
    if (keeps_loss) tile.losses[0] = tile.losses[8] = 0;
    __syncwarp();
    tile.ask_for_state(first_state);
#pragma unroll 1
    for (uint32_t token = 0; token < args.tokens; ++token) {
      reset(tile, token);
#pragma unroll 1
      for (uint32_t s = 0; s < args.op_count; ++s) {
        const FusedOp& op = args.ops[s];
        switch (op.code) {
          case kFusedEmbed:
            run_embed(tile, op, token);
            break;
          case kFusedGru:
            run_gru(tile, op);
            break;
          case kFusedMlp:
            run_mlp(tile, op);
            break;
          case kFusedHead:
            if constexpr (kWide) {
              run_wide_head(tile, op, token);
            } else {
              run_head(tile, op, token);
            }
            break;
        }
      }
    }
    tile.await_state();
    __syncwarp();
    tile.sharing.meet();
    for (uint32_t h = 0; h < 2; ++h) {
      if (keeps_loss && tile.is_real(h)) args.losses[tile.member(h)] = tile.losses[8 * h];
    }
    for (uint32_t h = 0; !kWide && args.logits != nullptr && h < 2; ++h) {
      for (uint32_t b = tile.sharing.first(); b < args.logit_blocks; b += kGroups) {
        write_logits(tile, h, b, tile.unit(kX, b, h));
      }
    }
    __syncwarp();
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, bool kWide>
__device__ __forceinline__ void run_block(const FusedArgs& args) {
  extern __shared__ __align__(128) char fused_memory[];
  const FusedShape& shape = args.shape;
  const FusedShared at = fused_shared(args.blocks, args.logit_blocks, shape);
  const uint32_t start = shared_address(fused_memory);
  auto* tables = reinterpret_cast<uint32_t*>(fused_memory + at.tables);
  const uint32_t groups = shape.tiles * kGroups;
  const uint32_t noise_barriers = start + at.barriers + 16 * kGroups * shape.stages;
  if (threadIdx.x == 0) {
    init_ring(start + at.barriers, kGroups * shape.stages, shape.tiles * kGroupThreads);
    init_ring(noise_barriers, groups * shape.noise_stages, kTileWarps * 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    publish_to_async();
  }
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) tables[i] = args.loss_tables->exp2_q30[i];
  for (uint32_t i = threadIdx.x; i < 128; i += blockDim.x) {
    tables[256 + i] = static_cast<uint32_t>(egg_reciprocal(static_cast<int32_t>(max(i, 1u))));
  }
  __syncthreads();
  const uint32_t ring_bytes = shape.stages * fused_stage_bytes(args.blocks);
  const auto stages_of = [&](uint32_t of_group) {
    return RingPlace{start + at.barriers + 16 * of_group * shape.stages, shape.stages};
  };
  const auto noise_stages_of = [&](uint32_t group) {
    return RingPlace{noise_barriers + 16 * group * shape.noise_stages, shape.noise_stages};
  };
  const uint32_t group = own_group();
  if (group == groups) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    const uint32_t warp = threadIdx.x / 32 % kTileWarps;
    if (threadIdx.x % 32 != 0) return;
    if (warp < kGroups) {
      bring_weights(args, args.feeds[warp], start + warp * ring_bytes, stages_of(warp));
    } else if (warp < kGroups + groups) {
      const uint32_t to = warp - kGroups;
      bring_noise(args, args.feeds[to % kGroups], to / kGroups,
                  start + at.noise + to * shape.noise_stages * kNoiseStage, noise_stages_of(to));
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(worker_registers(most_workers(kBlocks, kGroups))));
    const uint32_t own_tile = group / kGroups;
    const uint32_t of_tile = group % kGroups;
    const uint32_t thread = threadIdx.x % kGroupThreads;
    const uint32_t row = thread / 32 * 16 + thread % 32 / 4;
    char* const values = fused_memory + at.values + own_tile * at.tile_values;
    const char* const noise = fused_memory + at.noise + group * shape.noise_stages * kNoiseStage;
    auto* const losses = reinterpret_cast<int64_t*>(fused_memory + at.losses) + own_tile * kTileRows;
    // The threads of a row may each add to its loss: one does at a time, in tokens that are far apart.
    FusedTile<kBlocks, kGroups, kMore> tile{
        args,
        {of_tile, reinterpret_cast<int32_t*>(fused_memory + at.words) + row},
        reinterpret_cast<uint4*>(values) + thread,
        reinterpret_cast<uint4*>(values + at.state) + thread,
        reinterpret_cast<const uint4*>(noise) + thread,
        tables,
        reinterpret_cast<const int32_t*>(tables + 256),
        losses + row,
        fused_memory,
        reinterpret_cast<int32_t*>(fused_memory + at.words + own_tile * at.tile_words) + row,
        describe(start + of_tile * ring_bytes, kBlock * kUnit),
        stages_of(of_tile),
        noise_stages_of(group),
        0,
        egg_rounding(16, args.nearest) + kRaise,
        (args.nearest != 0 ? 32767 : 65535) + kRaise,
        {0, 0}};
    work<kBlocks, kGroups, kMore, kWide>(tile, own_tile);
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, bool kWide>
__global__ void __launch_bounds__((most_workers(kBlocks, kGroups) + 1) * kGroupThreads, 1)
    fused_kernel(const __grid_constant__ FusedArgs args) {
  if constexpr (kHasWgmma) run_block<kBlocks, kGroups, kMore, kWide>(args);
}

// The kernels by number of blocks. Two groups do not share one block of channels, and have one draw a side. kWide: the
// logits find no room on the chip.
using Kernel = void (*)(FusedArgs);
template <uint32_t kGroups, bool kMore, bool kWide>
constexpr Kernel kKernels[kMostFusedBlocks] = {
    &fused_kernel<kGroups, kGroups, kMore, kWide>, &fused_kernel<2, kGroups, kMore, kWide>,
    &fused_kernel<3, kGroups, kMore, kWide>, &fused_kernel<4, kGroups, kMore, kWide>};

template <bool kWide>
const Kernel (&kernels_of(uint32_t groups, uint32_t ranks))[kMostFusedBlocks] {
  return groups > 1 ? kKernels<2, false, kWide> : ranks > 1 ? kKernels<1, true, kWide> : kKernels<1, false, kWide>;
}

template <bool kWide>
void reserve_shared(uint32_t bytes) {
  for (const auto* of_blocks : {&kernels_of<kWide>(1, 1), &kernels_of<kWide>(1, 2), &kernels_of<kWide>(2, 1)}) {
    for (const Kernel kernel : *of_blocks) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "reserve shared memory");
    }
  }
}

}  // namespace

void prepare_fused(uint32_t shared_bytes) {
  reserve_shared<false>(shared_bytes);
  reserve_shared<true>(shared_bytes);
}

void launch_fused(const FusedArgs& args, uint32_t blocks, cudaStream_t stream) {
  const FusedShape& shape = args.shape;
  const FusedShared shared = fused_shared(args.blocks, args.logit_blocks, shape);
  const auto& kernels = args.logit_blocks == 0 ? kernels_of<true>(shape.groups, shape.ranks)
                                               : kernels_of<false>(shape.groups, shape.ranks);
  const Kernel kernel = kernels[args.blocks - 1];
  kernel<<<blocks, (shape.tiles * shape.groups + 1) * kGroupThreads, shared.bytes, stream>>>(args);
  check_launch("run the forward pass");
}

}  // namespace eggroll::cuda
