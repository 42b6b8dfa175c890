// A tile: the members that one thread takes through a token step together, and the memory they need.
//
// A register of pairs holds the same bytes of kLanes pairs. A value's group of four channels is kMemberRegs registers:
// register 2p + side holds side (0: even members, sign +1; 1: odd ones, sign -1) of the p-th register of pairs. In
// inference the lanes are streams, in order. Padding channels of every value are 0.
#ifndef EGGROLL_TILE_TILE_H
#define EGGROLL_TILE_TILE_H

#include <array>
#include <vector>

#include "eggroll/arithmetic.h"
#include "loss_tables.h"
#include "noise_draw.h"
#include "weights.h"

namespace eggroll::tile {

// What the tiles of a session share.
template <class S>
struct Model {
  const Plan& plan;
  const NoiseDraw<S>& noise;
  const Weights<S>& weights;
  const LossTables<S>& loss_tables;
  const std::array<int32_t, 128>& reciprocals;  // egg_reciprocal
  int32_t nearest() const { return plan.program->rounding == EGG_ROUND_NEAREST ? 1 : 0; }
};

template <class S>
struct Tile {
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kPairs = S::kPairRegs * S::kLanes;
  static constexpr size_t kMembers = kRegs * S::kLanes;
  static constexpr size_t kGroupBytes = kRegs * S::kBytes;  // of one group of channels
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;

  // A perturbed matrix: a (ranks, row groups, kPairRegs) and b (ranks, column groups, kPairRegs) registers, b xored as
  // weights are; an embedding also has the keys of its side A (ranks, kPairRegs). A vector: its values as each member
  // sees them, (row groups, kRegs) registers, in a.
  struct Param {
    int8_t* a = nullptr;
    int8_t* b = nullptr;
    std::vector<typename NoiseDraw<S>::Keys> a_keys;
  };

  // For one head and register of members: a score, then a weight, and the weight's digits, for each position of a call.
  struct Attended {
    explicit Attended(size_t context)
        : weights(context * S::kLanes), digits(kDigits * ((context + 3) / 4) * S::kBytes) {}
    static constexpr size_t kDigits = 3;  // of seven bits
    static size_t bytes(size_t context) {
      return context * S::kLanes * sizeof(int32_t) + kDigits * ((context + 3) / 4) * S::kBytes;
    }
    Buffer<int32_t> weights;
    Buffer<int8_t> digits;  // (digit, positions / 4) registers, four positions a lane
  };

  explicit Tile(const Model<S>& the_model)
      : model(the_model),
        frame(the_model.plan.frame_groups * kGroupBytes),
        cache(the_model.plan.cache_groups * kGroupBytes),
        attended(the_model.plan.context),
        prepared(S::kPrepared * the_model.plan.widest * kGroupBytes),
        state{Buffer<int8_t>(the_model.plan.state_groups * kGroupBytes),
              Buffer<int8_t>(the_model.plan.state_groups * kGroupBytes)},
        at(the_model.plan.groups.size()),
        next(the_model.plan.groups.size()),
        params(the_model.plan.params.size()) {
    const Plan& plan = model.plan;
    for (size_t v = 0; v < at.size(); ++v) at[v] = frame.data() + plan.place[v] * kGroupBytes;
    noise = Buffer<int8_t>(noise_bytes(plan));
    int8_t* free = noise.data();
    for (size_t i = 0; i < params.size(); ++i) {
      const PlanParam& p = plan.params[i];
      params[i].a = free;
      params[i].b = free + a_bytes(p);
      params[i].a_keys.resize(p.by_embed ? p.ranks * size_t{S::kPairRegs} : 0);
      free += noise_bytes(p);
    }
  }

  // Rows of A are drawn where `linear` needs all of them; `embed` needs one a token.
  static size_t a_bytes(const PlanParam& p) {
    if (p.vector) return p.row_groups * kGroupBytes;
    return p.by_linear ? size_t{p.ranks} * p.row_groups * S::kPairRegs * S::kBytes : 0;
  }
  static size_t noise_bytes(const PlanParam& p) {
    return a_bytes(p) + (p.vector ? 0 : size_t{p.ranks} * p.col_groups * S::kPairRegs * S::kBytes);
  }

  static size_t noise_bytes(const Plan& plan) {
    size_t bytes = 0;
    for (const PlanParam& p : plan.params) bytes += noise_bytes(p);
    return bytes;
  }
  // The bytes of all that a tile holds.
  static size_t bytes(const Plan& plan) {
    const size_t groups = plan.frame_groups + plan.cache_groups + S::kPrepared * plan.widest + 2 * plan.state_groups;
    return groups * kGroupBytes + Attended::bytes(plan.context) + noise_bytes(plan);
  }

  // The perturbations of pairs [first, first + kPairs).
  void draw(uint64_t step, uint32_t first_pair) {
    perturbed = true;
    const NoiseDraw<S>& source = model.noise;
    for (uint32_t i = 0; i < params.size(); ++i) {
      const PlanParam& p = model.plan.params[i];
      if (p.vector) {
        draw_vector(i, step, first_pair);
        continue;
      }
      for (uint32_t r = 0; r < p.ranks; ++r) {
        for (size_t reg = 0; reg < S::kPairRegs; ++reg) {
          const auto pair = static_cast<uint32_t>(first_pair + reg * S::kLanes);
          const auto a_keys = source.keys(step, pair, i, EGG_SIDE_A, r);
          if (p.by_embed) params[i].a_keys[r * S::kPairRegs + reg] = a_keys;
          if (p.by_linear) {
            int8_t* a = params[i].a + (size_t{r} * p.row_groups * S::kPairRegs + reg) * S::kBytes;
            source.fill_pairs(a_keys, EGG_SIDE_A, p.rows, a, S::kPairRegs);
          }
          int8_t* b = params[i].b + (size_t{r} * p.col_groups * S::kPairRegs + reg) * S::kBytes;
          source.fill_pairs(source.keys(step, pair, i, EGG_SIDE_B, r), EGG_SIDE_B, p.cols, b, S::kPairRegs);
          for (size_t k = 0; k < p.col_groups; ++k) {
            int8_t* group = b + k * S::kPairRegs * S::kBytes;
            S::store(group, S::template load<V8>(group) ^ S::all8(S::kWeightXor));
          }
        }
      }
    }
  }

  // The model as it is.
  void draw_nothing() {
    perturbed = false;
    for (uint32_t i = 0; i < params.size(); ++i) {
      if (model.plan.params[i].vector) copy_vector(i);
    }
  }

  void zero_states(const std::array<int32_t, kMembers>& keep) {
    for (const PlanState& s : model.plan.states) {
      for (size_t g = 0; g < s.groups; ++g) {
        for (size_t m = 0; m < kRegs; ++m) {
          int8_t* to = at[s.value] + (g * kRegs + m) * S::kBytes;
          S::store(to, S::template load<V32>(to) & S::template load<V32>(keep.data() + m * S::kLanes));
        }
      }
    }
  }

  // All states, (state groups, kRegs) registers.
  void begin(const int8_t* states) {
    std::copy_n(states, state[0].size(), state[0].data());
    for (const PlanState& s : model.plan.states) {
      at[s.value] = state[0].data() + s.groups_before * kGroupBytes;
      next[s.value] = state[1].data() + s.groups_before * kGroupBytes;
    }
  }
  void end_token() {
    std::swap(state[0], state[1]);
    for (const PlanState& s : model.plan.states) std::swap(at[s.value], next[s.value]);
  }
  const int8_t* states() const { return state[0].data(); }

  const Model<S>& model;
  bool perturbed = false;
  Buffer<int8_t> frame;
  Buffer<int8_t> cache;
  Attended attended;
  Buffer<int8_t> prepared;
  Buffer<int8_t> noise;
  std::array<Buffer<int8_t>, 2> state;  // as the token began, and as it will end
  std::vector<int8_t*> at;              // by value; states: what they were when the token began
  std::vector<int8_t*> next;            // states: what they will be
  std::vector<Param> params;
  std::array<uint32_t, kMembers> tokens{};
  std::array<uint32_t, kMembers> targets{};
  std::array<int64_t, kMembers> losses{};
  size_t position = 0;                            // of the token in its call
  std::array<int32_t, kMembers> first_visible{};  // position that attention reaches back to
  size_t oldest_visible = 0;                      // the least of these

 private:
  void copy_vector(uint32_t param) {
    const int8_t* weights = model.weights.vector(param);
    for (size_t g = 0; g < model.plan.params[param].row_groups; ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        S::store(params[param].a + (g * kRegs + m) * S::kBytes, S::broadcast(weights + 4 * g));
      }
    }
  }

  // clip(weight + s * rshift(u * v)), twice the members of a register of pairs.
  void draw_vector(uint32_t param, uint64_t step, uint32_t first_pair) {
    const PlanParam& p = model.plan.params[param];
    if (!p.perturbed) {
      copy_vector(param);
      return;
    }
    const int32_t shift = model.plan.program->fixed_point + model.plan.noise.sigma_vector_shift;
    const int8_t* weights = model.weights.vector(param);
    int8_t* out = params[param].a;
    for (size_t reg = 0; reg < S::kPairRegs; ++reg) {
      const auto pair = static_cast<uint32_t>(first_pair + reg * S::kLanes);
      // Where this register's values will be: u in the even members' place, v in the odd members'.
      int8_t* u = out + 2 * reg * S::kBytes;
      int8_t* v = u + S::kBytes;
      model.noise.fill_pairs(model.noise.keys(step, pair, param, EGG_SIDE_A, 0), EGG_SIDE_A, p.rows, u, kRegs);
      model.noise.fill_pairs(model.noise.keys(step, pair, param, EGG_SIDE_B, 0), EGG_SIDE_B, p.rows, v, kRegs);
      for (size_t g = 0; g < (p.rows + 3) / 4; ++g) {
        const V8 a = S::template load<V8>(u + g * kGroupBytes);
        const V8 b = S::template load<V8>(v + g * kGroupBytes);
        const V8 weight = (V8)S::broadcast(weights + 4 * g);
        const V16 even = shifted(S::even16(a) * S::even16(b), shift);
        const V16 odd = shifted(S::odd16(a) * S::odd16(b), shift);
        const V16 even_weight = S::even16(weight);
        const V16 odd_weight = S::odd16(weight);
        S::store(u + g * kGroupBytes, S::join(S::clip8(even_weight + even), S::clip8(odd_weight + odd)));
        S::store(v + g * kGroupBytes, S::join(S::clip8(even_weight - even), S::clip8(odd_weight - odd)));
      }
    }
  }

  // rshift of a product of two noise values, |x| <= 46^2 < 2^12: from 16 bits on only the sign is left, if that.
  V16 shifted(V16 x, int32_t shift) const {
    const bool nearest = model.nearest() != 0 && shift > 0;
    if (shift < 16)
      return (x + S::all16(static_cast<int16_t>(nearest ? 1 << (shift - 1) : 0))) >>
             S::all16(static_cast<int16_t>(shift));
    return nearest ? V16{} : x >> 15;
  }
};

}  // namespace eggroll::tile

#endif
