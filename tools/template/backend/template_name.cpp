// A backend plugin: it runs every model's program and every optimizer's rule. This one does so in plain scalar code on
// one thread, and passes `eggroll check`; replace it piece by piece and let the check keep you right.
//
//   token_step.cpp  the ops, one member reading one stream
//   update.cpp      the votes and the rule
//
// Shapes and meaning of every call: eggroll/plugin.h, egg_backend_interface. A throw of eggroll::Error becomes the
// error that the host shows; no exception leaves the plugin.
#include <algorithm>
#include <cstring>

#include "eggroll/backend.h"
#include "eggroll/machine.h"
#include "eggroll/row_voters.h"
#include "token_step.h"
#include "update.h"

namespace backend {

class ScalarSession : public eggroll::Session {
 public:
  explicit ScalarSession(const egg_session_spec& spec)
      : rule_(*spec.rule), model_(spec), first_(spec.first), states_(spec.members * model_.lowered.state_bytes) {
    for (const Weights& weights : model_.weights) {
      slots_.emplace_back(rule_.slot_count, std::vector<uint32_t>(weights.size()));
    }
  }

  void set_weights(uint32_t param, const int8_t* weights) override {
    std::copy_n(weights, model_.weights[param].size(), model_.weights[param].begin());
  }
  void get_weights(uint32_t param, int8_t* weights) override {
    std::copy(model_.weights[param].begin(), model_.weights[param].end(), weights);
  }
  void set_slot(uint32_t param, uint32_t slot, const void* data) override {
    std::memcpy(slots_[param][slot].data(), data, slots_[param][slot].size() * 4);
  }
  void get_slot(uint32_t param, uint32_t slot, void* data) override {
    std::memcpy(data, slots_[param][slot].data(), slots_[param][slot].size() * 4);
  }
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override {
    std::copy_n(states, count * model_.lowered.state_bytes, state_of(first));
  }
  void get_states(uint32_t first, uint32_t count, int8_t* states) override {
    std::copy_n(state_of(first), count * model_.lowered.state_bytes, states);
  }

  void evaluate(const egg_evaluate& e) override {
    Member member(model_);
    for (uint32_t local = 0; local < e.count; local += 2) {
      const uint32_t pair = (e.first + local) / 2;
      const Perturbation perturbation = draw(model_, e.step, pair);
      for (uint32_t m = local; m < local + 2; ++m) {
        const int32_t sign = m == local ? 1 : -1;
        e.losses[m] =
            member.read(&perturbation, sign, e.batch, m / e.members_per_stream, state_of(e.first + m), nullptr);
      }
    }
  }

  void update(const egg_update& u) override {
    for (uint32_t p = 0; p < model_.program.param_count; ++p) {
      const bool moves = model_.program.params[p].perturbed != 0 && eggroll::is_chosen(u, p);
      u.changed[p] = moves ? update_param(model_, rule_, p, u, slots_[p]) : 0;
    }
  }

  void infer(const egg_infer& i) override {
    Member member(model_);
    const auto vocab = static_cast<size_t>(model_.program.vocab);
    for (uint32_t s = 0; s < i.batch.streams; ++s) {
      int8_t* logits = i.logits == nullptr ? nullptr : i.logits + s * vocab;
      i.losses[s] = member.read(nullptr, 0, i.batch, s, i.states + s * model_.lowered.state_bytes, logits);
    }
  }

 private:
  int8_t* state_of(uint32_t member) { return states_.data() + (member - first_) * model_.lowered.state_bytes; }

  const egg_rule& rule_;
  Model model_;
  std::vector<Slots> slots_;    // by parameter
  uint32_t first_;              // own member
  std::vector<int8_t> states_;  // (own members, state bytes)
};

// The bytes that a session takes with this population: weights, slots, states, the table of noise, and the largest
// parameter's votes. A masked table needs only one row's votes, and the memory of RowVoters. The memory that one member
// works in is left out.
uint64_t memory_of(const egg_session_spec& spec, uint32_t population) {
  uint64_t bytes = spec.noise.source == EGG_NOISE_TABLE ? uint64_t{1} << spec.noise.table_log2 : 0;
  uint64_t largest = 0;
  const eggroll::LoweredProgram lowered(spec);
  for (const eggroll::LoweredParam& param : lowered.params) {
    const uint64_t weights = param.count();
    bytes += weights * (1 + 4 * uint64_t{spec.rule->slot_count});
    const uint64_t votes = weights * sizeof(int64_t);
    const uint64_t voters = eggroll::RowVoters::bytes(population / 2);
    largest = std::max(largest, param.masked ? voters + votes / param.rows : votes);
  }
  return bytes + eggroll::own_members(spec, population) * lowered.state_bytes + largest;
}

class ScalarBackend : public eggroll::Backend {
 public:
  explicit ScalarBackend(eggroll::Settings& settings) { settings.finish(); }  // it takes no settings

  // Unsupported ops are refused before a run starts; all results must agree with the reference backend to the bit.
  bool supports_op(const egg_program& program, uint32_t op) override {
    return op_function(program.ops[op].code) != nullptr;
  }

  // The host prints this text and keeps it in the run's record.
  eggroll::SessionPlan plan_session(const egg_session_spec& spec) override {
    const auto memory = [&](uint32_t population) { return memory_of(spec, population); };
    const uint64_t bytes = eggroll::bytes_in_room(spec.population, eggroll::machine_memory(), memory);
    return {bytes, eggroll::cpu_model(), "scalar, 1 thread"};
  }

  std::unique_ptr<eggroll::Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<ScalarSession>(spec);
  }
};

// `backend: auto` takes the highest score. A backend that needs a device or an instruction set returns 0 where that is
// missing and says what it needs: eggroll::set_error(why, EGG_ERROR_DEVICE, "needs ..."). Probing must not crash: put
// it in a file of its own that is compiled without instruction-set flags.
int32_t probe(egg_error* /*why*/) { return 1; }

}  // namespace backend

EGGROLL_BACKEND("template_name", "0.1.0", backend::ScalarBackend, &backend::probe);
