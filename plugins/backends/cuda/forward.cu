#include "attention_of_draw.cuh"
#include "device.h"
#include "elementwise.cuh"
#include "forward.h"
#include "linear.cuh"
#include "norm.cuh"
#include "stream.cuh"

namespace eggroll::cuda {
namespace {

template <class T>
__device__ __forceinline__ void run_linear(T& tile, const DeviceOp& op) {
  if (kHasWgmma && op.streamed != 0) return run_streamed_linear(tile, op);
  run_loaded_linear(tile, op);
}

template <class T>
__device__ __forceinline__ void run_op(T& tile, const DeviceOp& op) {
  switch (op.code) {
    case kLoadState:
      return run_load_state(tile, op);
    case kKeep:
      if constexpr (T::kAnyOp) return run_keep(tile, op);
      break;
    case kTake:
      if constexpr (T::kAnyOp) return run_take(tile, op);
      break;
    case kMove:
      if constexpr (T::kAnyOp) return run_move(tile, op);
      break;
    case kAttendOfDraw:
      if constexpr (T::kAnyOp) return run_attention_of_draw(tile, op);
      break;
#define EGG_RUN_OP(code, name, ...)                                                  \
  case EGG_OP_##code:                                                                \
    if constexpr (T::kAnyOp || is_plain(EGG_OP_##code)) return run_##name(tile, op); \
    break;
      EGG_OPS(EGG_RUN_OP)
#undef EGG_RUN_OP
  }
  __trap();  // an op that the plan did not give to this kernel
}

template <class T>
__device__ void finish_tile(T& tile) {
  const uint32_t own = tile.row();
  if (tile.quarter() == 0 && tile.is_real(own)) tile.args.losses[tile.member(own)] = tile.at.loss[tile.lane() / 4];
  if (tile.args.logits == nullptr) return;
  const DeviceOp& loss = tile.args.ops[tile.args.op_count - 1];
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t row = tile.first_row() + i;
    if (!tile.is_real(row)) continue;
    const int8_t* state = tile.args.states + tile.member(row) * tile.args.state_stride + loss.state_offset;
    int8_t* out = tile.args.logits + size_t{tile.member(row)} * tile.args.vocab;
    for (uint32_t v = tile.lane(); v < tile.args.vocab; v += 32) {
      // Logits that are a state have its values after the last token.
      out[v] = loss.of_state != 0 ? state[v] : reinterpret_cast<int8_t*>(&tile.unit(loss.in[0], row, v / 16))[v % 16];
    }
  }
}

// In a long program each warp has a copy of the current op in shared memory, and reads the next from device memory
// meanwhile.
constexpr uint32_t kOpUnits = sizeof(DeviceOp) / sizeof(uint4);
static_assert(sizeof(DeviceOp) % sizeof(uint4) == 0 && kOpUnits <= 32);

__device__ uint4* own_op_units(const ForwardArgs& args) { return reinterpret_cast<uint4*>(&own_state(args) + 1); }
__device__ uint4 fetch_op(const ForwardArgs& args, uint32_t i) {
  const uint32_t lane = threadIdx.x % 32;
  const auto* op = reinterpret_cast<const uint4*>(args.ops + (i < args.op_count ? i : 0));
  return lane < kOpUnits ? __ldg(op + lane) : make_uint4(0, 0, 0, 0);
}
__device__ void keep_op(const ForwardArgs& args, const uint4& part) {
  const uint32_t lane = threadIdx.x % 32;
  if (lane < kOpUnits) own_op_units(args)[lane] = part;
}

template <class OnChip, class Any>
__device__ __forceinline__ void run_op(OnChip& on_chip, Any& tile, const DeviceOp& op) {
  op.all_shared != 0 ? run_op(on_chip, op) : run_op(tile, op);
}

template <bool kInline, bool kFull>
__device__ __forceinline__ void run_ops(Tile<true, kInline, kFull>& on_chip, Tile<false, kInline, kFull>& tile) {
  const ForwardArgs& args = tile.args;
  WarpState& at = tile.at;
  uint4 next = {};
  if (!kInline) next = fetch_op(args, 0);
  for (uint32_t i = 0; i < args.op_count;) {
    if (tile.lane() == 0) at.op = i;
    if constexpr (kInline) {
      run_op(on_chip, tile, args.inline_ops[i]);
    } else {
      keep_op(args, next);
      next = fetch_op(args, i + 1);
      __syncwarp();
      run_op(on_chip, tile, *reinterpret_cast<const DeviceOp*>(own_op_units(args)));
    }
    __syncwarp();
    i = at.op + 1;
    __syncwarp();
  }
}

// A block works on one tile or two at a time, each with a workspace of its own; then on those as far on as all blocks
// go.
template <bool kInline, bool kFull>
__global__ void __launch_bounds__(2 * kTileThreads, 1) forward_kernel(const __grid_constant__ ForwardArgs args) {
  if (kHasWgmma && args.stages > 0) {
    if (threadIdx.x == 0) Ring(args).init();
    __syncthreads();
  }
  WarpState& at = own_state(args);
  char* const values = shared_memory + own_tile() * args.values;
  Tile<true, kInline, kFull> on_chip{args, values, at};
  Tile<false, kInline, kFull> tile{args, values, at};
  if (tile.lane() == 0) {
    at.number = blockIdx.x * tiles_at_once() + own_tile();
    at.workspace = args.workspace + at.number * args.workspace_stride;
    at.stage = 0;
    at.phase = 0;
  }
  const uint32_t tiles = tiles_of(args);
  for (uint32_t first = blockIdx.x * tiles_at_once(); first < tiles; first += gridDim.x * tiles_at_once()) {
    if (tile.lane() == 0) {
      at.number = first + own_tile();
      at.noise = args.noise + min(at.number, tiles - 1) * args.tile_noise;
    }
    if (tile.quarter() == 0) {
      at.loss[tile.lane() / 4] = 0;
      at.first_visible[tile.lane() / 4] = 0;
    }
    for (uint32_t token = 0; token < args.tokens; ++token) {
      if (tile.lane() == 0) at.token = token;
      __syncwarp();
      if (tile.quarter() == 0 && args.resets[tile.entry(tile.row())] != 0) at.first_visible[tile.lane() / 4] = token;
      __syncwarp();
      run_ops(on_chip, tile);
    }
    finish_tile(tile);
    tile.barrier();
  }
}

// What a kernel never runs still takes registers from what it does run, hence one for recurrent models alone.
constexpr auto kPlainKernel = &forward_kernel<true, false>;
constexpr auto kFullKernel = &forward_kernel<true, true>;
constexpr auto kLongKernel = &forward_kernel<false, true>;

}  // namespace

uint32_t forward_stages() {
  int device = 0;
  int major = 0;
  int minor = 0;
  check(cudaGetDevice(&device), "be selected");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "describe itself");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "describe itself");
  return major == 9 && minor == 0 ? kMostStages : 0;
}

uint32_t forward_extra_shared(uint32_t ranks, uint32_t ops, uint32_t tiles) {
  return kRingState + tiles * tile_extra(ranks, ops);
}

void prepare_forward(uint32_t shared_bytes) {
  for (const auto kernel : {kPlainKernel, kFullKernel, kLongKernel}) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
          "reserve shared memory");
  }
}

void launch_forward(const ForwardArgs& args, uint32_t blocks, uint32_t tiles, cudaStream_t stream) {
  const uint32_t shared =
      tiles * args.values + args.stages * kStage + forward_extra_shared(args.ranks, args.op_count, tiles);
  const auto kernel = args.op_count > kMostInlineOps ? kLongKernel : args.full_ops != 0 ? kFullKernel : kPlainKernel;
  kernel<<<blocks, tiles * kTileThreads, shared, stream>>>(args);
  check_launch("run the forward pass");
}

}  // namespace eggroll::cuda
