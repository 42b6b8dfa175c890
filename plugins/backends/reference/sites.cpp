#include "sites.h"

#include <algorithm>

namespace eggroll::reference {
namespace {

// One site at the frame's token of one stream.
struct Place {
  const Model& model;
  const SiteErrors& site;
  uint64_t step;
  uint32_t stream;
  const Stream& tokens;
  const Frame& frame;  // the ops up to the one that makes the value have run
};

// The signs of draw k.
void fill_signs(const Place& p, uint32_t k, std::vector<int32_t>& signs) {
  const egg_site& site = p.site.site;
  const bool is_orthogonal = site.design == EGG_DRAWS_ORTHOGONAL;
  const uint64_t key = p.site.key(p.model.noise.seed, p.step, p.stream, p.frame.position, is_orthogonal ? 0 : k + 1);
  const uint32_t row = (k + egg_draw_offset(key)) & ((UINT32_C(1) << egg_log2_up(p.site.size)) - 1);
  for (uint32_t i = 0; i < p.site.size; ++i) {
    const uint32_t bit = egg_draw_bit(key, i) ^ (is_orthogonal ? egg_hadamard_bit(row, i) : 0);
    signs[i] = bit != 0 ? -1 : 1;
  }
}

// The value is int8.
int32_t perturbed(const Place& p, uint32_t i, int32_t sign) {
  const auto value = static_cast<size_t>(p.site.site.value);
  return egg_clip8(p.frame.values[value][i] + sign * p.site.site.amplitude);
}

// The difference at the logits: both losses relative to one maximum, as draws.h says.
int64_t difference_at_logits(const Place& p, const std::vector<int32_t>& signs) {
  const int32_t unit = p.model.program->ops[p.model.program->op_count - 1].attr;
  const int32_t log2_n = egg_log2_up(p.site.size);
  int32_t largest = -127;
  for (uint32_t i = 0; i < p.site.size; ++i) largest = std::max(largest, perturbed(p, i, 1));
  const auto sum_of = [&](int32_t member) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < p.site.size; ++i) {
      sum += egg_draw_exp2(static_cast<uint32_t>(largest - perturbed(p, i, member * signs[i])), unit, log2_n);
    }
    return sum;
  };
  const uint32_t target = p.tokens.targets[p.frame.position];
  const int32_t moved = perturbed(p, target, signs[target]) - perturbed(p, target, -signs[target]);
  return egg_draw_difference(sum_of(-1), sum_of(1), moved, unit, p.model.loss_tables.log2_q24);
}

// The loss of this token and of the horizon behind it, with the value perturbed at this token.
int64_t loss_behind(const Place& p, const std::vector<int32_t>& signs, int32_t member) {
  Frame frame = p.frame;
  const egg_program& program = *p.model.program;
  const auto value = static_cast<size_t>(p.site.site.value);
  for (uint32_t i = 0; i < p.site.size; ++i) {
    if (program.values[value].is_wide != 0) {
      frame.wide_values[value][i] += member * signs[i] * p.site.site.amplitude;
    } else {
      frame.values[value][i] = static_cast<int8_t>(perturbed(p, i, member * signs[i]));
    }
  }
  int64_t loss = 0;
  const uint32_t last = std::min(p.tokens.count - 1, p.frame.position + p.site.site.horizon);
  for (uint32_t t = p.frame.position; t <= last; ++t) {
    if (t > p.frame.position) begin_token(p.model, p.tokens, t, frame);
    for (uint32_t i = t > p.frame.position ? 0 : p.site.made_by + 1; i < program.op_count; ++i) {
      run_op(p.model, i, nullptr, 0, p.tokens, frame, loss);
    }
    end_token(p.model, frame);
  }
  return loss;
}

void find_error(const Place& p, int16_t* error) {
  const egg_program& program = *p.model.program;
  const bool at_logits = is_at_loss(program, p.site.site.value);
  const int64_t limit = egg_draw_limit(p.site.site.draws);
  std::vector<int32_t> signs(p.site.size);
  std::vector<int32_t> sums(p.site.size);
  for (uint32_t k = 0; k < p.site.site.draws; ++k) {
    fill_signs(p, k, signs);
    const int64_t d = at_logits ? difference_at_logits(p, signs) : loss_behind(p, signs, -1) - loss_behind(p, signs, 1);
    const auto clipped = static_cast<int32_t>(std::clamp(d, -limit, limit));
    for (uint32_t i = 0; i < p.site.size; ++i) sums[i] += clipped * signs[i];
  }
  for (uint32_t i = 0; i < p.site.size; ++i) error[i] = egg_draw_error(sums[i], p.site.site.shift);
}

}  // namespace

int64_t run_sites(const Model& model, uint64_t step, uint32_t stream, const std::vector<SiteErrors*>& sites,
                  const Stream& tokens, int8_t* states) {
  const egg_program& program = *model.program;
  Frame frame(program);
  load_states(model, states, frame);
  int64_t loss = 0;
  for (uint32_t t = 0; t < tokens.count; ++t) {
    begin_token(model, tokens, t, frame);
    for (uint32_t i = 0; i < program.op_count; ++i) {
      run_op(model, i, nullptr, 0, tokens, frame, loss);
      for (SiteErrors* site : sites) {
        const size_t place = site->place(stream, t);
        site->perturbed[place] = tokens.targets[t] != EGG_NO_TARGET ? 1 : 0;
        if (site->perturbed[place] == 0) continue;
        for (SiteErrors::Input& input : site->inputs) {
          if (input.op != i) continue;
          const std::vector<int8_t>& x = frame.values[static_cast<size_t>(program.ops[i].in[0])];
          std::copy(x.begin(), x.end(), input.values.begin() + static_cast<ptrdiff_t>(place * input.size));
        }
        if (site->made_by != i) continue;
        find_error(Place{model, *site, step, stream, tokens, frame}, site->error(place));
      }
    }
    end_token(model, frame);
  }
  save_states(model, frame, states);
  return loss;
}

}  // namespace eggroll::reference
