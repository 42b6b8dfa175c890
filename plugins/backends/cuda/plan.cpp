#include "plan.h"

#include <algorithm>

#include "eggroll/error.h"

namespace eggroll::cuda {
namespace {

constexpr int32_t kNever = -1;

// A value's stay in memory: from the op that makes it to the last that reads it.
struct Stay {
  int32_t begin = kNever;
  int32_t end = kNever;
  void include(int32_t op) {
    if (begin == kNever) begin = op;
    end = std::max(end, op);
  }
};

// First fit: the lowest offset that no value of the same time takes.
class Memory {
 public:
  // Returns the offset, or -1 where it would end beyond the limit.
  int64_t take(size_t bytes, const Stay& stay, size_t limit) {
    size_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Taken& t : taken_) {
        if (t.stay.begin <= stay.end && stay.begin <= t.stay.end && at < t.offset + t.bytes && t.offset < at + bytes) {
          at = t.offset + t.bytes;
          moved = true;
        }
      }
    }
    if (at + bytes > limit) return -1;
    taken_.push_back({at, bytes, stay});
    end_ = std::max(end_, at + bytes);
    return static_cast<int64_t>(at);
  }
  size_t end() const { return end_; }

 private:
  struct Taken {
    size_t offset;
    size_t bytes;
    Stay stay;
  };
  std::vector<Taken> taken_;
  size_t end_ = 0;
};

class Planner {
 public:
  Planner(Plan& plan, uint32_t shared_limit)
      : plan_(plan), program_(*plan.program), shared_limit_(shared_limit), places_(program_.value_count) {}

  void run() {
    lay_out_states();
    lay_out_noise();
    order_ops();
    place_values();
    for (size_t i = 0; i < order_.size(); ++i) add(order_[i]);
    plan_.workspace_bytes = padded_size(values_in_workspace() + cache_bytes_);
    if (plan_.forward.bytes > INT32_MAX || plan_.votes.bytes > INT32_MAX) throw_too_large();
  }

 private:
  // An op of the program, or the loading of a state.
  struct Step {
    int32_t op;
    int32_t loads;
  };

  size_t values_in_workspace() const { return padded_size(kTileRows * workspace_.end()); }
  static size_t padded_size(size_t bytes) { return (bytes + 255) / 256 * 256; }

  bool is_state(int32_t value) const { return value >= 0 && program_.values[value].is_state != 0; }

  void lay_out_states() {
    state_of_.assign(program_.value_count, 0);
    for (uint32_t i = 0; i < program_.value_count; ++i) {
      if (program_.values[i].is_state == 0) continue;
      const auto size = static_cast<uint32_t>(program_.values[i].size);
      state_of_[i] = plan_.states.size();
      plan_.states.push_back({size, plan_.state_bytes, plan_.state_stride});
      plan_.state_bytes += size;
      plan_.state_stride += padded(size, kBlock);
    }
  }

  uint32_t add_segment(NoiseLayout& layout, Segment segment, uint32_t copies) {
    segment.offset = static_cast<uint32_t>(layout.bytes);
    layout.segments.push_back(segment);
    layout.bytes += size_t{copies} * padded(segment.size, kBlock);
    return segment.offset;
  }

  // Of one parameter: every rank of side A, then of side B. Returns the offset of the first.
  uint32_t add_draws(NoiseLayout& layout, uint32_t i) {
    const egg_param& p = program_.params[i];
    const bool vector = p.kind == EGG_PARAM_VECTOR;
    const auto first = static_cast<uint32_t>(layout.bytes);
    for (const uint32_t side : {0U, 1U}) {
      for (uint32_t r = 0; r < (vector ? 1U : static_cast<uint32_t>(plan_.noise.rank)); ++r) {
        const int32_t size = vector || side == 0 ? p.rows : p.cols;
        add_segment(layout, {kDraw, i, side, r, static_cast<uint32_t>(size), 0, 1, nullptr}, 1);
      }
    }
    return first;
  }

  void lay_out_noise() {
    forward_offset_.resize(program_.param_count);
    plan_.draw_offset.resize(program_.param_count);
    for (uint32_t i = 0; i < program_.param_count; ++i) {
      const egg_param& p = program_.params[i];
      if (p.kind == EGG_PARAM_VECTOR) {
        forward_offset_[i] =
            add_segment(plan_.forward, {kVector, i, 0, 0, static_cast<uint32_t>(p.rows), 0, p.perturbed, nullptr}, 2);
      } else if (p.perturbed != 0) {
        forward_offset_[i] = add_draws(plan_.forward, i);
      }
      if (p.perturbed != 0) plan_.draw_offset[i] = add_draws(plan_.votes, i);
    }
  }

  // A state is loaded before its first reader and before anything is stored in it, so that its readers see what it was
  // when the token began.
  void order_ops() {
    std::vector<bool> loaded(program_.value_count, false);
    std::vector<bool> is_read(program_.value_count, false);
    for (uint32_t i = 0; i < program_.op_count; ++i) {
      for (const int32_t in : program_.ops[i].in) {
        if (is_state(in)) is_read[static_cast<size_t>(in)] = true;
      }
    }
    for (uint32_t i = 0; i < program_.op_count; ++i) {
      const egg_op& op = program_.ops[i];
      for (const int32_t value : {op.in[0], op.in[1], op.in[2], op.code == EGG_OP_STORE ? op.out : -1}) {
        if (!is_state(value) || loaded[static_cast<size_t>(value)] || !is_read[static_cast<size_t>(value)]) continue;
        loaded[static_cast<size_t>(value)] = true;
        order_.push_back({-1, value});
      }
      order_.push_back({static_cast<int32_t>(i), -1});
    }
  }

  void place_values() {
    std::vector<Stay> stays(program_.value_count);
    for (size_t i = 0; i < order_.size(); ++i) {
      const auto now = static_cast<int32_t>(i);
      if (order_[i].loads >= 0) {
        stays[static_cast<size_t>(order_[i].loads)].include(now);
        continue;
      }
      const egg_op& op = program_.ops[order_[i].op];
      for (const int32_t in : op.in) {
        if (in >= 0) stays[static_cast<size_t>(in)].include(now);
      }
      if (op.out >= 0 && !is_state(op.out)) stays[static_cast<size_t>(op.out)].include(now);
    }
    // Room for the bytes that may be added to a row.
    const size_t most_shared = shared_limit_ / kTileRows - std::min<size_t>(144, shared_limit_ / kTileRows);
    for (uint32_t v = 0; v < program_.value_count; ++v) {
      const egg_value& value = program_.values[v];
      Place& place = places_[v];
      place.size = static_cast<uint32_t>(value.size);
      place.wide = value.is_wide != 0 ? 1 : 0;
      place.bytes = padded(place.size, kBlock) * (place.wide != 0 ? 4 : 1);
      if (stays[v].begin == kNever) continue;
      int64_t offset = shared_.take(place.bytes, stays[v], most_shared);
      place.shared = offset >= 0 ? 1 : 0;
      if (offset < 0) {
        offset = workspace_.take(place.bytes, stays[v], UINT32_MAX);
        plan_.all_shared = false;
      }
      if (offset < 0) throw_too_large();
      place.offset = static_cast<uint32_t>(offset);
    }
    // 80 more than a multiple of 128: eight rows begin in eight different quarters of the banks.
    plan_.shared_row = shared_.end() > 0 ? static_cast<uint32_t>((shared_.end() + 47) / 128 * 128 + 80) : 0;
    plan_.workspace_row = workspace_.end();
  }

  [[noreturn]] static void throw_too_large() {
    throw Error(
        "the cuda backend keeps 4 GiB of values for 64 members at most, and this program has more; use a smaller "
        "width, vocabulary or context",
        EGG_ERROR_UNSUPPORTED);
  }

  uint32_t state_offset(int32_t value) const {
    return static_cast<uint32_t>(plan_.states[state_of_[static_cast<size_t>(value)]].inside);
  }

  VectorNoise vector_noise(int32_t param) const {
    if (param < 0 || program_.params[param].kind != EGG_PARAM_VECTOR) return {-1, 0};
    const auto size = static_cast<uint32_t>(program_.params[param].rows);
    return {static_cast<int32_t>(forward_offset_[static_cast<size_t>(param)]),
            static_cast<int32_t>(padded(size, kBlock))};
  }

  void add(const Step& step) {
    DeviceOp op{};
    op.vectors[0] = op.vectors[1] = {-1, 0};
    int32_t param = -1;
    int32_t table = -1;
    if (step.loads >= 0) {
      op.code = kLoadState;
      op.out = places_[static_cast<size_t>(step.loads)];
      op.state_offset = state_offset(step.loads);
    } else {
      const egg_op& from = program_.ops[step.op];
      op.code = from.code;
      op.attr = from.attr;
      op.head = from.head;
      op.mode = from.mode;
      param = from.param[0];
      table = from.table;
      if (from.out >= 0) op.out = places_[static_cast<size_t>(from.out)];
      for (int k = 0; k < 3; ++k) {
        op.in[k] = from.in[k] >= 0 ? places_[static_cast<size_t>(from.in[k])] : Place{};
      }
      for (int k = 0; k < 2; ++k) op.vectors[k] = vector_noise(from.param[k]);
      if (from.code == EGG_OP_STORE) op.state_offset = state_offset(from.out);
      if (from.code == EGG_OP_LOSS && is_state(from.in[0])) {
        op.of_state = 1;
        op.state_offset = state_offset(from.in[0]);
      }
      if (from.code == EGG_OP_LINEAR || from.code == EGG_OP_EMBED) add_matrix(op, static_cast<size_t>(param));
      if (from.code == EGG_OP_ATTENTION) add_caches(op);
    }
    plan_.ops.push_back(op);
    plan_.op_param.push_back(param);
    plan_.op_table.push_back(table);
  }

  void add_matrix(DeviceOp& op, size_t param) {
    const egg_param& p = program_.params[param];
    const auto rows = static_cast<uint32_t>(p.rows);
    const auto cols = static_cast<uint32_t>(p.cols);
    op.matrix_stride = padded(cols, kBlock);
    op.in_blocks = padded(cols, kBlock) / kBlock;
    op.out_blocks = padded(rows, kBlock) / kBlock;
    op.ranks = p.perturbed != 0 ? plan_.noise.rank : 0;
    op.a_offset = forward_offset_[param];
    op.a_stride = padded(rows, kBlock);
    op.b_offset = op.a_offset + static_cast<uint32_t>(op.ranks) * op.a_stride;
    op.b_stride = padded(cols, kBlock);
  }

  // Behind the values, whose room is known by now.
  void add_caches(DeviceOp& op) {
    const size_t bytes = size_t{kTileRows} * static_cast<size_t>(program_.context) * op.out.bytes;
    op.keys_offset = values_in_workspace() + cache_bytes_;
    op.values_offset = op.keys_offset + bytes;
    cache_bytes_ += 2 * bytes;
  }

  Plan& plan_;
  const egg_program& program_;
  uint32_t shared_limit_;
  std::vector<Place> places_;
  std::vector<size_t> state_of_;
  std::vector<uint32_t> forward_offset_;
  std::vector<Step> order_;
  Memory shared_;
  Memory workspace_;
  size_t cache_bytes_ = 0;
};

}  // namespace

Plan::Plan(const egg_program& the_program, const egg_noise& the_noise, uint32_t shared_limit)
    : program(&the_program), noise(the_noise) {
  Planner(*this, shared_limit).run();
}

}  // namespace eggroll::cuda
