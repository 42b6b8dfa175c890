// Update rules, a thread eight weights: nodes are evaluated in turn, their values kept in shared memory, or in device
// memory where the rule needs very many at once.
#ifndef EGGROLL_CUDA_RULE_CUH
#define EGGROLL_CUDA_RULE_CUH

#include <algorithm>

#include "device.h"
#include "eggroll/rule_arithmetic.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kRuleThreads = 64;
constexpr uint32_t kHalves = 2;
constexpr uint32_t kWeights = 4 * kHalves;  // of a thread at once
constexpr uint32_t kScratchBlocks = 128;
constexpr uint32_t kMostRuleBlocks = 132 * 16;  // so that constants are made once for many weights

// Neighbours in a row of weights, from a column that is a multiple of kWeights on, and what nodes read of them.
template <class Vote>
struct Weights {
  int8_t* at;       // null: there are none
  uint32_t count;   // those after it are padding
  bool aligned;     // four cells of a slot can be read at once
  uint32_t* slots;  // of the first
  float vote_std;
  uint32_t old[kHalves];  // four bytes each
  Vote votes[kWeights];

  // The weights of a row, whose slots begin at `slots`.
  __device__ void find(int8_t* row, uint32_t column, uint32_t cols, uint32_t* row_slots) {
    at = row + column;
    count = min(cols - column, kWeights);
    aligned = cols % 4 == 0;
    slots = row_slots + column;
#pragma unroll
    for (uint32_t h = 0; h < kHalves; ++h) old[h] = reinterpret_cast<const uint32_t*>(at)[h];
  }
  __device__ void find(const RowTable& table, uint32_t row, uint32_t column) {
    find(table.weights + size_t{row} * table.stride, column, table.cols, table.slots + size_t{row} * table.cols);
  }

  // How many of a half's cells there are.
  __device__ uint32_t in_half(uint32_t half) const { return count > 4 * half ? count - 4 * half : 0; }

  // Cells of the slot that begins `before` cells after the first.
  __device__ uint4 slot(size_t before, uint32_t half) const {
    const uint32_t* from = slots + before + 4 * half;
    const uint32_t cells = in_half(half);
    if (cells == 0) return {};
    if (aligned) return *reinterpret_cast<const uint4*>(from);
    return {from[0], cells > 1 ? from[1] : 0, cells > 2 ? from[2] : 0, cells > 3 ? from[3] : 0};
  }
  __device__ void set_slot(size_t before, uint32_t half, uint4 cells) const {
    uint32_t* to = slots + before + 4 * half;
    if (in_half(half) == 0) return;
    if (aligned) {
      *reinterpret_cast<uint4*>(to) = cells;
      return;
    }
    to[0] = cells.x;
    if (in_half(half) > 1) to[1] = cells.y;
    if (in_half(half) > 2) to[2] = cells.z;
    if (in_half(half) > 3) to[3] = cells.w;
  }
  __device__ int32_t weight(uint32_t k) const { return static_cast<int8_t>(old[k / 4] >> 8 * (k % 4)); }

  // The null deviation of a weight's vote, and whether the rule is for it.
  static constexpr bool kMasked = false;
  __device__ float std_of(uint32_t /*k*/) const { return vote_std; }
  __device__ bool is_live(uint32_t /*k*/) const { return true; }
};

// The lanes that share a piece: each has kWeights neighbouring columns.
struct Lanes {
  uint32_t count;  // a power of two

  __device__ explicit Lanes(uint32_t cols) : count(cols <= 32 ? 4 : cols <= 64 ? 8 : cols <= 128 ? 16 : 32) {}

  __device__ uint32_t own() const { return threadIdx.x % count; }
  __device__ uint32_t columns() const { return count * kWeights; }
  template <class T>
  __device__ T from(T value, uint32_t lane) const {
    return __shfl_sync(0xffffffffu, value, static_cast<int>(lane), static_cast<int>(count));
  }
};

__device__ inline uint32_t vote_to_f32(long long vote) { return egg_bits_of(__ll2float_rn(vote)); }
__device__ inline uint32_t vote_to_f32(int32_t vote) { return egg_bits_of(__int2float_rn(vote)); }

// What a node without operands reads. k: the weight.
template <class Group>
struct NodeInputs {
  const RuleNode& node;
  const float* scalars;
  const Group& in;
  const uint4& cells;  // of the slot, where it reads one
  uint32_t k;

  __device__ uint32_t vote_i32() const { return static_cast<uint32_t>(in.votes[k]); }
  __device__ uint32_t vote_f32() const { return vote_to_f32(in.votes[k]); }
  __device__ uint32_t vote_std() const { return egg_bits_of(in.std_of(k)); }
  __device__ uint32_t weight() const { return static_cast<uint32_t>(in.weight(k)); }
  __device__ uint32_t slot() const {
    return k % 4 == 0 ? cells.x : k % 4 == 1 ? cells.y : k % 4 == 2 ? cells.z : cells.w;
  }
  __device__ uint32_t scalar() const { return egg_bits_of(scalars[node.index]); }
  __device__ uint32_t const_i32() const { return node.bits; }
  __device__ uint32_t const_f32() const { return node.bits; }
};

// A block's work. Values of nodes: those that are the same for all weights (constants), each four times; then of each
// other place (kHalves, kRuleThreads), four weights each.
struct Values {
  const RuleArgs& args;
  uint4* constants;

  __device__ uint4& of_weights(uint32_t place, uint32_t half) const {
    return constants[args.constants + ((place - args.constants) * kHalves + half) * kRuleThreads + threadIdx.x];
  }
  __device__ uint4 operand(int32_t in, uint32_t half) const {
    const auto place = static_cast<uint32_t>(in);
    return place < args.constants ? constants[place] : of_weights(place, half);
  }

  // make(k, operands) for each of the thread's weights.
  template <class Make>
  __device__ void each(const RuleNode& node, Make&& make) const {
#pragma unroll
    for (uint32_t h = 0; h < kHalves; ++h) {
      const uint4 a = operand(node.in[0], h);
      const uint4 b = operand(node.in[1], h);
      const uint4 c = operand(node.in[2], h);
      of_weights(static_cast<uint32_t>(node.out), h) = {make(4 * h, a.x, b.x, c.x), make(4 * h + 1, a.y, b.y, c.y),
                                                        make(4 * h + 2, a.z, b.z, c.z), make(4 * h + 3, a.w, b.w, c.w)};
    }
  }

  // Group: Weights, or what has more of them.
  template <class Group>
  __device__ void run(const RuleNode& node, const Group& weights, size_t slot_stride) const {
    switch (static_cast<egg_rule_code>(node.code)) {
#define EGG_INPUT(code, name, result, operands, text)                                \
  case EGG_RULE_##code: {                                                            \
    uint4 cells[kHalves] = {};                                                       \
    for (uint32_t h = 0; h < kHalves && EGG_RULE_##code == EGG_RULE_SLOT; ++h) {     \
      cells[h] = weights.slot(static_cast<uint32_t>(node.index) * slot_stride, h);   \
    }                                                                                \
    return each(node, [&](uint32_t k, uint32_t, uint32_t, uint32_t) {                \
      return NodeInputs<Group>{node, args.scalars, weights, cells[k / 4], k}.name(); \
    });                                                                              \
  }
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

  // The whole node at once.
  __device__ RuleNode node_at(uint32_t n) const {
    const auto* from = reinterpret_cast<const int4*>(args.nodes + n);
    const int4 low = __ldg(from);
    const int4 high = __ldg(from + 1);
    return {low.x, {low.y, low.z, low.w}, high.x, high.y, static_cast<uint32_t>(high.z), 0};
  }

  // By all threads of the block. Constants are the first nodes, each in the place of its number.
  __device__ void make_constants() const {
    for (uint32_t n = threadIdx.x; n < args.constants; n += kRuleThreads) {
      const RuleNode node = node_at(n);
      const uint32_t value = node.code == EGG_RULE_SCALAR ? egg_bits_of(args.scalars[node.index]) : node.bits;
      constants[n] = {value, value, value, value};
    }
    __syncthreads();
  }

  // Moves the weights. Returns how many of the thread's changed.
  template <class Group>
  __device__ uint32_t apply(const Group& weights, size_t slot_stride) const {
    RuleNode next = node_at(min(args.constants, args.node_count - 1));
    for (uint32_t n = args.constants; n < args.node_count; ++n) {
      const RuleNode node = next;
      next = node_at(min(n + 1, args.node_count - 1));  // on its way while this one runs
      run(node, weights, slot_stride);
    }
    if (weights.at == nullptr) return 0;
    uint32_t moved = 0;
#pragma unroll
    for (uint32_t h = 0; h < kHalves; ++h) {
      // Every node has read the old slots by now.
      for (uint32_t s = 0; s < args.slot_count; ++s) {
        uint4 cells = operand(args.slot_places[s], h);
        if constexpr (Group::kMasked) {
          const uint4 old = weights.slot(s * slot_stride, h);
          if (!weights.is_live(4 * h)) cells.x = old.x;
          if (!weights.is_live(4 * h + 1)) cells.y = old.y;
          if (!weights.is_live(4 * h + 2)) cells.z = old.z;
          if (!weights.is_live(4 * h + 3)) cells.w = old.w;
        }
        weights.set_slot(s * slot_stride, h, cells);
      }
      const uint4 moves = operand(args.delta_place, h);
      const uint32_t delta[4] = {moves.x, moves.y, moves.z, moves.w};
      uint32_t four = 0;
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (4 * h + k >= weights.count) break;
        const int32_t old = weights.weight(4 * h + k);
        const int32_t weight = weights.is_live(4 * h + k) ? egg_moved(old, static_cast<int32_t>(delta[k])) : old;
        moved += weight != old ? 1 : 0;
        four |= static_cast<uint32_t>(static_cast<uint8_t>(weight)) << 8 * k;
      }
      if (weights.in_half(h) > 0) reinterpret_cast<uint32_t*>(weights.at)[h] = four;  // padding stays zero
    }
    return moved;
  }
};

// By all threads of a warp: adds what each has counted.
__device__ void add_moved(uint32_t moved, unsigned long long* changed) {
  moved = __reduce_add_sync(0xffffffffu, moved);
  if (threadIdx.x % 32 == 0 && moved > 0) atomicAdd(changed, static_cast<unsigned long long>(moved));
}

// What the values of a block take, in units of 16 bytes.
__host__ __device__ inline size_t value_units(uint32_t constants, uint32_t places) {
  return constants + size_t{places - constants} * kHalves * kRuleThreads;
}

// kShared: values lie in shared memory. The compiler must know, for it has instructions of their own for that.
template <bool kShared>
__device__ Values values_of(const RuleArgs& args) {
  extern __shared__ uint4 shared_values[];
  uint4* all = shared_values;
  if (!kShared) {
    all = reinterpret_cast<uint4*>(args.scratch) + blockIdx.x * value_units(args.constants, args.places);
  }
  const Values values{args, all};
  values.make_constants();
  return values;
}

// Launches one of two kernels, which have `values_of<true>(rule)` and `values_of<false>(rule)`, with the arguments.
template <class Kernel, class... Arguments>
void launch_with_rule(Kernel shared, Kernel scratch, const RuleArgs& rule, uint32_t blocks, cudaStream_t stream,
                      const Arguments&... arguments) {
  if (rule.scratch == nullptr) {
    const size_t bytes = value_units(rule.constants, rule.places) * sizeof(uint4);
    shared<<<blocks, kRuleThreads, bytes, stream>>>(arguments...);
  } else {
    scratch<<<std::min(blocks, kScratchBlocks), kRuleThreads, 0, stream>>>(arguments...);
  }
  check_launch("apply the rule");
}

}  // namespace
}  // namespace eggroll::cuda

#endif
