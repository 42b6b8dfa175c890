// Programs whose tiles hold members: layers of a minimal GRU, or of an MLP.
#include "fuser.h"

namespace eggroll::cuda {
namespace {

class MemberFuser : public Fuser {
 public:
  MemberFuser(const Plan& plan, FusedPlan& fused, uint32_t warpgroups, bool keeps_logits)
      : Fuser(plan, fused, Rows::kMembers, warpgroups, keeps_logits), state_taken_(plan.program->value_count, false) {}

 private:
  bool layer() override {
    return goes_on([&] { return gru(); }) || goes_on([&] { return mlp(); });
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
    if (inner < warpgroups()) return false;
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
    for (uint32_t g = 0; warpgroups() > 1 && g < warpgroups(); ++g) {
      lists_[g].stages.resize(lists_[g].stages.size() + exchanged_stages(fused_.blocks, g), {-1, 0});
    }
    add_side_a(*down);
    add_op(kFusedMlp, inner, scales);
    x_ = sum->out;
    return true;
  }

  // Each fused op knows the state that is taken next, so that it can be asked for ahead. A program without a state has
  // no GRU to ask for one.
  bool finish() override {
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

  std::vector<bool> state_taken_;
};

}  // namespace

std::optional<FusedPlan> fuse_members(const Plan& plan, const Room& room) {
  const auto ranks = static_cast<uint32_t>(plan.noise.rank);
  for (uint32_t warpgroups = room.tiles == 1 && ranks == 1 ? kMostFusedGroups : 1; warpgroups > 0; --warpgroups) {
    for (const bool keeps_logits : {true, false}) {
      FusedPlan fused;
      if (!MemberFuser(plan, fused, warpgroups, keeps_logits).run()) continue;
      fused.shape = {room.tiles, warpgroups, 0, 0, ranks, Rows::kMembers, 1, kNoiseStage, 0, 0};
      if (choose_rings(fused, warpgroups == 1 ? 6 : 5, kMostNoiseStages, room.whole)) return fused;
    }
  }
  return std::nullopt;
}

}  // namespace eggroll::cuda
