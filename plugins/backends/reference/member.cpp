#include "member.h"

#include <algorithm>

#include "eggroll/row_voters.h"

namespace eggroll::reference {

std::vector<ParamNoise> draw_noise(const Model& model, const NoiseSource& source, uint64_t step, uint32_t pair) {
  std::vector<ParamNoise> noise(model.program->param_count);
  for (uint32_t i = 0; i < model.program->param_count; ++i) {
    const LoweredParam& param = model.params[i];
    if (!param.perturbed || !is_perturbed(param.voters, pair)) continue;
    noise[i].a.resize(size_t{param.ranks} * param.rows);
    noise[i].b.resize(size_t{param.ranks} * param.b_count);
    for (uint32_t r = 0; r < param.ranks; ++r) {
      source.fill(step, pair, i, EGG_SIDE_A, r, noise[i].a.data() + size_t{r} * param.rows, param.rows);
      source.fill(step, pair, i, EGG_SIDE_B, r, noise[i].b.data() + size_t{r} * param.b_count, param.b_count);
    }
  }
  return noise;
}

Frame::Frame(const egg_program& program) : caches(program.value_count) {
  int32_t largest = 0;
  for (uint32_t i = 0; i < program.value_count; ++i) {
    const egg_value& value = program.values[i];
    const auto size = static_cast<size_t>(value.size);
    values.emplace_back(value.is_wide != 0 ? 0 : size);
    wide_values.emplace_back(value.is_wide != 0 ? size : 0);
    stored.emplace_back(value.is_state != 0 ? size : 0);
    largest = std::max(largest, value.size);
  }
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    if (op.code != EGG_OP_ATTENTION) continue;
    const auto bytes = static_cast<size_t>(program.context) * static_cast<size_t>(program.values[op.out].size);
    caches[static_cast<size_t>(op.out)] = Cache{std::vector<int8_t>(bytes), std::vector<int8_t>(bytes)};
  }
  widened.resize(static_cast<size_t>(largest));
}

void load_states(const Model& model, const int8_t* states, Frame& frame) {
  for (const LoweredState& state : model.states) {
    std::copy_n(states + state.offset, state.size, frame.values[state.value].begin());
  }
}

void save_states(const Model& model, const Frame& frame, int8_t* states) {
  for (const LoweredState& state : model.states) {
    std::copy_n(frame.values[state.value].begin(), state.size, states + state.offset);
  }
}

void begin_token(const Model& model, const Stream& stream, uint32_t t, Frame& frame) {
  frame.position = t;
  if (stream.resets[t] == 0) return;
  frame.first_visible = t;
  for (const LoweredState& state : model.states) {
    std::fill(frame.values[state.value].begin(), frame.values[state.value].end(), int8_t{0});
  }
}

void run_op(const Model& model, uint32_t op, const std::vector<ParamNoise>* noise, int32_t sign, const Stream& stream,
            Frame& frame, int64_t& loss) {
  const egg_program& program = *model.program;
  const uint32_t t = frame.position;
  kOps[program.ops[op].code](OpCall{model, program.ops[op], noise, sign, stream.inputs[t],
                                    stream.rows + size_t{t} * program.index_count, stream.targets[t], frame, loss});
}

void end_token(const Model& model, Frame& frame) {
  for (const LoweredState& state : model.states) std::swap(frame.values[state.value], frame.stored[state.value]);
}

int64_t run_member(const Model& model, const std::vector<ParamNoise>* noise, int32_t sign, const Stream& stream,
                   Frame& frame, int8_t* states, int8_t* logits) {
  const egg_program& program = *model.program;
  load_states(model, states, frame);
  int64_t loss = 0;
  frame.first_visible = 0;
  for (uint32_t t = 0; t < stream.count; ++t) {
    begin_token(model, stream, t, frame);
    for (uint32_t i = 0; i < program.op_count; ++i) run_op(model, i, noise, sign, stream, frame, loss);
    end_token(model, frame);
  }
  save_states(model, frame, states);
  if (logits != nullptr) {
    const egg_op& last = program.ops[program.op_count - 1];
    const std::vector<int8_t>& value = frame.values[static_cast<size_t>(last.in[0])];
    std::copy(value.begin(), value.end(), logits);
  }
  return loss;
}

}  // namespace eggroll::reference
