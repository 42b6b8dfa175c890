#include "train/session_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>

namespace eggroll {
namespace {

template <class Body>
void each_slot(const Learner& learner, Body&& body) {
  const std::vector<egg_param>& params = learner.program->params();
  for (uint32_t p = 0; p < params.size(); ++p) {
    if (params[p].perturbed == 0) continue;
    for (uint32_t s = 0; s < learner.rule->slots().size(); ++s) body(p, params[p], s, learner.rule->slots()[s]);
  }
}

std::string weight_name(const std::string& tensor) { return fmt::format("the tensor '{}'", tensor); }

// Checks that a plugin leaves only valid numbers behind after a step.
struct Soundness {
  const Learner& learner;
  uint64_t step;

  // -128 is no weight and no value.
  void require(const std::string& what, std::span<const int8_t> values) const {
    const void* found = values.empty() ? nullptr : std::memchr(values.data(), 0x80, values.size());
    if (found == nullptr) return;
    throw Error(
        fmt::format("{} gave {} a -128 at position {} after {} steps, expected values from -127 to 127; use "
                    "another backend or correct the plugin (eggroll check finds the op)",
                    learner.backend->who(), what, static_cast<const int8_t*>(found) - values.data(), step));
  }

  void require(const std::string& param, const egg_slot& slot, std::span<const uint32_t> bits) const {
    if (slot.type != 'f') return;
    // An exponent of all ones means infinity or NaN: adding one carries into the sign. All numbers are tested before
    // one is searched for, in a loop that the compiler can vectorize.
    constexpr uint32_t kExponent = 0x7f800000;
    constexpr uint32_t kOne = 0x00800000;
    const auto carry = [](uint32_t b) { return (b & kExponent) + kOne; };
    uint32_t carries = 0;
    for (const uint32_t b : bits) carries |= carry(b);
    if (carries >> 31 == 0) return;
    const auto found = std::find_if(bits.begin(), bits.end(), [&](uint32_t b) { return carry(b) >> 31 != 0; });
    throw Error(fmt::format(
        "the rule of {} made the slot '{}' of tensor '{}' {} at position {} after {} steps, expected "
        "finite numbers; guard its divisions or correct its settings",
        learner.optimizer->who(), slot.name, param, std::bit_cast<float>(*found), found - bits.begin(), step));
  }
};

}  // namespace

const std::vector<int8_t>& read_param(BackendSession& session, const Program& program, uint32_t param,
                                      std::vector<int8_t>& room) {
  room.resize(weight_count(program.params()[param]));
  session.get_weights(param, room.data());
  return room;
}

std::vector<WeightTensor> read_weights(BackendSession& session, const Program& program) {
  std::vector<WeightTensor> weights;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    const egg_param& param = program.params()[i];
    read_param(session, program, i, weights.emplace_back(WeightTensor{param.name, param.rows, param.cols, {}}).data);
  }
  return weights;
}

SessionTensors::SessionTensors(BackendSession& session, const Learner& learner, const std::vector<int8_t>& states,
                               uint64_t step) {
  const Soundness sound{learner, step};
  const auto shape_of = [](const egg_param& param) {
    return std::vector<uint64_t>{static_cast<uint64_t>(param.rows), static_cast<uint64_t>(param.cols)};
  };
  const std::vector<egg_param>& params = learner.program->params();
  for (uint32_t i = 0; i < params.size(); ++i) {
    const egg_param& param = params[i];
    tensors_.weights.push_back({{param.name, TensorType::kI8, shape_of(param)}, [this, &session, &param, sound, i] {
                                  const std::span weights(session.get_weights(i, weights_[i % 2]), weight_count(param));
                                  sound.require(weight_name(param.name), weights);
                                  return bytes_of(weights);
                                }});
  }
  each_slot(learner, [&](uint32_t p, const egg_param& param, uint32_t s, const egg_slot& slot) {
    const std::string name = fmt::format("{}/{}", param.name, slot.name);
    const TensorType type = slot.type == 'f' ? TensorType::kF32 : TensorType::kI32;
    Guarded<uint32_t>& memory = cells_[tensors_.slots.size() % 2];
    tensors_.slots.push_back({{name, type, {weight_count(param)}}, [&memory, &session, &param, &slot, sound, p, s] {
                                const std::span cells(session.get_slot(p, s, memory), weight_count(param));
                                sound.require(param.name, slot, cells);
                                return bytes_of(cells);
                              }});
  });
  tensors_.states = {{"states", TensorType::kI8, {learner.train.population, learner.program->state_bytes()}},
                     [&states, sound] {
                       sound.require("the states", states);
                       return bytes_of(states);
                     }};
}

void restore_session(BackendSession& session, const Learner& learner, const Checkpoint& checkpoint) {
  const std::vector<egg_param>& params = learner.program->params();
  const auto foreign = [] {
    return Error(
        "the checkpoint's tensors do not fit this program and rule; use the checkpoint with the run that made it");
  };
  if (checkpoint.weights.size() != params.size() || checkpoint.population != learner.train.population ||
      checkpoint.state_bytes != learner.program->state_bytes()) {
    throw foreign();
  }
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (checkpoint.weights[i].data.size() != weight_count(params[i])) throw foreign();
    session.set_weights(i, checkpoint.weights[i].data.data());
  }
  size_t next = 0;
  each_slot(learner, [&](uint32_t p, const egg_param& param, uint32_t s, const egg_slot&) {
    if (next >= checkpoint.slots.size() || checkpoint.slots[next].bits.size() != weight_count(param)) throw foreign();
    session.set_slot(p, s, checkpoint.slots[next++].bits.data());
  });
  session.set_states(session.first_member(), session.members(),
                     checkpoint.states.data() + session.first_member() * checkpoint.state_bytes);
}

void require_sound(BackendSession& session, const Learner& learner, uint64_t step) {
  const std::vector<int8_t> no_states;
  const SessionTensors source(session, learner, no_states, step);
  for (const auto* list : {&source.tensors().weights, &source.tensors().slots}) {
    for (const TensorSource& tensor : *list) {
      // An integer of a slot is always sound.
      if (tensor.type != TensorType::kI32 && tensor.count() <= kQuickWeights) tensor.read();
    }
  }
}

}  // namespace eggroll
