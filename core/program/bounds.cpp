// The overflow proof: the largest magnitude of every int32 accumulator, from shapes and the noise amplitude.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "eggroll/error.h"
#include "eggroll/noise.h"
#include "program/op_info.h"
#include "program/program.h"

namespace eggroll {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
constexpr int64_t kValueMax = 127;

// What egg_rshift adds before it shifts.
int64_t half(int64_t shift, int32_t rounding) {
  return rounding == EGG_ROUND_NEAREST && shift > 0 ? int64_t{1} << (shift - 1) : 0;
}

void add_linear(std::vector<AccumulatorBound>& bounds, const egg_program& program, const egg_noise& noise, uint32_t i) {
  const egg_op& op = program.ops[i];
  const egg_param& weight = program.params[op.param[0]];
  const int64_t inputs = weight.cols;
  const int64_t amplitude = noise_max(noise.distribution);
  const int64_t q_shift = program.fixed_point + noise.sigma_shift - EGG_LINEAR_GUARD_BITS;
  int64_t perturbation = 0;
  if (weight.perturbed != 0) {
    const int64_t xb = inputs * kValueMax * amplitude;
    const int64_t rounding = half(q_shift, program.rounding);
    bounds.push_back({i, "x*B", xb + rounding});
    // A negative sum rounds the other way, by up to one more.
    const int64_t q = std::max((xb + rounding) >> q_shift, -((-xb + rounding) >> q_shift));
    perturbation = noise.rank * std::min<int64_t>(q, 32767) * amplitude;
  }
  const int64_t product = inputs * kValueMax * kValueMax * (int64_t{1} << EGG_LINEAR_GUARD_BITS);
  bounds.push_back(
      {i, "16*x*W + q*A", product + perturbation + half(op.attr + EGG_LINEAR_GUARD_BITS, program.rounding)});
}

}  // namespace

std::vector<AccumulatorBound> accumulator_bounds(const egg_program& program, const egg_noise& noise) {
  std::vector<AccumulatorBound> bounds;
  const int64_t amplitude = noise_max(noise.distribution);
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    switch (static_cast<egg_op_code>(op.code)) {
      case EGG_OP_EMBED:
        bounds.push_back(
            {i, "A*B",
             noise.rank * amplitude * amplitude + half(program.fixed_point + noise.sigma_shift, program.rounding)});
        break;
      case EGG_OP_LINEAR:
        add_linear(bounds, program, noise, i);
        break;
      case EGG_OP_L1_NORM:
        bounds.push_back({i, "sum |x|", program.values[op.in[0]].size * kValueMax});
        bounds.push_back({i, "x*gain*R", kValueMax * kValueMax * 65536 + half(16, program.rounding)});
        break;
      // Sums and products of a few int8 values.
      case EGG_OP_ADD:
      case EGG_OP_GRU_GATE:
      case EGG_OP_GRU_MIX:
      case EGG_OP_STORE:
        break;
      // Its sum is 64-bit; a token's loss is at most log2(vocab) + 254 * unit, in Q16.
      case EGG_OP_LOSS:
        bounds.push_back({i, "loss in Q16", 24 * 65536 + 254 * int64_t{op.attr} + 65536});
        break;
      case EGG_OP_COUNT:
        break;
    }
  }
  return bounds;
}

void require_no_overflow(const egg_program& program, const egg_noise& noise) {
  for (const AccumulatorBound& bound : accumulator_bounds(program, noise)) {
    if (bound.largest <= kLargest) continue;
    const egg_op& op = program.ops[bound.op];
    const char* out = op.out >= 0 ? program.values[op.out].name : "loss";
    throw Error(
        fmt::format("the accumulator {} of '{}' ({}) can reach {}, more than an int32 holds ({}); use a smaller "
                    "width, rank or noise amplitude",
                    bound.what, out, kOpInfo[static_cast<size_t>(op.code)].name, bound.largest, kLargest),
        EGG_ERROR_UNSUPPORTED);
  }
}

void require_table_covers(const egg_program& program, const egg_noise& noise) {
  if (noise.source != EGG_NOISE_TABLE) return;
  const int64_t half = int64_t{1} << (noise.table_log2 - 1);
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const egg_param& param = program.params[i];
    const int64_t longest = std::max(param.rows, param.cols);
    if (param.perturbed == 0 || longest <= half) continue;
    throw setting_error("table_log2",
                        fmt::format("table_log2 is {}, which gives each side {} values, but '{}' takes {}, so "
                                    "its noise would repeat; use a larger table_log2",
                                    noise.table_log2, half, param.name, longest));
  }
}

}  // namespace eggroll
