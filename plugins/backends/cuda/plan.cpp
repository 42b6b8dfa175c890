#include "plan.h"

#include <algorithm>
#include <numeric>

#include "eggroll/error.h"

namespace eggroll::cuda {
namespace {

// Two values may share memory if one op reads the first for the last time and makes the second. A linear makes its last
// outputs when it has read all its inputs, so they may lie where inputs do. An op on channels may put each result where
// the same channels of an input were.
struct ValueRequest : Request {
  size_t early;      // bytes of it that are made while inputs are still read
  bool by_channels;  // the op that makes it is one on channels
  bool to_channels;  // and the last that reads it
  bool by_linear;    // the op that makes it is a linear
  bool to_linear;

  size_t beside(size_t at, const ValueRequest& taken, size_t offset) const {
    const bool made_there = stay.begin == taken.stay.end;
    const bool ends_there = stay.end == taken.stay.begin;
    const bool in_place =
        (made_there && by_channels && taken.to_channels) || (ends_there && to_channels && taken.by_channels);
    if (in_place && at == offset && bytes == taken.bytes) return at;
    Request mine = *this;
    Request other = taken;
    if (made_there && by_linear && taken.to_linear) mine.bytes = early;
    if (ends_there && to_linear && taken.by_linear) other.bytes = taken.early;
    const size_t next = mine.Request::beside(at, other, offset);
    return next == at ? at : offset + other.bytes;
  }
};

// A warp has whole rows and reads all of an input's row before it writes the output's row.
constexpr bool may_work_in_place(const OpSignature& op) {
  return op.access == OpAccess::kChannel || op.access == OpAccess::kRow || op.access == OpAccess::kLookup;
}

constexpr uint32_t kAlignment = 128;  // of tiles' values and the ring in shared memory

class Planner {
 public:
  Planner(Plan& plan, const Room& room)
      : plan_(plan),
        program_(*plan.program),
        room_(room),
        places_(program_.value_count),
        is_kept_(program_.value_count) {}

  void run() {
    lay_out_noise();
    place_values();
    for (const Step& step : plan_.steps) {
      if (step.op >= 0 && program_.ops[step.op].code == EGG_OP_LINEAR) keep(program_.ops[step.op].in[0]);
      add(step);
      if (step.loads >= 0) keep(step.loads);
      if (step.op >= 0 && program_.ops[step.op].code != EGG_OP_STORE) keep(program_.ops[step.op].out);
    }
    if (plan_.streams.empty()) plan_.stages = 0;
    plan_.workspace_bytes = padded_size(values_in_workspace() + cache_bytes_);
    if (plan_.layout.bytes > INT32_MAX) throw_too_large();
  }

 private:
  size_t values_in_workspace() const { return padded_size(workspace_.size()); }
  static size_t padded_size(size_t bytes) { return (bytes + 255) / 256 * 256; }

  // Once a token. What a linear reads is kept where it is read, since it may be a state.
  void keep(int32_t value) {
    for (const KeptValue& kept : plan_.sites.kept) {
      if (kept.value != value || is_kept_[static_cast<size_t>(value)]) continue;
      is_kept_[static_cast<size_t>(value)] = true;
      DeviceOp op{};
      op.vectors[0] = op.vectors[1] = {-1, 0};
      op.code = kKeep;
      op.in[0] = places_[static_cast<size_t>(value)];
      op.all_shared = op.in[0].shared;
      op.keys_offset = plan_.sites.kept_offset(value);
      plan_.full_ops = true;
      plan_.ops.push_back(op);
      plan_.op_param.push_back(-1);
      plan_.op_table.push_back(-1);
    }
  }

  uint32_t ranks() const { return static_cast<uint32_t>(plan_.noise.rank); }
  SideA side_a_of(uint32_t i) const {
    const LoweredParam& param = plan_.params[i];
    return param.ranks == 0 ? kNoA : param.masked ? kKeyedA : kDrawnA;
  }

  uint32_t add_part(NoisePart part, uint32_t copies) {
    NoiseLayout& layout = plan_.layout;
    part.offset = static_cast<uint32_t>(layout.bytes);
    layout.parts.push_back(part);
    layout.bytes += size_t{copies} * padded(part.size, kBlock);
    return part.offset;
  }

  NoisePart part_of(NoisePartKind kind, uint32_t i, uint32_t side, uint32_t rank, int32_t size) const {
    const egg_voters& voters = plan_.params[i].voters;
    return {kind,
            i,
            side,
            rank,
            static_cast<uint32_t>(size),
            0,
            program_.params[i].perturbed,
            voters.first_pair,
            voters.pairs,
            nullptr};
  }

  // Adds a matrix's draws of one side, every rank. Returns the first's offset.
  uint32_t add_draws(uint32_t i, uint32_t side) {
    const egg_param& p = program_.params[i];
    const auto first = static_cast<uint32_t>(plan_.layout.bytes);
    for (uint32_t r = 0; r < ranks(); ++r) add_part(part_of(kDraw, i, side, r, side == 0 ? p.rows : p.cols), 1);
    return first;
  }

  // Keys lie after all else, side by side.
  void add_keys() {
    for (uint32_t i = 0; i < program_.param_count; ++i) {
      if (plan_.side_a[i] != kKeyedA) continue;
      plan_.a_offset[i] = static_cast<uint32_t>(plan_.layout.bytes);
      for (uint32_t r = 0; r < ranks(); ++r) {
        NoisePart key = part_of(kKey, i, 0, r, kKeyBytes);
        key.offset = static_cast<uint32_t>(plan_.layout.bytes);
        plan_.layout.parts.push_back(key);
        plan_.layout.bytes += kKeyBytes;
      }
    }
    plan_.layout.bytes = (plan_.layout.bytes + kBlock - 1) / kBlock * kBlock;
  }

  void lay_out_noise() {
    plan_.a_offset.resize(program_.param_count);
    plan_.b_offset.resize(program_.param_count);
    for (uint32_t i = 0; i < program_.param_count; ++i) {
      const egg_param& p = program_.params[i];
      plan_.side_a.push_back(side_a_of(i));
      if (p.kind == EGG_PARAM_VECTOR) {
        plan_.a_offset[i] = add_part(part_of(kVector, i, 0, 0, p.rows), 2);
      } else if (plan_.side_a[i] != kNoA) {
        if (plan_.side_a[i] == kDrawnA) plan_.a_offset[i] = add_draws(i, 0);
        plan_.b_offset[i] = add_draws(i, 1);
      }
    }
    add_keys();
  }

  void place_values() {
    const std::vector<Stay>& stays = plan_.stays;
    const uint32_t ring = room_.fewest_stages * kStage;
    const uint32_t most_shared = (room_.bytes - std::min(ring, room_.bytes)) / room_.tiles / kAlignment * kAlignment;
    for (const uint32_t v : by_need()) {
      const egg_value& value = program_.values[v];
      Place& place = places_[v];
      place.size = static_cast<uint32_t>(value.size);
      place.wide = value.is_wide != 0 ? 1 : 0;
      place.bytes = padded(place.size, kBlock) * (place.wide != 0 ? 4 : 1);
      if (stays[v].begin == Stay::kNever) continue;
      size_t offset = shared_.take(request_for(v, stays[v], true), most_shared);
      place.shared = offset != shared_.kNoRoom ? 1 : 0;
      if (place.shared == 0) {
        offset = workspace_.take(request_for(v, stays[v], false), UINT32_MAX);
        plan_.all_shared = false;
      }
      if (offset == workspace_.kNoRoom) throw_too_large();
      place.offset = static_cast<uint32_t>(offset);
    }
    plan_.shared_values = padded(static_cast<uint32_t>(shared_.size()), kAlignment);
    if (ring > 0) {
      plan_.stages = std::min(room_.most_stages, (room_.bytes - room_.tiles * plan_.shared_values) / kStage);
    }
  }

  ValueRequest request_for(uint32_t v, const Stay& stay, bool on_chip) const {
    const auto by_channels = [](const egg_op* op) { return op != nullptr && may_work_in_place(signature_of(*op)); };
    const auto op_at = [&](int32_t i) {
      const Step& step = plan_.steps[static_cast<size_t>(i)];
      return step.loads < 0 ? &program_.ops[step.op] : nullptr;
    };
    // Without a ring, a linear still reads inputs while it makes outputs.
    const auto by_linear = [&](const egg_op* op) {
      return op != nullptr && op->code == EGG_OP_LINEAR && on_chip && room_.most_stages > 0;
    };
    const egg_op* first = op_at(stay.begin);
    const egg_op* last = op_at(stay.end);
    const bool made = first != nullptr && first->out == static_cast<int32_t>(v);
    const bool read = stay.end > stay.begin;
    const size_t bytes = size_t{places_[v].bytes} / kUnit * kPlane;
    // All blocks of outputs but the last two, or but the last one if their number is odd.
    const uint32_t blocks = divide_up(places_[v].size, kBlock);
    const size_t early = bytes / blocks * ((blocks - 1) / 2 * 2);
    return {
        {bytes, stay},          early, made && by_channels(first), read && by_channels(last), made && by_linear(first),
        read && by_linear(last)};
  }

  // Values in the order in which they are placed: those that a linear reads, or that an op turns in place into such a
  // one, the largest first; then the short-lived.
  std::vector<uint32_t> by_need() const {
    const std::vector<Stay>& stays = plan_.stays;
    std::vector<bool> multiplied(program_.value_count, false);
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      if (plan_.steps[i].loads >= 0) continue;
      const egg_op& op = program_.ops[plan_.steps[i].op];
      const auto in = static_cast<size_t>(std::max(op.in[0], 0));
      if (op.code == EGG_OP_LINEAR) multiplied[in] = true;
      if (op.code != EGG_OP_LUT || stays[in].end != static_cast<int32_t>(i)) continue;
      if (multiplied[static_cast<size_t>(op.out)]) multiplied[in] = true;
    }
    std::vector<uint32_t> order(program_.value_count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
      if (multiplied[x] != multiplied[y]) return static_cast<bool>(multiplied[x]);
      if (multiplied[x]) return program_.values[x].size > program_.values[y].size;
      return stays[x].end - stays[x].begin < stays[y].end - stays[y].begin;
    });
    return order;
  }

  [[noreturn]] static void throw_too_large() {
    throw Error(
        "the cuda backend keeps at most 4 GiB of values for 64 members, and this program has more; use a smaller "
        "width, vocabulary or context",
        EGG_ERROR_UNSUPPORTED);
  }

  static bool meet(const Place& a, const Place& b) {
    const auto end = [](const Place& p) { return p.offset + p.bytes / kUnit * kPlane; };
    return a.offset < end(b) && b.offset < end(a);
  }

  VectorNoise vector_noise(int32_t param) const {
    if (param < 0 || program_.params[param].kind != EGG_PARAM_VECTOR) return {-1, 0};
    const auto size = static_cast<uint32_t>(program_.params[param].rows);
    return {static_cast<int32_t>(plan_.a_offset[static_cast<size_t>(param)]),
            static_cast<int32_t>(padded(size, kBlock))};
  }

  void add(const Step& step) {
    const egg_op from = plan_.op_of(step, kLoadState);
    const auto place_of = [&](int32_t value) { return value >= 0 ? places_[static_cast<size_t>(value)] : Place{}; };
    DeviceOp op{};
    op.code = from.code;
    op.attr = from.attr;
    op.head = from.head;
    op.mode = from.mode;
    op.out = place_of(from.out);
    for (int k = 0; k < 3; ++k) op.in[k] = place_of(from.in[k]);
    for (int k = 0; k < 2; ++k) op.vectors[k] = vector_noise(from.param[k]);
    const int32_t state = plan_.state_at(step);
    if (state >= 0) op.state_offset = plan_.state_place(state);
    op.of_state = from.code == EGG_OP_LOSS && state >= 0 ? 1 : 0;
    if (from.code == EGG_OP_LINEAR || from.code == EGG_OP_EMBED) add_matrix(op, static_cast<size_t>(from.param[0]));
    if (from.code == EGG_OP_ATTENTION) {
      const egg_table& weights = program_.tables[from.table];
      const int32_t largest = *std::max_element(weights.entries, weights.entries + weights.count);
      op.small_weights = largest <= INT16_MAX ? 1 : 0;
      add_caches(op);
    }
    if ((op.code != kLoadState && !is_plain(op.code)) || op.out.wide != 0) plan_.full_ops = true;
    op.all_shared = 1;
    for (const Place& place : {op.out, op.in[0], op.in[1], op.in[2]}) {
      if (place.bytes != 0 && place.shared == 0) op.all_shared = 0;
    }
    if (op.code == EGG_OP_LINEAR) {
      op.streamed = plan_.stages > 0 && op.in[0].shared != 0 ? 1 : 0;
      op.takes_inputs_place = op.out.shared != 0 && op.in[0].shared != 0 && meet(op.out, op.in[0]) ? 1 : 0;
      if (op.streamed != 0) {
        plan_.streams.push_back(plan_.ops.size());
        plan_.source_count += stages_of(op);
      }
      if (op.streamed == 0) plan_.all_streamed = false;
    }
    plan_.ops.push_back(op);
    plan_.op_param.push_back(from.param[0]);
    plan_.op_table.push_back(from.table);
  }

  void add_matrix(DeviceOp& op, size_t param) {
    const egg_param& p = program_.params[param];
    const auto rows = static_cast<uint32_t>(p.rows);
    const auto cols = static_cast<uint32_t>(p.cols);
    op.matrix_stride = padded(cols, kBlock);
    op.in_blocks = divide_up(cols, kBlock);
    op.out_blocks = divide_up(rows, kBlock);
    op.side_a = plan_.side_a[param];
    op.ranks = op.side_a != kNoA ? plan_.noise.rank : 0;
    op.a_offset = plan_.a_offset[param];
    op.a_stride = op.side_a == kKeyedA ? kKeyBytes : padded(rows, kBlock);
    op.b_offset = plan_.b_offset[param];
    op.b_stride = padded(cols, kBlock);
  }

  // After the values, whose size is known here.
  void add_caches(DeviceOp& op) {
    const size_t bytes = size_t{kTileRows} * static_cast<size_t>(program_.context) * op.out.bytes;
    if (cache_bytes_ == 0)
      cache_bytes_ = size_t{kTileThreads} * sizeof(int32_t) * static_cast<size_t>(program_.context);
    op.scores_offset = values_in_workspace();
    op.keys_offset = op.scores_offset + cache_bytes_;
    op.values_offset = op.keys_offset + bytes;
    cache_bytes_ += 2 * bytes;
  }

  Plan& plan_;
  const egg_program& program_;
  Room room_;
  std::vector<Place> places_;
  std::vector<bool> is_kept_;  // by value: the op is there
  FirstFit<ValueRequest> shared_;
  FirstFit<ValueRequest> workspace_;
  size_t cache_bytes_ = 0;  // scores, then keys and values
};

}  // namespace

Plan::Plan(const egg_session_spec& spec, const Room& room)
    : DeviceProgram(spec, kBlock), tiles(room.tiles), rule(*spec.rule), sites(spec, params) {
  Planner(*this, room).run();
  if (room.most_stages == 0 || !room.may_fuse) return;
  fused = fuse(*this, room);
  if (!fused) return;
  workspace_bytes = 0;
  layout.bytes = size_t{fused->noise_blocks} * kBlock;
}

}  // namespace eggroll::cuda
