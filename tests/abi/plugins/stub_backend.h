// A backend that computes nothing: each call gives its arguments back, or refuses them. It lacks the gru ops, add
// beyond 8 elements, and fsqrt.
#ifndef EGGROLL_ABI_PLUGINS_STUB_BACKEND_H
#define EGGROLL_ABI_PLUGINS_STUB_BACKEND_H

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "eggroll/backend.h"

class StubSession : public eggroll::Session {
 public:
  StubSession(const egg_session_spec& spec, std::string log) : spec_(spec), log_(std::move(log)) {}
  // Reads the spec, which must live as long as the session.
  ~StubSession() override { std::ofstream(log_, std::ios::app) << "session of " << spec_.population << " closed\n"; }

  void set_weights(uint32_t param, const int8_t* weights) override { bytes_[param] = *weights; }
  void get_weights(uint32_t param, int8_t* weights) override { *weights = bytes_[param]; }
  void set_slot(uint32_t, uint32_t slot, const void* data) override {
    bytes_[slot] = *static_cast<const int8_t*>(data);
  }
  void get_slot(uint32_t, uint32_t slot, void* data) override { *static_cast<int8_t*>(data) = bytes_[slot]; }
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override {
    std::copy_n(states, count, bytes_.begin() + first);
  }
  void get_states(uint32_t first, uint32_t count, int8_t* states) override {
    std::copy_n(bytes_.begin() + first, count, states);
  }
  void evaluate(const egg_evaluate& e) override { e.losses[0] = e.struct_size; }
  void update(const egg_update& u) override { u.changed[0] = u.struct_size; }
  void infer(const egg_infer&) override { throw eggroll::Error("the device is lost; restart it", EGG_ERROR_DEVICE); }

 private:
  const egg_session_spec& spec_;
  std::string log_;
  std::vector<int8_t> bytes_ = std::vector<int8_t>(16);
};

class StubBackend : public eggroll::Backend {
 public:
  explicit StubBackend(eggroll::Settings& settings) : log_(settings.text("log")) { settings.finish(); }
  explicit StubBackend(std::string log) : log_(std::move(log)) {}
  ~StubBackend() override { std::ofstream(log_, std::ios::app) << "backend closed\n"; }

  bool supports_op(const egg_program& program, uint32_t index) override {
    const egg_op& op = program.ops[index];
    if (op.code == EGG_OP_ADD) return program.values[op.out].size <= 8;
    return op.code != EGG_OP_GRU_GATE && op.code != EGG_OP_GRU_MIX;
  }
  bool supports_rule_op(int32_t code) override { return code != EGG_RULE_FSQRT; }
  // The population chooses what is wrong with the plan.
  eggroll::SessionPlan plan_session(const egg_session_spec& spec) override {
    if (spec.population > 8) throw eggroll::no_room(spec.population, uint64_t{3} << 30, uint64_t{12} << 20, 8);
    return {spec.population == 0 ? 0 : spec.struct_size + uint64_t{spec.population},
            spec.population == 2   ? std::string(300, 'x')
            : spec.population == 4 ? ""
                                   : "a stub",
            spec.population == 6 ? "two\nlines" : "nothing is computed"};
  }
  std::unique_ptr<eggroll::Session> open_session(const egg_session_spec& spec) override {
    if (spec.population == 0) return nullptr;
    if (spec.population > 8) throw eggroll::Error("population is above 8; use 8 or less", EGG_ERROR_MEMORY);
    return std::make_unique<StubSession>(spec, log_);
  }

 private:
  std::string log_;
};

#endif
