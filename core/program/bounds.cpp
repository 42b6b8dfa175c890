// The overflow proof: the largest magnitude of every int32 accumulator and wide value, from shapes and the noise
// amplitude.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "eggroll/arithmetic.h"
#include "eggroll/error.h"
#include "eggroll/noise.h"
#include "program/op_info.h"
#include "program/program.h"

namespace eggroll {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
constexpr int64_t kValueMax = 127;

// The number that egg_rshift adds before it shifts.
int64_t half(int64_t shift, int32_t rounding) {
  return rounding == EGG_ROUND_NEAREST && shift > 0 ? int64_t{1} << (shift - 1) : 0;
}

// The largest magnitude of egg_rshift: a negative sum rounds the other way, by up to one more.
int64_t shifted(int64_t largest, int64_t shift, int32_t rounding) {
  const int64_t rounded = half(shift, rounding);
  return std::max((largest + rounded) >> shift, -((-largest + rounded) >> shift));
}

class Bounds {
 public:
  Bounds(const egg_program& program, const egg_noise& noise, std::span<const egg_site> sites)
      : program_(program),
        noise_(noise),
        sites_(sites),
        amplitude_(noise_max(noise.distribution)),
        values_(program.value_count, kValueMax) {
    for (uint32_t i = 0; i < program.op_count; ++i) add(i, program.ops[i]);
  }

  std::vector<AccumulatorBound> take() { return std::move(bounds_); }

 private:
  void add(uint32_t i, const egg_op& op) {
    switch (static_cast<egg_op_code>(op.code)) {
      case EGG_OP_EMBED:
        note(
            i, "A*B",
            noise_.rank * amplitude_ * amplitude_ + half(program_.fixed_point + noise_.sigma_shift, program_.rounding));
        break;
      case EGG_OP_LINEAR:
        add_linear(i, op);
        break;
      case EGG_OP_L1_NORM:
        note(i, "sum |x|", program_.values[op.in[0]].size * kValueMax);
        note(i, "x*gain*R", kValueMax * kValueMax * 65536 + half(16, program_.rounding));
        break;
      case EGG_OP_ADD:
        make(i, op, value(op.in[0]) + value(op.in[1]) + (op.param[1] >= 0 ? kValueMax : 0));
        break;
      case EGG_OP_ROPE:
        make(i, op, 2 * value(op.in[0]));
        break;
      case EGG_OP_ATTENTION:
        add_attention(i, op);
        break;
      // A quotient of 64 bits, and sums and products of a few int8 values.
      case EGG_OP_MAX_NORM:
      case EGG_OP_LUT:
      case EGG_OP_GRU_GATE:
      case EGG_OP_GRU_MIX:
      case EGG_OP_STORE:
        break;
      case EGG_OP_LOSS:  // its sum is 64-bit
        note(i, "loss in Q16", largest_loss(program_));
        break;
      case EGG_OP_COUNT:
        break;
    }
  }

  void note(uint32_t i, const char* what, int64_t largest) { bounds_.push_back({i, what, largest, kLargest}); }

  int64_t value(int32_t id) const { return id < 0 ? 0 : values_[static_cast<size_t>(id)]; }

  // Notes the magnitude that an op makes before it is clipped.
  void make(uint32_t i, const egg_op& op, int64_t largest) {
    if (program_.values[op.out].is_wide == 0) return;
    for (const egg_site& site : sites_) largest += site.value == op.out ? site.amplitude : 0;
    bounds_.push_back({i, "value", largest, EGG_WIDE_MAX});
    values_[static_cast<size_t>(op.out)] = std::min<int64_t>(largest, EGG_WIDE_MAX);
  }

  void add_linear(uint32_t i, const egg_op& op) {
    const egg_param& weight = program_.params[op.param[0]];
    const int64_t inputs = weight.cols;
    const int64_t q_shift = program_.fixed_point + noise_.sigma_shift - EGG_LINEAR_GUARD_BITS;
    int64_t perturbation = 0;
    if (weight.perturbed != 0) {
      const int64_t xb = inputs * kValueMax * amplitude_;
      note(i, "x*B", xb + half(q_shift, program_.rounding));
      perturbation = noise_.rank * std::min<int64_t>(shifted(xb, q_shift, program_.rounding), 32767) * amplitude_;
    }
    const int64_t product = inputs * kValueMax * kValueMax * (int64_t{1} << EGG_LINEAR_GUARD_BITS);
    const int64_t shift = op.attr + EGG_LINEAR_GUARD_BITS;
    note(i, "16*x*W + q*A", product + perturbation + half(shift, program_.rounding));
    make(i, op, shifted(product + perturbation, shift, program_.rounding) + (op.param[1] >= 0 ? kValueMax : 0));
  }

  // Twice the weighted sum plus the sum of the weights: the operand of the rounded division.
  void add_attention(uint32_t i, const egg_op& op) {
    const egg_table& table = program_.tables[op.table];
    const int64_t weight = *std::max_element(table.entries, table.entries + table.count);
    note(i, "q*k", op.head * kValueMax * kValueMax + half(op.attr, program_.rounding));
    note(i, "w*v", (2 * kValueMax + 1) * weight * program_.context);
  }

  const egg_program& program_;
  const egg_noise& noise_;
  std::span<const egg_site> sites_;
  int64_t amplitude_;
  std::vector<int64_t> values_;  // the largest magnitude of each
  std::vector<AccumulatorBound> bounds_;
};

}  // namespace

// At most log2(vocab) + 254 * unit.
int64_t largest_loss(const egg_program& program) {
  const egg_op& loss = program.ops[program.op_count - 1];
  return 24 * 65536 + 254 * int64_t{loss.attr} + 65536;
}

std::vector<AccumulatorBound> accumulator_bounds(const egg_program& program, const egg_noise& noise,
                                                 std::span<const egg_site> sites) {
  return Bounds(program, noise, sites).take();
}

void require_no_overflow(const egg_program& program, const egg_noise& noise, std::span<const egg_site> sites) {
  for (const AccumulatorBound& bound : accumulator_bounds(program, noise, sites)) {
    if (bound.largest <= bound.limit) continue;
    const egg_op& op = program.ops[bound.op];
    const char* out = op.out >= 0 ? program.values[op.out].name : "loss";
    throw Error(
        fmt::format(
            "the accumulator {} of '{}' ({}) can reach {}, more than {} ({}); use a smaller width, context, rank "
            "or noise amplitude",
            bound.what, out, signature_of(op.code).name, bound.largest,
            bound.limit == kLargest ? "an int32 holds" : "a wide value may reach", bound.limit),
        EGG_ERROR_UNSUPPORTED);
  }
}

void require_table_covers(const egg_program& program, const egg_noise& noise) {
  if (noise.source != EGG_NOISE_TABLE) return;
  const int64_t half_table = int64_t{1} << (noise.table_log2 - 1);
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const egg_param& param = program.params[i];
    const int64_t longest = std::max(param.rows, param.cols);
    if (param.perturbed == 0 || longest <= half_table) continue;
    throw setting_error("table_log2",
                        fmt::format("table_log2 is {}, which gives each side {} values, but '{}' takes {}, so "
                                    "its noise would repeat; use a larger table_log2",
                                    noise.table_log2, half_table, param.name, longest));
  }
}

}  // namespace eggroll
