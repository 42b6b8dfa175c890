#include "fused_plan.h"

#include <algorithm>
#include <map>
#include <span>

#include "plan.h"

namespace eggroll::cuda {
namespace {

// Reads a program's ops from the first to the last. What returns a bool says whether the ops at hand are what it is
// named for, and goes on behind them.
class Fuser {
 public:
  // keeps_logits: on the chip; else they are made twice.
  Fuser(const Plan& plan, FusedPlan& fused, uint32_t groups, bool keeps_logits)
      : plan_(plan), program_(*plan.program), fused_(fused), keeps_logits_(keeps_logits), lists_(groups) {}

  bool run() {
    fused_.cuts.assign(program_.param_count, StagesOf::kNothing);
    state_taken_.assign(program_.value_count, false);
    fused_.places.assign(plan_.layout.bytes / kBlock, {kNoPlace, kNoPlace});
    if (ranks() > kMostFusedRanks || !embedding()) return false;
    while (next_ < program_.op_count) {
      if (!goes_on(&Fuser::gru) && !goes_on(&Fuser::mlp) && !goes_on(&Fuser::head)) return false;
    }
    if (fused_.ops.back().code != kFusedHead || fused_.ops.size() > kMostFusedOps) return false;
    place_lists();
    return fits_ && link_states();
  }

 private:
  static constexpr int64_t kMostHalf = 32767 - 127;  // that may be raised
  static constexpr int64_t kAnyHalf = 32767;

  bool goes_on(bool (Fuser::*fused_op)()) {
    const uint32_t begin = next_;
    const std::vector<StagesOf> cuts = fused_.cuts;
    if ((this->*fused_op)()) return true;
    next_ = begin;
    fused_.cuts = cuts;
    return false;
  }

  const egg_op* take(int32_t code) {
    if (next_ >= program_.op_count || program_.ops[next_].code != code) return nullptr;
    return &program_.ops[next_++];
  }

  uint32_t size_of(int32_t value) const { return static_cast<uint32_t>(program_.values[value].size); }
  bool is_narrow(const egg_op& op) const { return program_.values[op.out].is_wide == 0; }

  // ---- Ops; null where the next is another ----
  const egg_op* norm() {
    const egg_op* op = take(EGG_OP_L1_NORM);
    return op != nullptr && op->in[0] == x_ && op->param[1] < 0 && op->attr == EGG_DIVIDE_RECIPROCAL ? op : nullptr;
  }

  // A table's row, added to x unless that is -1.
  const egg_op* embed(int32_t x) {
    if (next_ >= program_.op_count || program_.ops[next_].code != EGG_OP_EMBED) return nullptr;
    const egg_op& op = program_.ops[next_];
    if (op.in[0] != x || fused_.tables.size() == kMostFusedTables) return nullptr;
    ++next_;
    fused_.tables.push_back({op.param[0], static_cast<uint32_t>(op.attr), 0, 0});
    return &op;
  }

  // Cut as said, its outputs negative for a sign of -1, in halves up to `most`.
  const egg_op* linear(int32_t in, StagesOf cut, int32_t sign, int64_t most, Rescale& scale) {
    const egg_op* op = take(EGG_OP_LINEAR);
    if (op == nullptr || op->in[0] != in || op->param[1] >= 0 || !is_narrow(*op)) return nullptr;
    const egg_param& matrix = program_.params[op->param[0]];
    StagesOf& now = fused_.cuts[static_cast<size_t>(op->param[0])];
    if (matrix.perturbed == 0 || (now != StagesOf::kNothing && now != cut)) return nullptr;
    const int32_t shift = op->attr + EGG_LINEAR_GUARD_BITS;
    if (shift > 16) return nullptr;
    const int64_t of_q = int64_t{1} << (16 - shift);
    const int64_t of_sums = of_q << EGG_LINEAR_GUARD_BITS;
    if (!fits_halves(127 * 127 * matrix.cols * of_sums, 32767 * 127 * of_q * ranks() + 65535, most)) return nullptr;
    now = cut;
    scale = {static_cast<int32_t>(of_sums) * sign, static_cast<int32_t>(of_q) * sign};
    return op;
  }

  // With several ranks, add_more clips the products first: what it clips must stay beyond every output.
  bool fits_halves(int64_t products, int64_t others, int64_t most) {
    if (products > INT32_MAX) return false;
    if (ranks() == 1 || products <= kMostProducts) return products + others <= most << 16;
    fused_.clips_products = true;
    return kMostProducts + others <= most << 16 && kMostProducts - others >= int64_t{128} << 16;
  }

  const egg_op* add(int32_t a, int32_t b, bool biased) {
    const egg_op* op = take(EGG_OP_ADD);
    if (op == nullptr || !is_narrow(*op) || (op->param[1] >= 0) != biased) return nullptr;
    const bool both = (op->in[0] == a && op->in[1] == b) || (op->in[0] == b && op->in[1] == a);
    return both ? op : nullptr;
  }

  // ---- What a token takes of the rings: each warpgroup of a tile what its own blocks of channels need ----
  struct List {
    std::vector<FusedPlan::Stage> stages;
    std::vector<std::pair<uint32_t, uint32_t>> noise_stages;  // blocks; kNoBlock: half is unused
  };
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  uint32_t groups() const { return static_cast<uint32_t>(lists_.size()); }
  uint32_t ranks() const { return static_cast<uint32_t>(plan_.noise.rank); }
  // body(list, blocks of the list's group)
  template <class Body>
  void each_list(uint32_t blocks, const Body& body) {
    for (uint32_t g = 0; g < groups(); ++g) {
      std::vector<uint32_t> own;
      for (uint32_t b = g; b < blocks; b += groups()) own.push_back(b);
      body(lists_[g], own);
    }
  }

  SideA side_a_of(int32_t param) const { return plan_.side_a[static_cast<size_t>(param)]; }
  uint32_t noise_block(int32_t param) const { return plan_.a_offset[static_cast<size_t>(param)] / kBlock; }
  uint32_t blocks_of_a(int32_t matrix) const {
    return divide_up(static_cast<uint32_t>(program_.params[matrix].rows), kBlock);
  }
  uint32_t blocks_of_b(int32_t matrix) const {
    return divide_up(static_cast<uint32_t>(program_.params[matrix].cols), kBlock);
  }
  void place(uint32_t block, uint32_t at) {
    NoisePlaces& places = fused_.places[block];
    uint16_t& free = places.first == kNoPlace ? places.first : places.second;
    if (free != kNoPlace || at >= kNoPlace) fits_ = false;
    free = static_cast<uint16_t>(at);
  }
  // Side B of a linear, rank by rank.
  void add_side_b(const egg_op& op) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      std::vector<uint32_t> blocks;
      for (uint32_t rank = 0; rank < ranks(); ++rank) {
        for (const uint32_t b : own) blocks.push_back(b_of(op, rank) + b);
      }
      add_blocks(list, blocks);
    });
  }
  // A block of side A, of the ranks after the first.
  void add_more_a(std::vector<uint32_t>& blocks, const egg_op& op, uint32_t block) const {
    for (uint32_t rank = 1; rank < ranks(); ++rank) blocks.push_back(a_of(op, rank) + block);
  }
  void place_lists() {
    uint32_t stage = 0;
    for (const List& list : lists_) {
      fused_.feeds.push_back({static_cast<uint32_t>(fused_.stages_of.size()), static_cast<uint32_t>(list.stages.size()),
                              stage, static_cast<uint32_t>(list.noise_stages.size())});
      fused_.stages_of.insert(fused_.stages_of.end(), list.stages.begin(), list.stages.end());
      for (const auto& [first, second] : list.noise_stages) {
        place(first, 2 * stage);
        if (second != kNoBlock) place(second, 2 * stage + 1);
        ++stage;
      }
    }
    fused_.ring_blocks = fused_.noise_blocks = 2 * stage;
    for (FusedPlan::Table& table : fused_.tables) place_loose(table);
  }
  // What a token reads of a table's draws of side A: all of them, or the keys of all tables, which lie together behind
  // all draws. Once, whoever reads it.
  void place_loose(FusedPlan::Table& table) {
    const SideA side_a = side_a_of(table.param);
    if (side_a == kJointA || side_a == kNoA) return;
    const bool keyed = side_a == kKeyedA;
    const uint32_t at = plan_.a_offset[static_cast<size_t>(table.param)];
    const uint32_t first = (keyed ? first_key() : at) / kBlock;
    const uint32_t end =
        keyed ? static_cast<uint32_t>(plan_.layout.bytes / kBlock) : first + ranks() * blocks_of_a(table.param);
    const auto [known, is_new] = loose_.try_emplace(first, fused_.noise_blocks);
    for (uint32_t b = first; is_new && b < end; ++b) place(b, fused_.noise_blocks++);
    table.place = known->second * kBlock + at - first * kBlock;
    table.stride = keyed ? kKeyBytes : blocks_of_a(table.param) * kBlock;
  }
  uint32_t first_key() const {
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < program_.param_count; ++i) {
      if (plan_.side_a[i] == kKeyedA) first = std::min(first, plan_.a_offset[i]);
    }
    return first;
  }
  uint32_t a_of(const egg_op& op, uint32_t rank = 0) const {
    return noise_block(op.param[0]) + rank * blocks_of_a(op.param[0]);
  }
  uint32_t b_of(const egg_op& op, uint32_t rank = 0) const {
    return plan_.b_offset[static_cast<size_t>(op.param[0])] / kBlock + rank * blocks_of_b(op.param[0]);
  }
  // A vector parameter as an even and an odd member have it.
  void add_vector(List& list, int32_t param, uint32_t block) const {
    list.noise_stages.emplace_back(noise_block(param) + block, noise_block(param) + fused_.blocks + block);
  }
  void add_norm(const egg_op& norm) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      for (const uint32_t b : own) add_vector(list, norm.param[0], b);
    });
  }
  static void add_stage(List& list, const egg_op& linear, uint32_t block) {
    list.stages.push_back({linear.param[0], block});
  }

  FusedOp& add_op(FusedCode code, uint32_t blocks, const Rescale (&linears)[4]) {
    FusedOp op{code, blocks, 0, 0, first_table_, static_cast<uint32_t>(fused_.tables.size()) - first_table_, {}};
    first_table_ = static_cast<uint32_t>(fused_.tables.size());
    std::copy(std::begin(linears), std::end(linears), op.linears);
    fused_.ops.push_back(op);
    return fused_.ops.back();
  }

  // ---- Fused ops ----
  // What an embed takes of a block of its channels.
  void add_table(std::vector<uint32_t>& blocks, const egg_op& embed, uint32_t b) const {
    if (side_a_of(embed.param[0]) == kNoA) return;
    for (uint32_t rank = 0; rank < ranks(); ++rank) blocks.push_back(b_of(embed, rank) + b);
  }
  // Blocks of noise, two a stage.
  static void add_blocks(List& list, std::span<const uint32_t> blocks) {
    for (size_t i = 0; i < blocks.size(); i += 2) {
      list.noise_stages.emplace_back(blocks[i], i + 1 < blocks.size() ? blocks[i + 1] : kNoBlock);
    }
  }

  bool embedding() {
    std::vector<const egg_op*> ops;
    while (const egg_op* op = embed(x_)) {
      ops.push_back(op);
      x_ = op->out;
    }
    if (ops.empty()) return false;
    fused_.channels = size_of(x_);
    fused_.blocks = divide_up(fused_.channels, kBlock);
    if (fused_.blocks > kMostFusedBlocks || fused_.blocks < groups()) return false;
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      for (size_t first = 0; first < ops.size(); first += kTablesAtOnce) {
        const size_t end = std::min(ops.size(), first + kTablesAtOnce);
        std::vector<uint32_t> blocks;
        for (const uint32_t b : own) {
          for (size_t i = first; i < end; ++i) add_table(blocks, *ops[i], b);
        }
        add_blocks(list, blocks);
      }
    });
    add_op(kFusedEmbed, 0, {});
    return true;
  }

  // clip(W x + U h + b), of two linears that are clipped first.
  struct Gate {
    const egg_op* of_x;
    const egg_op* of_h;
    const egg_op* sum;
  };
  bool gate(int32_t x, int32_t h, int32_t sign, Rescale* scales, Gate& g) {
    g.of_x = linear(x, StagesOf::kOutputs, sign, kMostHalf, scales[0]);
    if (g.of_x == nullptr) return false;
    // Any h of the first gate: the state has not been seen yet.
    const int32_t in = h >= 0 ? h : next_ < program_.op_count ? program_.ops[next_].in[0] : -1;
    g.of_h = linear(in, StagesOf::kOutputs, sign, kMostHalf, scales[1]);
    if (g.of_h == nullptr) return false;
    g.sum = add(g.of_x->out, g.of_h->out, true);
    return g.sum != nullptr && size_of(g.sum->out) == fused_.channels;
  }
  void add_gate(const Gate& g, const egg_op& first, const egg_op& second) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      for (const uint32_t b : own) {
        list.noise_stages.emplace_back(a_of(*g.of_x) + b, a_of(*g.of_h) + b);
        std::vector<uint32_t> more;
        add_more_a(more, first, b);
        const size_t of_first = (more.size() + 1) / 2 * 2;
        add_more_a(more, second, b);
        add_blocks(list, std::span(more).first(of_first));
        add_vector(list, g.sum->param[1], b);
        add_blocks(list, std::span(more).subspan(of_first));
        add_stage(list, first, b);
        add_stage(list, second, b);
      }
    });
  }

  bool gru() {
    Rescale scales[4] = {};
    Gate f{};
    Gate c{};
    const egg_op* y = norm();
    if (y == nullptr || !gate(y->out, -1, 1, scales, f)) return false;
    const int32_t h = f.of_h->in[0];
    if (!is_state(program_, h) || size_of(h) != fused_.channels || state_taken_[static_cast<size_t>(h)]) return false;
    const egg_op* gated = take(EGG_OP_GRU_GATE);
    if (gated == nullptr || gated->in[0] != f.sum->out || gated->in[1] != h) return false;
    if (!gate(y->out, gated->out, -1, scales + 2, c)) return false;
    const egg_op* mix = take(EGG_OP_GRU_MIX);
    if (mix == nullptr || mix->in[0] != f.sum->out || mix->in[1] != h || mix->in[2] != c.sum->out) return false;
    const egg_op* store = take(EGG_OP_STORE);
    if (store == nullptr || store->in[0] != mix->out || store->out != h) return false;
    const egg_op* sum = add(mix->out, x_, false);
    if (sum == nullptr) return false;

    const uint32_t blocks = fused_.blocks;
    add_side_b(*f.of_h);
    each_list(blocks, [&](List& list, const std::vector<uint32_t>& own) {
      for (const uint32_t b : own) {
        add_vector(list, y->param[0], b);
        list.noise_stages.emplace_back(b_of(*f.of_x) + b, b_of(*c.of_x) + b);
      }
      for (uint32_t rank = 1; rank < ranks(); ++rank) {
        for (const uint32_t b : own) list.noise_stages.emplace_back(b_of(*f.of_x, rank) + b, b_of(*c.of_x, rank) + b);
      }
    });
    add_gate(f, *f.of_h, *f.of_x);
    add_side_b(*c.of_h);
    add_gate(c, *c.of_x, *c.of_h);
    add_op(kFusedGru, 0, scales).state = plan_.state_place(h);
    state_taken_[static_cast<size_t>(h)] = true;
    x_ = sum->out;
    return true;
  }

  bool mlp() {
    Rescale scales[4] = {};
    const egg_op* y = norm();
    if (y == nullptr) return false;
    const egg_op* up = linear(y->out, StagesOf::kOutputs, -1, kMostHalf, scales[0]);
    if (up == nullptr) return false;
    const egg_op* down = linear(up->out, StagesOf::kInputs, 1, kAnyHalf, scales[1]);
    if (down == nullptr) return false;
    const egg_op* sum = add(down->out, x_, false);
    if (sum == nullptr) return false;

    const uint32_t inner = divide_up(size_of(up->out), kBlock);
    if (inner < groups()) return false;
    add_norm(*y);
    add_side_b(*up);
    each_list(inner, [&](List& list, const std::vector<uint32_t>& own) {
      for (size_t i = 0; i < own.size(); ++i) {
        list.noise_stages.emplace_back(a_of(*up) + own[i], b_of(*down) + own[i]);
        std::vector<uint32_t> more;
        add_more_a(more, *up, own[i]);
        for (uint32_t rank = 1; rank < ranks(); ++rank) more.push_back(b_of(*down, rank) + own[i]);
        add_blocks(list, more);
        add_stage(list, *up, own[i]);
        if (i > 0) add_stage(list, *down, own[i - 1]);
      }
      add_stage(list, *down, own.back());
    });
    for (uint32_t g = 0; groups() > 1 && g < groups(); ++g) {
      lists_[g].stages.resize(lists_[g].stages.size() + trade_stages(fused_.blocks, g), {-1, 0});
    }
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      std::vector<uint32_t> blocks;
      for (const uint32_t b : own) {
        blocks.push_back(a_of(*down) + b);
        add_more_a(blocks, *down, b);
      }
      add_blocks(list, blocks);
    });
    add_op(kFusedMlp, inner, scales);
    x_ = sum->out;
    return true;
  }

  bool head() {
    Rescale scales[4] = {};
    const egg_op* y = norm();
    if (y == nullptr) return false;
    const egg_op* logits = linear(y->out, StagesOf::kOutputs, 1, kMostHalf, scales[0]);
    if (logits == nullptr) return false;
    std::vector<const egg_op*> added;
    int32_t last = logits->out;
    while (const egg_op* op = embed(last)) {
      added.push_back(op);
      last = op->out;
    }
    const egg_op* loss = take(EGG_OP_LOSS);
    if (loss == nullptr || loss->in[0] != last || added.size() > kMostHeadTables) return false;
    fused_.loss_unit = loss->attr;
    const uint32_t logit_blocks = divide_up(size_of(logits->out), kBlock);
    fused_.logit_blocks = keeps_logits_ ? logit_blocks : 0;
    add_norm(*y);
    add_side_b(*logits);
    for (int times = keeps_logits_ ? 1 : 2; times > 0; --times) {
      each_list(logit_blocks, [&](List& list, const std::vector<uint32_t>& own) {
        std::vector<uint32_t> blocks;
        for (const uint32_t b : own) {
          blocks.push_back(a_of(*logits) + b);
          add_more_a(blocks, *logits, b);
          for (const egg_op* op : added) add_table(blocks, *op, b);
          add_stage(list, *logits, b);
        }
        add_blocks(list, blocks);
      });
    }
    add_op(kFusedHead, logit_blocks, scales);
    return true;
  }

  // Each fused op knows the state that is taken next, so that it can be asked for ahead. A program without a state has
  // no GRU to ask for one.
  bool link_states() {
    const auto is_gru = [](const FusedOp& s) { return s.code == kFusedGru; };
    const auto first = std::find_if(fused_.ops.begin(), fused_.ops.end(), is_gru);
    if (first == fused_.ops.end()) return false;
    uint32_t next = first->state;
    for (auto op = fused_.ops.rbegin(); op != fused_.ops.rend(); ++op) {
      op->next_state = next;
      if (is_gru(*op)) next = op->state;
    }
    return true;
  }

  const Plan& plan_;
  const egg_program& program_;
  FusedPlan& fused_;
  bool keeps_logits_;
  uint32_t next_ = 0;
  int32_t x_ = -1;
  bool fits_ = true;                    // all noise has its places
  uint32_t first_table_ = 0;            // of the fused op at hand
  std::map<uint32_t, uint32_t> loose_;  // places of blocks behind the stages, by the first block
  std::vector<List> lists_;             // of the warpgroups of a tile
  std::vector<bool> state_taken_;
};

// The rings of weights first: a tile waits there.
bool choose_rings(FusedPlan& fused, uint32_t tiles, uint32_t groups, uint32_t ranks, uint32_t room) {
  const auto fits = [&](const FusedShape& shape) {
    return fused_shared(fused.blocks, fused.logit_blocks, shape).bytes <= room;
  };
  FusedShape& shape = fused.shape;
  shape = {tiles, groups, 3, groups == 1 ? 6U : 5U, ranks};
  if (tiles * groups > most_workers(fused.blocks, groups) || !fits(shape)) return false;
  while (shape.stages < kMostFusedStages && fits({tiles, groups, shape.stages + 1, shape.noise_stages, ranks})) {
    ++shape.stages;
  }
  while (shape.noise_stages < kMostNoiseStages && fits({tiles, groups, shape.stages, shape.noise_stages + 1, ranks})) {
    ++shape.noise_stages;
  }
  return true;
}

}  // namespace

std::optional<FusedPlan> fuse(const Plan& plan, const Room& room) {
  const auto ranks = static_cast<uint32_t>(plan.noise.rank);
  for (uint32_t groups = room.tiles == 1 && ranks == 1 ? kMostFusedGroups : 1; groups > 0; --groups) {
    for (const bool keeps_logits : {true, false}) {
      FusedPlan fused;
      const bool is_chain = Fuser(plan, fused, groups, keeps_logits).run();
      if (is_chain && choose_rings(fused, room.tiles, groups, ranks, room.whole)) return fused;
    }
  }
  return std::nullopt;
}

}  // namespace eggroll::cuda
