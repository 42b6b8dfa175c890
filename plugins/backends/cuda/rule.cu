// Update rules, a thread four weights: nodes are evaluated in turn, their values kept in shared memory, or in device
// memory where the rule needs very many at once.
#include <algorithm>

#include "device.h"
#include "eggroll/arithmetic.h"
#include "jobs.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 64;
constexpr uint32_t kWeights = 4;  // of a thread at once, kThreads apart
constexpr uint32_t kPieceWeights = kWeights * kThreads;
constexpr uint32_t kMostSharedPlaces = 48;  // 48 KiB
constexpr uint32_t kScratchBlocks = 128;
constexpr uint32_t kMostBlocks = 132 * 16;  // so that constants are made once for many weights

__device__ uint32_t bits(int32_t x) { return static_cast<uint32_t>(x); }
__device__ uint32_t bits(float x) { return __float_as_uint(x); }
__device__ float real(uint32_t x) { return __uint_as_float(x); }
__device__ int32_t integer(uint32_t x) { return static_cast<int32_t>(x); }

// A weight and what a node reads beside its operands.
struct Weight {
  int8_t* at;  // null: there is none
  long long vote;
  float vote_std;
  int32_t old;
  uint32_t* slots;  // of this weight
};

// A block's work: values of nodes, (places, kWeights, kThreads).
struct Values {
  const RuleArgs& args;
  uint32_t* mine;

  __device__ uint32_t& value(int32_t place, uint32_t k) const {
    return mine[(static_cast<uint32_t>(place) * kWeights + k) * kThreads];
  }

  // make(k, operands) for each of the thread's weights.
  template <class Make>
  __device__ void each(const RuleNode& node, Make&& make) const {
#pragma unroll
    for (uint32_t k = 0; k < kWeights; ++k) {
      value(node.out, k) = make(k, value(node.in[0], k), value(node.in[1], k), value(node.in[2], k));
    }
  }

  __device__ void run(const RuleNode& node, const Weight (&weights)[kWeights], size_t slot_stride) const {
    switch (node.code) {
      case EGG_RULE_VOTE_I32:
        return each(node,
                    [&](uint32_t k, uint32_t, uint32_t, uint32_t) { return static_cast<uint32_t>(weights[k].vote); });
      case EGG_RULE_VOTE_F32:
        return each(node,
                    [&](uint32_t k, uint32_t, uint32_t, uint32_t) { return bits(__ll2float_rn(weights[k].vote)); });
      case EGG_RULE_VOTE_STD:
        return each(node, [&](uint32_t k, uint32_t, uint32_t, uint32_t) { return bits(weights[k].vote_std); });
      case EGG_RULE_WEIGHT:
        return each(node, [&](uint32_t k, uint32_t, uint32_t, uint32_t) { return bits(weights[k].old); });
      case EGG_RULE_SLOT:
        return each(node, [&](uint32_t k, uint32_t, uint32_t, uint32_t) {
          return weights[k].at == nullptr ? 0 : weights[k].slots[static_cast<uint32_t>(node.index) * slot_stride];
        });
      case EGG_RULE_SCALAR:
        return each(node, [&](uint32_t, uint32_t, uint32_t, uint32_t) { return bits(args.scalars[node.index]); });
      case EGG_RULE_CONST_I32:
      case EGG_RULE_CONST_F32:
        return each(node, [&](uint32_t, uint32_t, uint32_t, uint32_t) { return node.bits; });
      case EGG_RULE_IADD:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return a + b; });
      case EGG_RULE_ISUB:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return a - b; });
      case EGG_RULE_IMUL:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return a * b; });
      case EGG_RULE_ILT:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return integer(a) < integer(b) ? 1u : 0u; });
      case EGG_RULE_FADD:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return bits(__fadd_rn(real(a), real(b))); });
      case EGG_RULE_FSUB:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return bits(__fsub_rn(real(a), real(b))); });
      case EGG_RULE_FMUL:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return bits(__fmul_rn(real(a), real(b))); });
      case EGG_RULE_FDIV:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return bits(__fdiv_rn(real(a), real(b))); });
      case EGG_RULE_FSQRT:
        return each(node, [](uint32_t, uint32_t a, uint32_t, uint32_t) { return bits(__fsqrt_rn(real(a))); });
      case EGG_RULE_FABS:
        return each(node, [](uint32_t, uint32_t a, uint32_t, uint32_t) { return a & 0x7fffffffu; });
      case EGG_RULE_FLT:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t) { return real(a) < real(b) ? 1u : 0u; });
      case EGG_RULE_SELECT:
        return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t c) { return integer(a) != 0 ? b : c; });
      case EGG_RULE_TO_F32:
        return each(node, [](uint32_t, uint32_t a, uint32_t, uint32_t) { return bits(__int2float_rn(integer(a))); });
      case EGG_RULE_TRUNC_I32:
        return each(node, [](uint32_t, uint32_t a, uint32_t, uint32_t) { return bits(egg_trunc_i32(real(a))); });
      default:
        __trap();
    }
  }

  // What is the same for all weights.
  __device__ void make_constants() const {
    const Weight none[kWeights] = {};
    for (uint32_t n = 0; n < args.constants; ++n) run(args.nodes[n], none, 0);
  }

  // Moves the weights and adds the number of those that changed to *changed. By all threads.
  __device__ void apply(const Weight (&weights)[kWeights], size_t slot_stride, unsigned long long* changed) const {
    for (uint32_t n = args.constants; n < args.node_count; ++n) run(args.nodes[n], weights, slot_stride);
    uint32_t moved = 0;
#pragma unroll
    for (uint32_t k = 0; k < kWeights; ++k) {
      const Weight& weight = weights[k];
      if (weight.at == nullptr) continue;
      // Every node has read the old slots by now.
      for (uint32_t s = 0; s < args.slot_count; ++s) weight.slots[s * slot_stride] = value(args.slot_places[s], k);
      const long long target = static_cast<long long>(weight.old) + integer(value(args.delta_place, k));
      const auto clipped = static_cast<int32_t>(target < -127 ? -127 : target > 127 ? 127 : target);
      moved += clipped != weight.old ? 1 : 0;
      *weight.at = static_cast<int8_t>(clipped);
    }
    moved = __reduce_add_sync(0xffffffffu, moved);
    if (threadIdx.x % 32 == 0 && moved > 0) atomicAdd(changed, static_cast<unsigned long long>(moved));
  }
};

__device__ Values values_of(const RuleArgs& args, uint32_t* shared) {
  uint32_t* all = args.scratch == nullptr ? shared : args.scratch + size_t{blockIdx.x} * args.places * kPieceWeights;
  const Values values{args, all + threadIdx.x};
  values.make_constants();
  return values;
}

__global__ void __launch_bounds__(kThreads) rule_kernel(const RuleArgs args) {
  extern __shared__ uint32_t shared_values[];
  const Values values = values_of(args, shared_values);
  for (uint32_t piece = blockIdx.x; piece < args.list.pieces; piece += gridDim.x) {
    const RuleJob& job = job_of(args.list, piece);
    const size_t count = size_t{job.rows} * job.cols;
    const size_t begin = size_t{piece - job.first} * kPieceWeights;
    Weight weights[kWeights] = {};
#pragma unroll
    for (uint32_t k = 0; k < kWeights; ++k) {
      const size_t i = begin + k * kThreads + threadIdx.x;
      if (i >= count) continue;
      int8_t* at = job.weights + i / job.cols * job.stride + i % job.cols;
      weights[k] = {at, job.votes[i], args.vote_stds[job.param], *at, job.slots + i};
    }
    values.apply(weights, count, args.changed + job.param);
  }
}

// The rows of masked tables that have votes.
__global__ void __launch_bounds__(kThreads) row_rule_kernel(const RuleArgs args) {
  extern __shared__ uint32_t shared_values[];
  const Values values = values_of(args, shared_values);
  for (uint32_t t = 0; t < args.table_count; ++t) {
    const RowTable& table = args.tables[t];
    const uint32_t count = *table.voted_count * table.cols;
    const size_t slot_stride = size_t{table.rows} * table.cols;
    for (uint32_t begin = blockIdx.x * kPieceWeights; begin < count; begin += gridDim.x * kPieceWeights) {
      Weight weights[kWeights] = {};
#pragma unroll
      for (uint32_t k = 0; k < kWeights; ++k) {
        const uint32_t i = begin + k * kThreads + threadIdx.x;
        if (i >= count) continue;
        const VotedRow voted = table.voted[i / table.cols];
        const uint32_t col = i % table.cols;
        const size_t cell = size_t{voted.row} * table.cols + col;
        int8_t* at = table.weights + size_t{voted.row} * table.stride + col;
        weights[k] = {at, table.all_votes[cell], voted.vote_std, *at, table.slots + cell};
      }
      values.apply(weights, slot_stride, args.changed + table.param);
    }
  }
}

template <class Kernel>
void launch(Kernel kernel, const RuleArgs& args, uint32_t blocks, cudaStream_t stream) {
  const bool shared = args.scratch == nullptr;
  const size_t bytes = shared ? size_t{args.places} * kPieceWeights * sizeof(uint32_t) : 0;
  kernel<<<shared ? blocks : std::min(blocks, kScratchBlocks), kThreads, bytes, stream>>>(args);
  check_launch("apply the rule");
}

}  // namespace

size_t rule_scratch(uint32_t places) {
  return places <= kMostSharedPlaces ? 0 : size_t{kScratchBlocks} * places * kPieceWeights;
}

uint32_t rule_pieces(size_t weights) { return static_cast<uint32_t>((weights + kPieceWeights - 1) / kPieceWeights); }

void launch_rule(const RuleArgs& args, cudaStream_t stream) {
  if (args.list.pieces > 0) launch(rule_kernel, args, std::min(args.list.pieces, kMostBlocks), stream);
  if (args.table_count > 0) launch(row_rule_kernel, args, kMostBlocks, stream);
}

}  // namespace eggroll::cuda
