// A tile: the members that one thread takes through each token together, and the memory that they need.
//
// A register of pairs holds the same bytes of kLanes pairs. A value's quad of four channels is kMemberRegs registers:
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

// Data that all tiles of a session share.
template <class S>
struct Model {
  const Plan& plan;
  const NoiseDraw<S>& noise;
  const Weights<S>& weights;
  const LossTables<S>& loss_tables;
  int32_t nearest() const { return plan.nearest(); }
};

// The rounding shift of a sum of up to kRanks products of two noise values, in int16: 7 * 46^2 + 2^14 < 2^15. A shift
// of 16 or more gives 0 or -1, and always 0 if it rounds to the nearest.
template <class S>
struct Shift16 {
  using V16 = typename S::V16;
  static constexpr size_t kRanks = 7;

  Shift16(int32_t all, bool nearest)
      : shift(S::all16(static_cast<int16_t>(all < 16 ? all : 15))),
        round(S::all16(static_cast<int16_t>(nearest && all > 0 && all < 16 ? 1 << (all - 1) : 0))),
        keep(S::all16(nearest && all >= 16 ? 0 : -1)) {}
  EGG_INLINE V16 of(V16 x) const { return ((x + round) >> shift) & keep; }

  V16 shift;
  V16 round;
  V16 keep;
};

template <class S>
struct Tile;

// Is called after each op that a tile has run, and at the end of each token, or of a part's steps for a token.
template <class S>
class TokenListener {
 public:
  virtual ~TokenListener() = default;
  virtual void after(const Tile<S>& tile, uint32_t op) = 0;
  virtual void end(const Tile<S>& tile) = 0;
};

template <class S>
struct Tile {
  static constexpr size_t kRegs = S::kMemberRegs;
  static constexpr size_t kPairs = S::kPairRegs * S::kLanes;
  static constexpr size_t kMembers = kRegs * S::kLanes;
  static constexpr size_t kQuadBytes = kRegs * S::kBytes;  // of one quad of channels
  using V8 = typename S::V8;
  using V16 = typename S::V16;
  using V32 = typename S::V32;
  using U32 = typename S::U32;

  // A perturbed matrix: a (ranks, row quads, kPairRegs) and b (ranks, column quads, kPairRegs) registers, b xored as
  // weights are; an embedding also has the keys of its side A (ranks, kPairRegs). A vector: its values as each member
  // sees them, (row quads, kRegs) registers, in a.
  //
  // ranks: 0 where no pair of the tile perturbs the parameter; nothing is drawn then. voting: all bits of the lanes of
  // pairs that do. Side A is 0 in the others, in `a` already.
  struct Param {
    int8_t* a = nullptr;
    int8_t* b = nullptr;
    std::vector<typename NoiseDraw<S>::Keys> a_keys;
    size_t ranks = 0;
    bool all_vote = false;
    U32 voting[S::kPairRegs] = {};
  };

  // Inputs of all lanes at one token.
  struct Inputs {
    std::array<uint32_t, kMembers> tokens{};
    std::array<uint32_t, kMembers> targets{};
    std::vector<uint32_t> rows;                     // (indices, kMembers)
    std::array<int32_t, kMembers> keep{};           // 0 where the states are reset, else -1
    bool reset = false;                             // whether any states are reset
    size_t position = 0;                            // of the token in its call
    std::array<int32_t, kMembers> first_visible{};  // the first position that attention sees
    size_t oldest_visible = 0;                      // the least of first_visible
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
        frame(the_model.plan.frame_quads * kQuadBytes),
        cache(the_model.plan.cache_quads * kQuadBytes),
        attended(the_model.plan.context),
        prepared(S::kPrepared * the_model.plan.widest * kQuadBytes),
        state{Buffer<int8_t>(the_model.plan.state_quads * kQuadBytes),
              Buffer<int8_t>(the_model.plan.state_quads * kQuadBytes)},
        at(the_model.plan.quads.size()),
        next(the_model.plan.quads.size()),
        params(the_model.plan.forms.size()),
        inputs(the_model.plan.together) {
    const Plan& plan = model.plan;
    for (Inputs& each : inputs) each.rows.resize(plan.program->index_count * kMembers);
    for (size_t v = 0; v < at.size(); ++v) at[v] = frame.data() + plan.place[v] * kQuadBytes;
    noise = Buffer<int8_t>(noise_bytes(plan));
    int8_t* free = noise.data();
    for (size_t i = 0; i < params.size(); ++i) {
      const PlanParam& p = plan.forms[i];
      params[i].a = free;
      params[i].b = free + a_bytes(p);
      params[i].a_keys.resize(p.by_lookup ? p.ranks * size_t{S::kPairRegs} : 0);
      free += noise_bytes(p);
      // Quads that exist only to fill a block's depth are never drawn; they are 0.
      std::fill(params[i].b, free, S::kWeightXor);
    }
  }

  // All rows of A are drawn only for `linear`. `embed` needs one row per token.
  static size_t a_bytes(const PlanParam& p) {
    if (p.vector) return p.row_quads * kQuadBytes;
    return p.by_product ? size_t{p.ranks} * p.row_quads * S::kPairRegs * S::kBytes : 0;
  }
  static size_t noise_bytes(const PlanParam& p) {
    return a_bytes(p) + (p.vector ? 0 : size_t{p.ranks} * p.col_quads * S::kPairRegs * S::kBytes);
  }

  static size_t noise_bytes(const Plan& plan) {
    size_t bytes = 0;
    for (const PlanParam& p : plan.forms) bytes += noise_bytes(p);
    return bytes;
  }
  // The bytes of all that a tile holds.
  static size_t bytes(const Plan& plan) {
    const size_t quads = plan.frame_quads + plan.cache_quads + S::kPrepared * plan.widest + 2 * plan.state_quads;
    const size_t rows = plan.program->index_count * kMembers * sizeof(uint32_t);
    return quads * kQuadBytes + Attended::bytes(plan.context) + noise_bytes(plan) +
           plan.together * (sizeof(Inputs) + rows);
  }

  // Draws the perturbations of pairs [first_pair, first_pair + kPairs).
  void draw(uint64_t step, uint32_t first_pair) {
    perturbed = true;
    const uint64_t step_key = model.noise.step_key(step);
    for (uint32_t i = 0; i < params.size(); ++i) {
      const PlanParam& p = model.plan.forms[i];
      params[i].ranks = find_voters(i, first_pair) ? p.ranks : 0;
      if (p.vector) {
        params[i].ranks == 0 ? copy_vector(i) : draw_vector(i, step_key, first_pair);
      } else if (params[i].ranks != 0) {
        draw_matrix(i, step_key, first_pair);
      }
    }
  }

  // For the unperturbed model.
  void draw_nothing() {
    perturbed = false;
    for (uint32_t i = 0; i < params.size(); ++i) {
      params[i].ranks = 0;
      if (model.plan.forms[i].vector) copy_vector(i);
    }
  }

  // All states, (state quads, kRegs) registers.
  void begin(const int8_t* states) {
    std::copy_n(states, state[0].size(), state[0].data());
    for (const PlanState& s : model.plan.tile_states) {
      at[s.value] = state[0].data() + s.quads_before * kQuadBytes;
      next[s.value] = state[1].data() + s.quads_before * kQuadBytes;
    }
  }
  // begin_part and end_part enclose a part's steps for one token. number: of the token's inputs.
  void begin_part(const PlanPart& part, size_t number) {
    now = &inputs[number];
    for (const uint32_t v : model.plan.kept) {
      at[v] = frame.data() + (model.plan.place[v] + number * model.plan.room[v]) * kQuadBytes;
    }
    if (!now->reset) return;
    for (const PlanState& s : part.states) {
      for (size_t g = 0; g < s.quads; ++g) {
        for (size_t m = 0; m < kRegs; ++m) {
          int8_t* to = at[s.value] + (g * kRegs + m) * S::kBytes;
          S::store(to, S::template load<V32>(to) & S::template load<V32>(now->keep.data() + m * S::kLanes));
        }
      }
    }
  }
  void end_part(const PlanPart& part) {
    for (const PlanState& s : part.states) std::swap(at[s.value], next[s.value]);
  }
  // Must be called after the last token, with the number of tokens.
  void end(size_t tokens) {
    if (tokens % 2 != 0) std::swap(state[0], state[1]);
  }
  const int8_t* states() const { return state[0].data(); }

  // A member's lane among the tile's kMembers, from its pair's place in the tile and its side.
  static size_t lane_of(size_t pair_in_tile, size_t side) {
    return (2 * (pair_in_tile / S::kLanes) + side) * S::kLanes + pair_in_tile % S::kLanes;
  }
  // Copies a lane's channels of a value, which lie in quads, to a dense array.
  static void take_lane(const int8_t* from, size_t lane, uint32_t size, int8_t* to) {
    for (uint32_t v = 0; v < size; v += 4) {
      std::copy_n(from + v / 4 * kQuadBytes + 4 * lane, std::min(4U, size - v), to + v);
    }
  }

  const Model<S>& model;
  TokenListener<S>* listener = nullptr;
  bool perturbed = false;  // if so, both members of a pair read the same stream
  Buffer<int8_t> frame;
  Buffer<int8_t> cache;
  Attended attended;
  Buffer<int8_t> prepared;
  Buffer<int8_t> noise;
  // The first holds the states before and after a call. In between, a token reads one and writes the other.
  std::array<Buffer<int8_t>, 2> state;
  std::vector<int8_t*> at;    // by value; for states: those before the token
  std::vector<int8_t*> next;  // states after the token
  std::vector<Param> params;
  std::vector<Inputs> inputs;   // of the tokens that parts are taken through together
  const Inputs* now = nullptr;  // of the token whose steps run
  std::array<int64_t, kMembers> losses{};

 private:
  void copy_vector(uint32_t param) {
    const int8_t* weights = model.weights.vector(param);
    for (size_t g = 0; g < model.plan.forms[param].row_quads; ++g) {
      for (size_t m = 0; m < kRegs; ++m) {
        S::store(params[param].a + (g * kRegs + m) * S::kBytes, S::broadcast(weights + 4 * g));
      }
    }
  }

  // Finds the lanes that perturb the parameter; returns false if no lane does.
  bool find_voters(uint32_t param, uint32_t first_pair) {
    const egg_voters& voters = model.plan.forms[param].voters;
    const uint32_t before = first_pair - voters.first_pair;  // wraps if the tile begins before the first voter
    const uint32_t end = voters.first_pair + voters.pairs;
    if (first_pair >= end || first_pair + kPairs <= voters.first_pair) return false;
    const bool all = first_pair >= voters.first_pair && first_pair + kPairs <= end;
    if (all && params[param].all_vote) return true;
    params[param].all_vote = all;
    uint32_t lanes[S::kLanes];
    for (uint32_t i = 0; i < S::kLanes; ++i) lanes[i] = before + i;
    for (uint32_t reg = 0; reg < S::kPairRegs; ++reg) {
      const U32 places = S::template load<U32>(lanes) + static_cast<uint32_t>(reg * S::kLanes);
      params[param].voting[reg] = (U32)(places < voters.pairs);
    }
    return true;
  }

  void draw_matrix(uint32_t param, uint64_t step_key, uint32_t first_pair) {
    const PlanParam& p = model.plan.forms[param];
    Param& mine = params[param];
    using Draw = NoiseDraw<S>;
    const typename Draw::Side side_a(model.noise, EGG_SIDE_A);
    const typename Draw::Side side_b(model.noise, EGG_SIDE_B);
    for (size_t reg = 0; reg < S::kPairRegs; ++reg) {
      const auto pair = static_cast<uint32_t>(first_pair + reg * S::kLanes);
      const typename Draw::PairKeys keys = Draw::pair_keys(step_key, pair, param);
      for (uint32_t r = 0; r < p.ranks; ++r) {
        const typename Draw::Keys a_keys = Draw::keys(keys, EGG_SIDE_A, r);
        if (p.by_lookup) mine.a_keys[r * S::kPairRegs + reg] = a_keys;
        if (p.by_product) {
          int8_t* a = mine.a + (size_t{r} * p.row_quads * S::kPairRegs + reg) * S::kBytes;
          side_a.fill(a_keys, p.rows, mine.voting[reg], 0, a, S::kPairRegs);
        }
        int8_t* b = mine.b + (size_t{r} * p.col_quads * S::kPairRegs + reg) * S::kBytes;
        side_b.fill(Draw::keys(keys, EGG_SIDE_B, r), p.cols, S::all32u(UINT32_MAX), S::kWeightXor, b, S::kPairRegs);
      }
    }
  }

  // Makes clip(weight + s * rshift(u * v)) for both members of the pairs.
  void draw_vector(uint32_t param, uint64_t step_key, uint32_t first_pair) {
    const PlanParam& p = model.plan.forms[param];
    const int8_t* weights = model.weights.vector(param);
    using Draw = NoiseDraw<S>;
    const typename Draw::Side side_a(model.noise, EGG_SIDE_A);
    const typename Draw::Side side_b(model.noise, EGG_SIDE_B);
    const Shift16<S> shifted(model.plan.vector_shift(), model.nearest() != 0);
    const uint32_t quads = (p.rows + 3) / 4;
    const U32 last = S::all32u(p.rows % 4 == 0 ? UINT32_MAX : UINT32_MAX >> (32 - 8 * (p.rows % 4)));
    for (size_t reg = 0; reg < S::kPairRegs; ++reg) {
      const auto pair = static_cast<uint32_t>(first_pair + reg * S::kLanes);
      const typename Draw::PairKeys keys = Draw::pair_keys(step_key, pair, param);
      const U32 voting = params[param].voting[reg];
      const typename Draw::Keys u_keys = Draw::keys(keys, EGG_SIDE_A, 0);
      const typename Draw::Keys v_keys = Draw::keys(keys, EGG_SIDE_B, 0);
      int8_t* out = params[param].a + 2 * reg * S::kBytes;
      for (uint32_t g = 0; g < quads; ++g) {
        // Beyond the vector's size, u is 0, and so is the perturbation.
        const U32 real = g + 1 < quads ? voting : voting & last;
        const V8 u = (V8)((U32)side_a.four(u_keys, S::all32u(g)) & real);
        const V8 v = side_b.four(v_keys, S::all32u(g));
        const V8 weight = (V8)S::broadcast(weights + 4 * g);
        const V16 even = shifted.of(S::even16(u) * S::even16(v));
        const V16 odd = shifted.of(S::odd16(u) * S::odd16(v));
        const V16 even_weight = S::even16(weight);
        const V16 odd_weight = S::odd16(weight);
        int8_t* to = out + g * kQuadBytes;
        S::store(to, S::join(S::clip8(even_weight + even), S::clip8(odd_weight + odd)));
        S::store(to + S::kBytes, S::join(S::clip8(even_weight - even), S::clip8(odd_weight - odd)));
      }
    }
  }
};

}  // namespace eggroll::tile

#endif
