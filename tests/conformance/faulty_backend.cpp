// The reference backend with one small fault, which conformance must find. FAULT chooses it.
#include <algorithm>

#include "session.h"

namespace eggroll::reference {

enum Fault { k_loss, k_guard, k_state, k_weight, k_slot, k_norm, k_sqrt, k_plan, k_chosen, k_site, k_part };
constexpr Fault kFault = FAULT;

// A norm whose size is no multiple of four leaves vector lanes empty.
bool has_odd_norm(const egg_program& program) {
  return std::any_of(program.ops, program.ops + program.op_count, [&](const egg_op& op) {
    return op.code == EGG_OP_L1_NORM && program.values[op.out].size % 4 != 0;
  });
}

bool has_sqrt(const egg_rule& rule) {
  return std::any_of(rule.nodes, rule.nodes + rule.node_count,
                     [](const egg_rule_node& node) { return node.code == EGG_RULE_FSQRT; });
}

class FaultySession : public ReferenceSession {
 public:
  explicit FaultySession(const egg_session_spec& spec)
      : ReferenceSession(spec), odd_norm_(has_odd_norm(*spec.program)), sqrt_(has_sqrt(*spec.rule)) {}

  void evaluate(const egg_evaluate& arguments) override {
    ReferenceSession::evaluate(arguments);
    // The smallest error a loss can have, only in the last member.
    if (kFault == k_loss) arguments.losses[arguments.count - 1] += 1;
    if (kFault == k_guard) arguments.losses[arguments.count] = 0;
    if (kFault == k_site && arguments.sites != nullptr) arguments.sites[0].squares += 1;
    // The last tile of sixteen members is not full.
    if (kFault == k_norm && odd_norm_ && arguments.count % 16 != 0) arguments.losses[arguments.count - 1] += 1;
  }
  void update(const egg_update& arguments) override {
    egg_update update = arguments;
    if (kFault == k_chosen) update.chosen = nullptr;
    ReferenceSession::update(update);
  }
  void infer(const egg_infer& arguments) override {
    ReferenceSession::infer(arguments);
    if (kFault == k_state) arguments.states[0] = static_cast<int8_t>(arguments.states[0] ^ 1);
  }
  void get_weights(uint32_t param, int8_t* weights) override {
    ReferenceSession::get_weights(param, weights);
    if (kFault == k_weight) weights[0] = static_cast<int8_t>(weights[0] == 0 ? 1 : 0);
  }
  void get_slot(uint32_t param, uint32_t slot, void* data) override {
    ReferenceSession::get_slot(param, slot, data);
    if (kFault == k_slot || (kFault == k_sqrt && sqrt_)) *static_cast<uint8_t*>(data) ^= 1;
  }
  void get_site_part(const egg_site_part& part) override {
    ReferenceSession::get_site_part(part);
    if (kFault == k_part && part.votes != nullptr) part.votes[0] += 1000;
  }

 private:
  bool odd_norm_;
  bool sqrt_;
};

class FaultyBackend : public Backend {
 public:
  explicit FaultyBackend(Settings& settings) { settings.finish(); }
  bool supports_site(const egg_program& /*program*/, const egg_site& /*site*/) override { return true; }
  SessionPlan plan_session(const egg_session_spec& spec) override {
    return {ReferenceSession::memory(spec, spec.population), "a processor", kFault == k_plan ? "" : "faulty"};
  }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<FaultySession>(spec);
  }
};

}  // namespace eggroll::reference

EGGROLL_BACKEND(FAULT_NAME, "1.0.0", eggroll::reference::FaultyBackend, &eggroll::probe_always);
