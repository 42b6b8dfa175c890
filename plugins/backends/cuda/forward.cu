#include "attention.cuh"
#include "device.h"
#include "elementwise.cuh"
#include "forward.h"
#include "linear.cuh"

namespace eggroll::cuda {
namespace {

template <class T>
__device__ void run_op(T& tile, const DeviceOp& op) {
  switch (op.code) {
    case kLoadState:
      return run_load_state(tile, op);
    case EGG_OP_EMBED:
      return run_embed(tile, op);
    case EGG_OP_LINEAR:
      return run_linear(tile, op);
    case EGG_OP_L1_NORM:
      return run_l1_norm(tile, op);
    case EGG_OP_ADD:
      return run_add(tile, op);
    case EGG_OP_GRU_GATE:
      return run_gru_gate(tile, op);
    case EGG_OP_GRU_MIX:
      return run_gru_mix(tile, op);
    case EGG_OP_STORE:
      return run_store(tile, op);
    case EGG_OP_LUT:
      return run_lut(tile, op);
    case EGG_OP_MAX_NORM:
      return run_max_norm(tile, op);
    case EGG_OP_ROPE:
      return run_rope(tile, op);
    case EGG_OP_ATTENTION:
      return run_attention(tile, op);
    case EGG_OP_LOSS:
      return run_loss(tile, op);
    default:
      __trap();
  }
}

template <class T>
__device__ void finish_tile(T& tile) {
  const uint32_t r = 8 * tile.warp() + tile.lane();
  if (tile.lane() < 8 && tile.is_real(r)) tile.args.losses[tile.member(r)] = tile.loss;
  if (tile.args.logits == nullptr) return;
  const DeviceOp& loss = tile.args.ops[tile.args.op_count - 1];
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t row = 8 * tile.warp() + i;
    if (!tile.is_real(row)) continue;
    // Of a state they are what it is after the last token.
    const auto* logits = loss.of_state != 0
                             ? tile.args.states + tile.member(row) * tile.args.state_stride + loss.state_offset
                             : reinterpret_cast<const int8_t*>(tile.row_start(loss.in[0], row));
    int8_t* out = tile.args.logits + size_t{tile.member(row)} * tile.args.vocab;
    for (uint32_t v = tile.lane(); v < tile.args.vocab; v += 32) out[v] = logits[v];
  }
}

// Each warp has a copy of the op at hand in shared memory, and reads the next from device memory meanwhile.
constexpr uint32_t kOpUnits = sizeof(DeviceOp) / sizeof(uint4);
static_assert(sizeof(DeviceOp) % sizeof(uint4) == 0 && kOpUnits <= 32);

__device__ uint4* own_op_units(const ForwardArgs& args) {
  char* behind = shared_memory + kTileRows * (args.shared_row + args.ranks * sizeof(int32_t));
  return reinterpret_cast<uint4*>(behind) + threadIdx.x / 32 * kOpUnits;
}
__device__ uint4 fetch_op(const ForwardArgs& args, uint32_t i) {
  const uint32_t lane = threadIdx.x % 32;
  const auto* op = reinterpret_cast<const uint4*>(args.ops + (i < args.op_count ? i : 0));
  return lane < kOpUnits ? __ldg(op + lane) : make_uint4(0, 0, 0, 0);
}
__device__ void keep_op(const ForwardArgs& args, const uint4& part) {
  const uint32_t lane = threadIdx.x % 32;
  if (lane < kOpUnits) own_op_units(args)[lane] = part;
}

// Each block has a workspace of its own and takes every gridDim.x-th tile.
template <bool kAllShared>
__global__ void __launch_bounds__(kTileThreads, 2) forward_kernel(const __grid_constant__ ForwardArgs args) {
  const uint32_t tiles = (args.rows + kTileRows - 1) / kTileRows;
  for (uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    Tile<kAllShared> tile{args, args.workspace + blockIdx.x * args.workspace_stride, number, 0, 0, 0};
    keep_op(args, fetch_op(args, 0));
    __syncwarp();
    for (; tile.token < args.tokens; ++tile.token) {
      if (args.resets[tile.entry(tile.row())] != 0) tile.first_visible = tile.token;
      for (uint32_t i = 0; i < args.op_count; ++i) {
        const uint4 next = fetch_op(args, i + 1);
        run_op(tile, *reinterpret_cast<const DeviceOp*>(own_op_units(args)));
        __syncwarp();
        keep_op(args, next);
        __syncwarp();
      }
    }
    tile.token = args.tokens - 1;
    finish_tile(tile);
    __syncthreads();
  }
}

}  // namespace

uint32_t forward_extra_shared(uint32_t ranks) {
  return static_cast<uint32_t>(kTileRows * ranks * sizeof(int32_t) + kTileThreads / 32 * sizeof(DeviceOp));
}

void prepare_forward(uint32_t shared_bytes) {
  for (const auto kernel : {&forward_kernel<true>, &forward_kernel<false>}) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
          "reserve shared memory");
  }
}

void launch_forward(const ForwardArgs& args, bool all_shared, uint32_t blocks, cudaStream_t stream) {
  const uint32_t shared = kTileRows * args.shared_row + forward_extra_shared(args.ranks);
  const auto kernel = all_shared ? &forward_kernel<true> : &forward_kernel<false>;
  kernel<<<blocks, kTileThreads, shared, stream>>>(args);
  check_launch("run the forward pass");
}

}  // namespace eggroll::cuda
