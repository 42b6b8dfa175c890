// How a program becomes fused ops. A Fuser reads the program's ops from first to last, and lists what each fused op
// takes from the rings. MemberFuser and TokenFuser say what may stand between the embedding and the head.
#ifndef EGGROLL_CUDA_FUSER_H
#define EGGROLL_CUDA_FUSER_H

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fused_plan.h"
#include "plan.h"

namespace eggroll::cuda {

// A function named for ops (head(), embedding(), layer()) says whether the next ops are those. If so, it reads them.
class Fuser {
 public:
  // keeps_logits: logits are kept on the chip; else they are made twice.
  Fuser(const Plan& plan, FusedPlan& fused, Rows rows, uint32_t warpgroups, bool keeps_logits)
      : plan_(plan),
        program_(*plan.program),
        fused_(fused),
        tokens_(has_tokens(rows)),
        keeps_logits_(keeps_logits),
        lists_(warpgroups) {}
  virtual ~Fuser() = default;
  Fuser(const Fuser&) = delete;
  Fuser& operator=(const Fuser&) = delete;

  bool run() {
    fused_.cuts.assign(program_.param_count, StagesOf::kNothing);
    fused_.places.assign(plan_.layout.bytes / kBlock, {kNoPlace, kNoPlace});
    if (ranks() > kMostFusedRanks || !embedding()) return false;
    while (next_ < program_.op_count) {
      if (!layer() && !goes_on([&] { return head(); })) return false;
    }
    if (fused_.ops.back().code != kFusedHead || fused_.ops.size() > kMostFusedOps) return false;
    place_lists();
    return fits_ && finish();
  }

 protected:
  static constexpr int64_t kMostHalf = 32767 - 127;  // so that 127 can be added
  static constexpr int64_t kAnyHalf = 32767;
  static constexpr int64_t kBiasedHalf = 32767 - 254;  // so that a fallen bias, at most 254, can be added

  // Reads a fused op that is neither the embedding nor the head.
  virtual bool layer() = 0;
  // Does what is left after all ops have been read.
  virtual bool finish() = 0;

  // Reads nothing if the next ops are not that fused op.
  template <class FusedOpAtHand>
  bool goes_on(FusedOpAtHand&& fused_op) {
    const uint32_t begin = next_;
    const std::vector<StagesOf> cuts = fused_.cuts;
    if (fused_op()) return true;
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

  // ---- Ops; null if the next op is another ----
  const egg_op* norm() {
    const egg_op* op = take(EGG_OP_L1_NORM);
    if (op == nullptr || op->in[0] != x_ || (op->param[1] >= 0) != tokens_) return nullptr;
    return op->attr == EGG_DIVIDE_RECIPROCAL ? op : nullptr;
  }

  // A table's row, which is added to x unless x is -1.
  const egg_op* embed(int32_t x) {
    if (next_ >= program_.op_count || program_.ops[next_].code != EGG_OP_EMBED) return nullptr;
    const egg_op& op = program_.ops[next_];
    if (op.in[0] != x || fused_.tables.size() == kMostFusedTables) return nullptr;
    ++next_;
    fused_.tables.push_back({op.param[0], static_cast<uint32_t>(op.attr), 0, 0});
    return &op;
  }

  // Any linear. `cut` says how its matrix is cut.
  const egg_op* product(int32_t in, StagesOf cut, bool biased) {
    const egg_op* op = take(EGG_OP_LINEAR);
    if (op == nullptr || op->in[0] != in || (op->param[1] >= 0) != biased) return nullptr;
    StagesOf& now = fused_.cuts[static_cast<size_t>(op->param[0])];
    if (program_.params[op->param[0]].perturbed == 0 || (now != StagesOf::kNothing && now != cut)) return nullptr;
    now = cut;
    return op;
  }

  // A linear whose outputs are halves up to `most`, with the opposite sign if `sign` is -1.
  const egg_op* linear(int32_t in, StagesOf cut, int32_t sign, int64_t most, Rescale& scale, bool biased = false) {
    const egg_op* op = product(in, cut, biased);
    if (op == nullptr || !is_narrow(*op)) return nullptr;
    const egg_param& matrix = program_.params[op->param[0]];
    const int32_t shift = op->attr + EGG_LINEAR_GUARD_BITS;
    if (shift > 16) return nullptr;
    const int64_t of_q = int64_t{1} << (16 - shift);
    const int64_t of_sums = of_q << EGG_LINEAR_GUARD_BITS;
    if (!fits_halves((int64_t{127 * 127} * matrix.cols << EGG_LINEAR_GUARD_BITS) + 32767 * 127 * ranks(), of_q, most)) {
      return nullptr;
    }
    scale = {static_cast<int32_t>(of_sums) * sign, static_cast<int32_t>(of_q) * sign};
    return op;
  }

  // Whether a linear's scaled sums fit in words whose upper halves, the outputs, are at most `most`. With several
  // ranks, sums can be clipped before they are scaled: an output whose sum is clipped is beyond 127 in magnitude.
  bool fits_halves(int64_t sums, int64_t of_q, int64_t most) {
    if (sums * of_q + 65535 <= most << 16) return true;
    if (ranks() == 1 || sums > INT32_MAX) return false;
    fused_.clips_sums = true;
    return kMostScaled + 65535 <= most << 16;
  }

  // The sum of a and b in either order. b is -1 if there is none.
  const egg_op* sum_of(int32_t a, int32_t b, bool biased) {
    const egg_op* op = take(EGG_OP_ADD);
    if (op == nullptr || (op->param[1] >= 0) != biased) return nullptr;
    const bool both = (op->in[0] == a && op->in[1] == b) || (op->in[0] == b && op->in[1] == a);
    return both ? op : nullptr;
  }
  const egg_op* add(int32_t a, int32_t b, bool biased) {
    const egg_op* op = sum_of(a, b, biased);
    return op != nullptr && is_narrow(*op) ? op : nullptr;
  }

  // ---- What a token takes from the rings: each warpgroup of a tile takes what its own blocks of channels need ----
  struct List {
    std::vector<FusedPlan::Stage> stages;
    std::vector<std::pair<uint32_t, uint32_t>> noise_stages;  // blocks; kNoBlock: half is unused
    uint32_t repeated_noise_stages = 0;
  };
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  uint32_t warpgroups() const { return static_cast<uint32_t>(lists_.size()); }
  uint32_t ranks() const { return static_cast<uint32_t>(plan_.noise.rank); }
  // Calls body(list, blocks of the list's group) for each list.
  template <class Body>
  void each_list(uint32_t blocks, const Body& body) {
    for (uint32_t g = 0; g < warpgroups(); ++g) {
      std::vector<uint32_t> own;
      for (uint32_t b = g; b < blocks; b += warpgroups()) own.push_back(b);
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
  // Adds side B of a linear, rank by rank.
  void add_side_b(const egg_op& op) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      std::vector<uint32_t> blocks;
      for (uint32_t rank = 0; rank < ranks(); ++rank) {
        for (const uint32_t b : own) blocks.push_back(b_of(op, rank) + b);
      }
      add_blocks(list, blocks);
    });
  }
  // Adds a block of side A for each rank after the first.
  void add_more_a(std::vector<uint32_t>& blocks, const egg_op& op, uint32_t block) const {
    for (uint32_t rank = 1; rank < ranks(); ++rank) blocks.push_back(a_of(op, rank) + block);
  }
  void place_lists() {
    uint32_t stage = 0;
    for (const List& list : lists_) {
      fused_.feeds.push_back({static_cast<uint32_t>(fused_.stages_of.size()), static_cast<uint32_t>(list.stages.size()),
                              stage, static_cast<uint32_t>(list.noise_stages.size()), list.repeated_noise_stages});
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
  // Places the blocks in which a token finds its draw of a table's side A: all draws of the table or, if it has keys,
  // the keys of all tables, which lie together after all draws. Blocks that several ops read are placed once.
  void place_loose(FusedPlan::Table& table) {
    const SideA side_a = side_a_of(table.param);
    if (side_a == kNoA) return;
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
  // Adds a vector parameter: as an even member has it, then as an odd member has it.
  void add_vector(List& list, int32_t param, uint32_t block) const {
    list.noise_stages.emplace_back(noise_block(param) + block, noise_block(param) + blocks_of_a(param) + block);
  }
  void add_norm(const egg_op& norm) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      for (const uint32_t b : own) {
        add_vector(list, norm.param[0], b);
        if (tokens_) add_vector(list, norm.param[1], b);
      }
    });
  }
  // Adds side A of a linear whose outputs are all made at once.
  void add_side_a(const egg_op& op) {
    each_list(fused_.blocks, [&](List& list, const std::vector<uint32_t>& own) {
      std::vector<uint32_t> blocks;
      for (const uint32_t b : own) {
        blocks.push_back(a_of(op) + b);
        add_more_a(blocks, op, b);
      }
      add_blocks(list, blocks);
    });
  }
  static void add_stage(List& list, const egg_op& linear, uint32_t block) {
    list.stages.push_back({linear.param[0], block});
  }

  FusedOp& add_op(FusedCode code, uint32_t blocks, const Rescale (&linears)[4]) {
    const auto table_count = static_cast<uint32_t>(fused_.tables.size()) - first_table_;
    const auto noise_stages = static_cast<uint32_t>(lists_[0].noise_stages.size()) - noise_before_;
    const auto stages = static_cast<uint32_t>(lists_[0].stages.size()) - stages_before_;
    FusedOp op{code, blocks, 0, 0, first_table_, table_count, {}};
    fused_.needs.push_back({stages, noise_stages});
    first_table_ += table_count;
    noise_before_ += noise_stages;
    stages_before_ += stages;
    std::copy(std::begin(linears), std::end(linears), op.linears);
    fused_.ops.push_back(op);
    return fused_.ops.back();
  }

  // ---- Fused ops ----
  // Adds what an embed takes for a block of its channels.
  void add_table(std::vector<uint32_t>& blocks, const egg_op& embed, uint32_t b) const {
    if (side_a_of(embed.param[0]) == kNoA) return;
    for (uint32_t rank = 0; rank < ranks(); ++rank) blocks.push_back(b_of(embed, rank) + b);
  }
  // Adds blocks of noise, two per stage.
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
    if (fused_.blocks > kMostFusedBlocks || fused_.blocks < warpgroups()) return false;
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
    if (tokens_) {
      const egg_op* biased = add(x_, -1, true);
      if (biased == nullptr) return false;
      for (uint32_t b = 0; b < fused_.blocks; ++b) add_vector(lists_[0], biased->param[1], b);
      x_ = biased->out;
    }
    add_op(kFusedEmbed, 0, {});
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
    each_list(logit_blocks, [&](List& list, const std::vector<uint32_t>& own) {
      std::vector<uint32_t> blocks;
      for (const uint32_t b : own) {
        blocks.push_back(a_of(*logits) + b);
        add_more_a(blocks, *logits, b);
        for (const egg_op* op : added) add_table(blocks, *op, b);
      }
      for (int times = keeps_logits_ ? 1 : 2; times > 0; --times) {
        for (const uint32_t b : own) add_stage(list, *logits, b);
      }
      if (!keeps_logits_) list.repeated_noise_stages = divide_up(static_cast<uint32_t>(blocks.size()), 2);
      add_blocks(list, blocks);
    });
    add_op(kFusedHead, logit_blocks, scales);
    return true;
  }

  const Plan& plan_;
  const egg_program& program_;
  FusedPlan& fused_;
  bool tokens_;  // rows are tokens
  bool keeps_logits_;
  uint32_t next_ = 0;
  int32_t x_ = -1;
  bool fits_ = true;                    // all noise has its places
  uint32_t first_table_ = 0;            // of the fused op at hand
  uint32_t stages_before_ = 0;          // of the first list, before those of the fused op at hand
  uint32_t noise_before_ = 0;           // likewise, of noise
  std::map<uint32_t, uint32_t> loose_;  // places of blocks after the stages, by the first block
  std::vector<List> lists_;             // of the warpgroups of a tile
};

// The plan whose rows are members, and the one whose rows are tokens.
std::optional<FusedPlan> fuse_members(const Plan& plan, const Room& room);
std::optional<FusedPlan> fuse_tokens(const Plan& plan, const Room& room);
// Chooses the lengths of the rings in fused.shape, first that of weights, because tiles wait there. False if the rings
// do not fit in `room`, or if there are more warpgroups, of all tiles together, than most_workers().
bool choose_rings(FusedPlan& fused, uint32_t fewest_noise_stages, uint32_t most_noise_stages, uint32_t room);

}  // namespace eggroll::cuda

#endif
