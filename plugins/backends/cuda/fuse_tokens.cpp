// Programs whose tiles hold tokens: a transformer's layers, with windows of some tokens, one draw per side and
// one warpgroup per tile.
#include <bit>

#include "fuser.h"

namespace eggroll::cuda {
namespace {

class TokenFuser : public Fuser {
 public:
  TokenFuser(const Plan& plan, FusedPlan& fused, Rows rows, bool keeps_logits)
      : Fuser(plan, fused, rows, 1, keeps_logits), rows_(rows) {}

 private:
  bool layer() override {
    return goes_on([&] { return attention(); }) || goes_on([&] { return mlp(); });
  }

  // One with a wide output.
  const egg_op* wide_linear(int32_t in, StagesOf cut, bool biased, Rescale& scale) {
    const egg_op* op = product(in, cut, biased);
    if (op == nullptr || is_narrow(*op)) return nullptr;
    scale = {op->attr + EGG_LINEAR_GUARD_BITS, 1};
    return op;
  }

  const egg_op* max_norm(int32_t in) {
    const egg_op* op = take(EGG_OP_MAX_NORM);
    return op != nullptr && op->in[0] == in ? op : nullptr;
  }

  // Keeps what the kernel has once for all ops. Returns false if an earlier op had something else.
  static bool keep(int32_t& kept, int32_t value) {
    if (kept < 0) kept = value;
    return kept == value;
  }

  // max_norm(x + made): becomes x.
  bool residual(int32_t made) {
    const egg_op* sum = sum_of(x_, made, false);
    if (sum == nullptr || is_narrow(*sum)) return false;
    const egg_op* scaled = max_norm(sum->out);
    if (scaled == nullptr) return false;
    x_ = scaled->out;
    return true;
  }

  // Adds all stages of a linear whose outputs are made 64 at a time from all channels.
  void add_square(const egg_op& op) {
    add_side_b(op);
    add_side_a(op);
    for (uint32_t b = 0; b < fused_.blocks; ++b) add_stage(lists_[0], op, b);
  }

  bool mlp() {
    Rescale scales[4] = {};
    const egg_op* y = norm();
    if (y == nullptr) return false;
    const egg_op* up = linear(y->out, StagesOf::kOutputs, -1, kBiasedHalf, scales[0], true);
    if (up == nullptr) return false;
    const egg_op* look_up = take(EGG_OP_LUT);
    if (look_up == nullptr || look_up->in[0] != up->out) return false;
    const egg_op* down = wide_linear(look_up->out, StagesOf::kInputs, true, scales[1]);
    if (down == nullptr || !residual(down->out) || !keep(fused_.look_up, look_up->table)) return false;

    const uint32_t inner = divide_up(size_of(up->out), kBlock);
    List& list = lists_[0];
    add_norm(*y);
    add_side_b(*up);
    for (uint32_t i = 0; i < inner; ++i) {
      list.noise_stages.emplace_back(a_of(*up) + i, b_of(*down) + i);
      add_vector(list, up->param[1], i);
      add_stage(list, *up, i);
      if (i > 0) add_stage(list, *down, i - 1);
    }
    add_stage(list, *down, inner - 1);
    add_side_a(*down);
    for (uint32_t b = 0; b < fused_.blocks; ++b) add_vector(list, down->param[1], b);
    add_op(kFusedMlp, inner, scales);
    return true;
  }

  // max_norm of a linear that reads y, turned in between or not.
  struct Projection {
    const egg_op* linear;
    int32_t out;
  };
  bool projection(int32_t y, bool turned, Rescale& scale, Projection& p) {
    p.linear = wide_linear(y, StagesOf::kOutputs, false, scale);
    if (p.linear == nullptr || size_of(p.linear->out) != fused_.channels) return false;
    int32_t x = p.linear->out;
    if (turned) {
      const egg_op* turn = take(EGG_OP_ROPE);
      if (turn == nullptr || turn->in[0] != x || is_narrow(*turn)) return false;  // one that clips
      if (!keep(fused_.angles, turn->table) || !keep(fused_.head, turn->head)) return false;
      x = turn->out;
    }
    const egg_op* scaled = max_norm(x);
    if (scaled == nullptr || program_.values[scaled->out].is_wide != 0) return false;
    p.out = scaled->out;
    return true;
  }

  bool attention() {
    Rescale scales[4] = {};
    Projection q{};
    Projection k{};
    Projection v{};
    const egg_op* y = norm();
    if (y == nullptr || !projection(y->out, true, scales[2], q) || !projection(y->out, true, scales[1], k))
      return false;
    if (!projection(y->out, false, scales[0], v)) return false;
    const egg_op* mixed = take(EGG_OP_ATTENTION);
    if (mixed == nullptr || mixed->in[0] != q.out || mixed->in[1] != k.out || mixed->in[2] != v.out) return false;
    const egg_op* last = wide_linear(mixed->out, StagesOf::kOutputs, false, scales[3]);
    if (last == nullptr || !residual(last->out)) return false;
    if (!keep(fused_.weights, mixed->table) || !keep(fused_.weighting, mixed->mode)) return false;
    if (!keep(fused_.head, mixed->head) || !keep(fused_.score_shift, mixed->attr)) return false;

    add_norm(*y);
    for (const egg_op* op : {v.linear, k.linear, q.linear, last}) add_square(*op);
    add_op(kFusedAttention, 0, scales);
    return true;
  }

  // Needs an MLP and an attention, so that the kernel has its tables.
  bool finish() override {
    if (fused_.look_up < 0 || fused_.weights < 0) return false;
    const egg_table& weights = program_.tables[fused_.weights];
    const bool small = *std::max_element(weights.entries, weights.entries + weights.count) < 1 << 15;
    if (!small || (fused_.head != 16 && fused_.head != 32 && fused_.head != 64)) return false;
    uint32_t most_noise = 0;
    for (const FusedNeed& need : fused_.needs) most_noise = std::max(most_noise, need.noise_stages);
    FusedShape& shape = fused_.shape;
    const auto context = static_cast<uint32_t>(program_.context);
    shape.rows = rows_;
    shape.span = rows_ == Rows::kSpan ? kSpan : std::bit_ceil(context);
    shape.noise_slot = most_noise * tile_pairs(shape) * 2 * kBlock;
    shape.steps = divide_up(context, shape.span);
    // All attentions use the same place in turn, and then the logits use it.
    shape.caches = std::max(cache_parts(rows_) * 2 * fused_.blocks * cache_block_bytes(context),
                            fused_.logit_blocks * kValueBlock);
    return true;
  }

  Rows rows_;
};

}  // namespace

std::optional<FusedPlan> fuse_tokens(const Plan& plan, const Room& room) {
  const auto context = static_cast<uint32_t>(plan.program->context);
  const bool is_short = context <= kMostWindow;
  if (plan.noise.rank != 1 || context < 2 || (!is_short && context < kFewestSpanTokens)) return std::nullopt;
  for (const bool keeps_logits : {true, false}) {
    FusedPlan fused;
    if (!TokenFuser(plan, fused, is_short ? Rows::kWindows : Rows::kSpan, keeps_logits).run()) continue;
    if (is_short && fused.blocks > kMostWindowBlocks) return std::nullopt;
    fused.shape.tiles = room.tiles;
    fused.shape.warpgroups = 1;
    fused.shape.ranks = 1;
    // An op's noise comes while a tile works on the op before.
    if (choose_rings(fused, 2, 2, room.whole)) return fused;
  }
  return std::nullopt;
}

}  // namespace eggroll::cuda
