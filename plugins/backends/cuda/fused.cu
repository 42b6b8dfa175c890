#include "device.h"
#include "fused_embed.cuh"
#include "fused_gru.cuh"
#include "fused_head.cuh"
#include "fused_layer.cuh"

namespace eggroll::cuda {
namespace {

// Rows that begin anew: their states, on chip and in memory.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ void reset(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t token) {
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

// A warp says that another may read what it has written.
__device__ inline void hand_over(uint32_t* given) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(given) : "memory");
}
// A warp waits until another has said so. Its lanes leave the loop together: if each left it alone, the compiler would
// keep values of the tile in memory.
__device__ inline void take_over(uint32_t* given) {
  uint32_t is_given = 0;
  while (__any_sync(0xffffffffu, is_given == 0)) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_given) : "l"(given) : "memory");
  }
  *given = 0;
}

template <bool kWide, uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void run_op(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedOp& op,
                                       uint32_t step) {
  switch (op.code) {
    case kFusedEmbed:
      run_embed(tile, op, step);
      break;
    case kFusedGru:
      if constexpr (!has_tokens(kRows)) run_gru(tile, op);
      break;
    case kFusedMlp:
      if constexpr (!has_tokens(kRows)) run_mlp(tile, op);
      break;
    case kFusedHead:
      if constexpr (kWide) {
        run_wide_head(tile, op, step);
      } else {
        run_head(tile, op, step);
      }
      break;
    case kFusedAttention:
      break;
  }
  if constexpr (has_tokens(kRows)) {
    if (op.code != kFusedMlp && op.code != kFusedAttention) return;
    Fragment<kBlocks> y;
    tile.norm_tokens(y);
    op.code == kFusedAttention ? run_attention(tile, op, y, step) : run_token_mlp(tile, op, y);
  }
}

// One thread of one group keeps each row's loss.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ inline bool keeps_loss(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile) {
  return tile.quarter() == 0 && tile.sharing.first() == 0;
}

// Writes the losses of the tile's members, each the sum of its rows'.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void give_losses(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile) {
  const FusedArgs& args = tile.args;
  const bool keeps = keeps_loss(tile);
  if constexpr (kRows == Rows::kWindows) {
    int64_t sums[2] = {keeps ? tile.losses[0] : 0, keeps ? tile.losses[8] : 0};
    for (uint32_t distance = 1; distance < args.shape.span; distance *= 2) {
      for (int64_t& sum : sums) sum += __shfl_xor_sync(0xffffffffu, sum, 4 * distance);
    }
    for (uint32_t h = 0; h < 2; ++h) {
      if (keeps && tile.position(h, 0) == 0 && tile.is_real(h)) args.losses[tile.member(h)] = sums[h];
    }
  } else if constexpr (kRows == Rows::kSpan) {
    const uint32_t warp = tile.thread() / 32;
    long long sum = keeps ? tile.losses[0] + tile.losses[8] : 0;
#pragma unroll
    for (uint32_t distance = 4; distance < 32; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    __syncwarp();
    int64_t* const of_tile = tile.losses - tile.row(0);
    if (threadIdx.x % 32 == 0) of_tile[16 * warp] = sum;
    tile.meet();
    if (threadIdx.x % 64 == 0 && tile.is_real(0)) {
      args.losses[tile.member(0)] = of_tile[16 * warp] + of_tile[16 * warp + 16];
    }
    tile.meet();
  } else {
    for (uint32_t h = 0; h < 2; ++h) {
      if (keeps && tile.is_real(h)) args.losses[tile.member(h)] = tile.losses[8 * h];
    }
  }
}

// Gives what a tile has after its last token.
template <bool kWide, uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
__device__ __forceinline__ void give_logits(const FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t step) {
  const FusedArgs& args = tile.args;
  for (uint32_t h = 0; !kWide && args.logits != nullptr && h < 2; ++h) {
    if (!tile.gives_logits(h, step)) continue;
    for (uint32_t b = tile.sharing.first(); b < args.logit_blocks; b += kGroups) {
      write_logits(tile, h, b, tile.logit_unit(b, h));
    }
  }
}

// Tells the compiler that all lanes have the same number. Else each branch on it would take registers.
__device__ inline uint32_t alike(uint32_t x) { return __reduce_max_sync(0xffffffffu, x); }
__device__ inline Stretch alike(const Stretch& s) { return {alike(s.tile), alike(s.begin), alike(s.end)}; }

// The place where a warp of a seat hands over the seat's first part. The warp of the same number of the next seat takes
// it over, with the members' states and losses: each thread reads what the thread of the same number wrote.
template <uint32_t kGroups>
__device__ __forceinline__ uint32_t* handed_over(const FusedArgs& args, uint32_t own_tile) {
  constexpr uint32_t kWarps = kGroups * kTileWarps;
  return args.handed_over + seat_number(args, own_tile) * kWarps + threadIdx.x / 32 % kWarps;
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, bool kWide>
__device__ __forceinline__ void work(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, const FusedSeat& seat,
                                     uint32_t own_tile) {
  const FusedArgs& args = tile.args;
#pragma unroll 1
  for (uint32_t i = 0;; ++i) {
    const Stretch stretch = alike(stretch_of(seat, i, args.tokens));
    if (stretch.begin == stretch.end) break;
    tile.number = stretch.tile;
    if (stretch.begin > 0) take_over(handed_over<kGroups>(args, own_tile) - kGroups * kTileWarps);
    for (uint32_t h = 0; h < 2; ++h) {
      if (!keeps_loss(tile)) continue;
      tile.losses[8 * h] = stretch.begin > 0 && tile.is_real(h) ? __ldcg(args.losses + tile.member(h)) : 0;
    }
    __syncwarp();
    tile.ask_for_state(args.ops[args.op_count - 1].next_state);
#pragma unroll 1
    for (uint32_t token = stretch.begin; token < stretch.end; ++token) {
      reset(tile, token);
#pragma unroll 1
      for (uint32_t s = 0; s < args.op_count; ++s) run_op<kWide>(tile, args.ops[s], token);
    }
    tile.await_state();
    __syncwarp();
    tile.sharing.meet();
    give_losses(tile);
    if (stretch.end == args.tokens) {
      give_logits<kWide>(tile, args.tokens - 1);
    } else {
      hand_over(handed_over<kGroups>(args, own_tile));
    }
    __syncwarp();
  }
  tile.pass_by_weights((args.seat_tokens - alike(seat.tokens)) * args.feeds[tile.sharing.first()].stage_count);
}

// Where rows are tokens.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, bool kWide>
__device__ __forceinline__ void work_on_tokens(FusedTile<kBlocks, kGroups, kMore, kRows>& tile, uint32_t own_tile) {
  const FusedArgs& args = tile.args;
  const uint32_t tiles = tiles_of<kRows>(args);
  const uint32_t steps = steps_of<kRows>(args);
  for (uint32_t pass = 0; tile_of_pass(args, pass, 0) < tiles; ++pass) {
    tile.number = tile_of_pass(args, pass, own_tile);
    if (tile.number >= tiles) {
      tile.pass_by_weights(args.feeds[0].stage_count * steps);
      continue;
    }
    if (keeps_loss(tile)) tile.losses[0] = tile.losses[8] = 0;
    __syncwarp();
    uint4* const values = tile.values;
#pragma unroll 1
    for (uint32_t s = 0; s < args.op_count; ++s) {
      const uint4* noise = tile.await_noise_of_op();
#pragma unroll 1
      for (uint32_t step = 0; step < steps; ++step) {
        tile.next_noise = noise;
        tile.values = values + step * (2 * kBlocks * kGroupThreads);
        run_op<kWide>(tile, args.ops[s], step);
      }
      tile.leave_noise();
    }
    tile.values = values;
    __syncwarp();
    give_losses(tile);
    give_logits<kWide>(tile, steps - 1);
    __syncwarp();
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, bool kWide>
__device__ __forceinline__ void run_block(const FusedArgs& args) {
  extern __shared__ __align__(128) char fused_memory[];
  const FusedShape& shape = args.shape;
  // Tiles of tokens leave no registers for what would be worked out here. Tiles of members are faster with it.
  const FusedShared at = has_tokens(kRows) ? args.at : fused_shared(args.blocks, args.logit_blocks, shape);
  const uint32_t start = shared_address(fused_memory);
  const uint32_t slot = has_tokens(kRows) ? shape.noise_slot : kNoiseStage;
  auto* tables = reinterpret_cast<uint32_t*>(fused_memory + at.tables);
  const uint32_t warpgroups = shape.tiles * kGroups;
  const uint32_t noise_barriers = start + at.barriers + 16 * kGroups * shape.stages;
  // The stage that a thread has read before its first: nobody waits for it.
  const uint32_t before_first = noise_barriers + 16 * warpgroups * shape.noise_stages;
  if (threadIdx.x == 0) {
    init_ring(start + at.barriers, kGroups * shape.stages, shape.tiles * kGroupThreads);
    init_ring(noise_barriers, warpgroups * shape.noise_stages, kTileWarps * 32);
    init_barrier(before_first + 8, 2 * warpgroups * kGroupThreads);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    publish_to_async();
  }
  auto* const seats = reinterpret_cast<FusedSeat*>(fused_memory + at.seats);
  if constexpr (!has_tokens(kRows)) {
    if (threadIdx.x < shape.tiles) {
      seats[threadIdx.x] =
          seat_at(seat_number(args, threadIdx.x), shape.tiles * gridDim.x, tiles_of<kRows>(args), args.tokens);
    }
  }
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) tables[i] = args.loss_tables->exp2_q30[i];
  for (uint32_t i = threadIdx.x; i < 128; i += blockDim.x) {
    tables[256 + i] = static_cast<uint32_t>(egg_reciprocal(static_cast<int32_t>(max(i, 1u))));
  }
  if constexpr (has_tokens(kRows)) {
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) tables[384 + i] = static_cast<uint32_t>(args.weights[i]);
    // Entry i is for the number 127 - i, and holds 127 less what the lut has for it.
    for (uint32_t i = threadIdx.x; i < 255 * kLookUpCopies; i += blockDim.x) {
      const auto found = static_cast<uint8_t>(args.look_up[255 - i / kLookUpCopies]);
      reinterpret_cast<uint32_t*>(fused_memory + at.look_up)[i] = found ^ 0x7fU;
    }
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
  if (group == warpgroups) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    const uint32_t warp = threadIdx.x / 32 % kTileWarps;
    const uint32_t to = warp - kGroups;
    const uint32_t noise = start + at.noise + to * shape.noise_stages * slot;
    if constexpr (has_tokens(kRows)) {
      if (warp >= kGroups && to < warpgroups) bring_pair_noise<kRows>(args, to, noise, noise_stages_of(to));
    }
    if (threadIdx.x % 32 != 0) return;
    if (has_tokens(kRows) && warp == 0) {
      bring_token_weights<kRows>(args, start, stages_of(0));
    } else if (!has_tokens(kRows) && warp < kGroups) {
      bring_weights(args, args.feeds[warp], start + warp * ring_bytes, stages_of(warp));
    } else if (!has_tokens(kRows) && to < warpgroups) {
      constexpr uint32_t kBringers = kTileWarps - kGroups;
      bring_noise(args, args.feeds[to % kGroups], seats, to / kGroups, to / kGroups + kBringers, noise,
                  noise_stages_of(to));
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(
        worker_registers(most_workers(kBlocks, kGroups, kMore, has_tokens(kRows)))));
    const uint32_t own_tile = group / kGroups;
    const uint32_t of_tile = group % kGroups;
    const uint32_t thread = threadIdx.x % kGroupThreads;
    const uint32_t row = thread / 32 * 16 + thread % 32 / 4;
    char* const values = fused_memory + at.values + own_tile * at.tile_values;
    const char* const noise = fused_memory + at.noise + group * shape.noise_stages * slot;
    auto* const losses = reinterpret_cast<int64_t*>(fused_memory + at.losses) + own_tile * kTileRows;
    // The threads of a row may each add to its loss: one does at a time, in tokens that are far apart.
    // All rows of a span read one pair's noise; each short window reads its own pair's.
    const uint32_t of_pair = kRows == Rows::kWindows ? thread / 4 / shape.span * 4 : 0;
    const uint32_t first_noise = has_tokens(kRows) ? of_pair + thread % 4 : thread;
    FusedTile<kBlocks, kGroups, kMore, kRows> tile{
        args,
        {of_tile, reinterpret_cast<int32_t*>(fused_memory + at.words) + row},
        reinterpret_cast<uint4*>(values) + thread,
        reinterpret_cast<uint4*>(values + at.state) + thread,
        reinterpret_cast<const uint4*>(noise) + first_noise,
        tables,
        reinterpret_cast<const int32_t*>(tables + 256),
        losses + row,
        fused_memory,
        reinterpret_cast<int32_t*>(fused_memory + at.words + own_tile * at.tile_words) + row,
        describe(start + of_tile * ring_bytes, kBlock * kUnit),
        stages_of(of_tile),
        noise_stages_of(group),
        before_first,
        0,
        egg_rounding(16, args.nearest) + kRaise,
        (args.nearest != 0 ? 32767 : 65535) + kRaise,
        {0, 0},
        fused_memory + at.look_up + 4 * (threadIdx.x % kLookUpCopies),
        reinterpret_cast<const int32_t*>(tables + 384),
        values + at.state,
        reinterpret_cast<uint4*>(values + at.state) + thread,
        nullptr};
    if constexpr (has_tokens(kRows)) {
      work_on_tokens<kBlocks, kGroups, kMore, kRows, kWide>(tile, own_tile);
    } else {
      work<kBlocks, kGroups, kMore, kRows, kWide>(tile, seats[own_tile], own_tile);
    }
  }
}

template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows, bool kWide>
__global__ void __launch_bounds__((most_workers(kBlocks, kGroups, kMore, has_tokens(kRows)) + 1) * kGroupThreads, 1)
    fused_kernel(const __grid_constant__ FusedArgs args) {
  if constexpr (kHasWgmma) run_block<kBlocks, kGroups, kMore, kRows, kWide>(args);
}

// The kernels by number of blocks. Two warpgroups do not share one block of channels, and have one draw a side. kWide:
// the logits find no room on the chip.
using Kernel = void (*)(FusedArgs);
template <uint32_t kGroups, bool kMore, Rows kRows, bool kWide>
constexpr Kernel kKernels[kMostFusedBlocks] = {
    &fused_kernel<kGroups, kGroups, kMore, kRows, kWide>, &fused_kernel<2, kGroups, kMore, kRows, kWide>,
    &fused_kernel<3, kGroups, kMore, kRows, kWide>, &fused_kernel<4, kGroups, kMore, kRows, kWide>};
template <bool kWide>
constexpr Kernel kWindowKernels[kMostWindowBlocks] = {&fused_kernel<1, 1, false, Rows::kWindows, kWide>,
                                                      &fused_kernel<2, 1, false, Rows::kWindows, kWide>};

template <bool kWide>
Kernel kernel_of(const FusedShape& shape, uint32_t blocks) {
  switch (shape.rows) {
    case Rows::kSpan:
      return kKernels<1, false, Rows::kSpan, kWide>[blocks - 1];
    case Rows::kWindows:
      return kWindowKernels<kWide>[blocks - 1];
    case Rows::kMembers:
      break;
  }
  const auto& of_members = shape.warpgroups > 1 ? kKernels<2, false, Rows::kMembers, kWide>
                           : shape.ranks > 1    ? kKernels<1, true, Rows::kMembers, kWide>
                                                : kKernels<1, false, Rows::kMembers, kWide>;
  return of_members[blocks - 1];
}

Kernel kernel_for(const FusedShape& shape, uint32_t blocks, uint32_t logit_blocks) {
  return logit_blocks == 0 ? kernel_of<true>(shape, blocks) : kernel_of<false>(shape, blocks);
}

}  // namespace

void prepare_fused(const FusedShape& shape, uint32_t blocks, uint32_t logit_blocks, uint32_t shared_bytes) {
  check(cudaFuncSetAttribute(kernel_for(shape, blocks, logit_blocks), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)),
        "reserve shared memory");
}

void launch_fused(const FusedArgs& args, uint32_t blocks, cudaStream_t stream) {
  const FusedShape& shape = args.shape;
  const Kernel kernel = kernel_for(shape, args.blocks, args.logit_blocks);
  kernel<<<blocks, (shape.tiles * shape.warpgroups + 1) * kGroupThreads, args.at.bytes, stream>>>(args);
  check_launch("run the forward pass");
}

}  // namespace eggroll::cuda
