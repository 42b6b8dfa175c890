// Update rules, a thread four weights: nodes are evaluated in turn, their values kept in shared memory, or in device
// memory where the rule needs very many at once.
#include <algorithm>

#include "device.h"
#include "eggroll/rule_arithmetic.h"
#include "jobs.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 64;
constexpr uint32_t kWeights = 4;  // of a thread at once, kThreads apart
constexpr uint32_t kPieceWeights = kWeights * kThreads;
constexpr uint32_t kMostSharedPlaces = 48;  // 48 KiB
constexpr uint32_t kScratchBlocks = 128;
constexpr uint32_t kMostBlocks = 132 * 16;  // so that constants are made once for many weights

// A weight and what a node reads beside its operands.
struct Weight {
  int8_t* at;  // null: there is none
  long long vote;
  float vote_std;
  int32_t old;
  uint32_t* slots;  // of this weight
};

// What a node without operands reads.
struct NodeInputs {
  const RuleNode& node;
  const float* scalars;
  const Weight& in;
  size_t slot_stride;

  __device__ uint32_t vote_i32() const { return static_cast<uint32_t>(in.vote); }
  __device__ uint32_t vote_f32() const { return egg_bits_of(__ll2float_rn(in.vote)); }
  __device__ uint32_t vote_std() const { return egg_bits_of(in.vote_std); }
  __device__ uint32_t weight() const { return static_cast<uint32_t>(in.old); }
  __device__ uint32_t slot() const {
    return in.at == nullptr ? 0 : in.slots[static_cast<uint32_t>(node.index) * slot_stride];
  }
  __device__ uint32_t scalar() const { return egg_bits_of(scalars[node.index]); }
  __device__ uint32_t const_i32() const { return node.bits; }
  __device__ uint32_t const_f32() const { return node.bits; }
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
    switch (static_cast<egg_rule_code>(node.code)) {
#define EGG_INPUT(code, name, result, operands, text)                        \
  case EGG_RULE_##code:                                                      \
    return each(node, [&](uint32_t k, uint32_t, uint32_t, uint32_t) {        \
      return NodeInputs{node, args.scalars, weights[k], slot_stride}.name(); \
    });
#define EGG_ARITHMETIC(code, name, result, operands, text)               \
  case EGG_RULE_##code:                                                  \
    return each(node, [](uint32_t, uint32_t a, uint32_t b, uint32_t c) { \
      return egg_rule_arithmetic<egg_float32>::name(a, b, c);            \
    });
      EGG_RULE_INPUTS(EGG_INPUT)
      EGG_RULE_ARITHMETIC(EGG_ARITHMETIC)
#undef EGG_INPUT
#undef EGG_ARITHMETIC
      case EGG_RULE_COUNT:
        break;
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
      const int32_t next = egg_moved(weight.old, static_cast<int32_t>(value(args.delta_place, k)));
      moved += next != weight.old ? 1 : 0;
      *weight.at = static_cast<int8_t>(next);
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
