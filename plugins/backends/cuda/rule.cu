// Update rules, a thread a weight: nodes are evaluated in turn, their values kept in shared memory, or in device memory
// where the rule has very many.
#include <algorithm>

#include "device.h"
#include "eggroll/arithmetic.h"
#include "jobs.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 64;
constexpr uint32_t kPieceWeights = 4 * kThreads;
constexpr uint32_t kMostSharedNodes = 192;  // 48 KiB
constexpr uint32_t kScratchBlocks = 128;

__device__ uint32_t bits(int32_t x) { return static_cast<uint32_t>(x); }
__device__ uint32_t bits(float x) { return __float_as_uint(x); }
__device__ float real(uint32_t x) { return __uint_as_float(x); }
__device__ int32_t integer(uint32_t x) { return static_cast<int32_t>(x); }

// What a node reads beside its operands.
struct Inputs {
  long long vote;
  float vote_std;
  int32_t weight;
  const float* scalars;
  const uint32_t* slots;  // of this weight
  size_t slot_stride;
};

__device__ uint32_t node_value(const egg_rule_node& node, const Inputs& in, uint32_t a, uint32_t b, uint32_t c) {
  switch (node.code) {
    case EGG_RULE_VOTE_I32:
      return bits(static_cast<int32_t>(in.vote));
    case EGG_RULE_VOTE_F32:
      return bits(__ll2float_rn(in.vote));
    case EGG_RULE_VOTE_STD:
      return bits(in.vote_std);
    case EGG_RULE_WEIGHT:
      return bits(in.weight);
    case EGG_RULE_SLOT:
      return in.slots[node.index * in.slot_stride];
    case EGG_RULE_SCALAR:
      return bits(in.scalars[node.index]);
    case EGG_RULE_CONST_I32:
      return bits(node.integer);
    case EGG_RULE_CONST_F32:
      return bits(node.real);
    case EGG_RULE_IADD:
      return a + b;
    case EGG_RULE_ISUB:
      return a - b;
    case EGG_RULE_IMUL:
      return a * b;
    case EGG_RULE_ILT:
      return integer(a) < integer(b) ? 1 : 0;
    case EGG_RULE_FADD:
      return bits(__fadd_rn(real(a), real(b)));
    case EGG_RULE_FSUB:
      return bits(__fsub_rn(real(a), real(b)));
    case EGG_RULE_FMUL:
      return bits(__fmul_rn(real(a), real(b)));
    case EGG_RULE_FDIV:
      return bits(__fdiv_rn(real(a), real(b)));
    case EGG_RULE_FSQRT:
      return bits(__fsqrt_rn(real(a)));
    case EGG_RULE_FABS:
      return a & 0x7fffffffu;
    case EGG_RULE_FLT:
      return real(a) < real(b) ? 1 : 0;
    case EGG_RULE_SELECT:
      return integer(a) != 0 ? b : c;
    case EGG_RULE_TO_F32:
      return bits(__int2float_rn(integer(a)));
    case EGG_RULE_TRUNC_I32:
      return bits(egg_trunc_i32(real(a)));
    default:
      __trap();
      return 0;
  }
}

__global__ void __launch_bounds__(kThreads) rule_kernel(const RuleArgs args) {
  extern __shared__ uint32_t shared_values[];  // (nodes, kThreads)
  uint32_t* block_values =
      args.scratch == nullptr ? shared_values : args.scratch + size_t{blockIdx.x} * args.node_count * kThreads;
  uint32_t* mine = block_values + threadIdx.x;
  for (uint32_t piece = blockIdx.x; piece < args.list.pieces; piece += gridDim.x) {
    const RuleJob& job = job_of(args.list, piece);
    const size_t count = size_t{job.rows} * job.cols;
    const size_t begin = size_t{piece - job.first} * kPieceWeights;
    const size_t end = min(count, begin + kPieceWeights);
    uint32_t moved = 0;
    for (size_t i = begin + threadIdx.x; i < end; i += kThreads) {
      int8_t* weight = job.weights + i / job.cols * job.stride + i % job.cols;
      const Inputs inputs{job.votes[i], args.vote_stds[job.param], *weight, args.scalars, job.slots + i, count};
      for (uint32_t n = 0; n < args.node_count; ++n) {
        const egg_rule_node node = args.nodes[n];
        const auto operand = [&](int k) { return node.in[k] < 0 ? 0u : mine[node.in[k] * kThreads]; };
        mine[n * kThreads] = node_value(node, inputs, operand(0), operand(1), operand(2));
      }
      // Every node has read the old slots by now.
      for (uint32_t s = 0; s < args.slot_count; ++s) job.slots[s * count + i] = mine[args.slot_nodes[s] * kThreads];
      const long long target = static_cast<long long>(inputs.weight) + integer(mine[args.delta * kThreads]);
      const auto clipped = static_cast<int32_t>(target < -127 ? -127 : target > 127 ? 127 : target);
      moved += clipped != inputs.weight ? 1 : 0;
      *weight = static_cast<int8_t>(clipped);
    }
    moved = __reduce_add_sync(0xffffffffu, moved);
    if (threadIdx.x % 32 == 0 && moved > 0) {
      atomicAdd(args.changed + job.param, static_cast<unsigned long long>(moved));
    }
  }
}

}  // namespace

size_t rule_scratch(uint32_t node_count) {
  return node_count <= kMostSharedNodes ? 0 : size_t{kScratchBlocks} * node_count * kThreads;
}

uint32_t rule_pieces(size_t weights) { return static_cast<uint32_t>((weights + kPieceWeights - 1) / kPieceWeights); }

void launch_rule(const RuleArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t blocks = args.scratch == nullptr ? args.list.pieces : std::min(args.list.pieces, kScratchBlocks);
  const size_t shared = args.scratch == nullptr ? size_t{args.node_count} * kThreads * sizeof(uint32_t) : 0;
  rule_kernel<<<blocks, kThreads, shared, stream>>>(args);
  check_launch("apply the rule");
}

}  // namespace eggroll::cuda
