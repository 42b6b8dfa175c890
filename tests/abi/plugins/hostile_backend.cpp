// A backend that computes nothing, keeps what it is given, and is wrong in the way that its setting `fault` names from
// its fourth update on.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "eggroll/backend.h"
#include "eggroll/threads.h"

namespace {

class HostileSession : public eggroll::Session {
 public:
  HostileSession(const egg_session_spec& spec, std::string fault) : program_(*spec.program), fault_(std::move(fault)) {
    for (uint32_t i = 0; i < program_.value_count; ++i) {
      if (program_.values[i].is_state != 0) state_bytes_ += static_cast<size_t>(program_.values[i].size);
    }
  }

  void set_weights(uint32_t param, const int8_t* weights) override {
    weights_[param].assign(weights, weights + weights_of(param));
  }
  void get_weights(uint32_t param, int8_t* weights) override {
    std::copy(weights_[param].begin(), weights_[param].end(), weights);
    if (is_wrong("weight")) weights[1] = -128;
  }
  void set_slot(uint32_t, uint32_t, const void*) override {}
  void get_slot(uint32_t param, uint32_t, void* data) override {
    std::fill_n(static_cast<uint32_t*>(data), weights_of(param), 0U);
  }
  void set_states(uint32_t, uint32_t, const int8_t*) override {}
  void get_states(uint32_t, uint32_t count, int8_t* states) override {
    std::fill_n(states, count * state_bytes_, static_cast<int8_t>(is_wrong("state") ? -128 : 0));
  }
  void evaluate(const egg_evaluate& e) override {
    const uint32_t given = is_wrong("loss_missing") ? e.count - 1 : e.count;
    for (uint32_t i = 0; i < given; ++i) e.losses[i] = 65536 + e.first + i;
    if (is_wrong("loss_below")) e.losses[2] = -1;
    if (is_wrong("loss_above")) e.losses[2] = int64_t{1} << 40;
  }
  void update(const egg_update& u) override {
    ++updates_;
    std::fill_n(u.changed, program_.param_count, int64_t{0});
    if (is_wrong("crashes")) std::raise(SIGSEGV);
    if (is_wrong("exits")) std::exit(0);
    if (is_wrong("exits_at_once")) std::_Exit(0);
    if (is_wrong("exits_quickly")) std::quick_exit(0);
    if (is_wrong("overflows")) overflow();
    while (is_wrong("hangs")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (is_wrong("changed_below")) u.changed[0] = -1;
    if (is_wrong("changed_above")) u.changed[0] = weights_of(0) + 1;
  }
  void infer(const egg_infer& i) override {
    std::fill_n(i.losses, i.batch.streams, is_wrong("inferred_below") ? int64_t{-7} : int64_t{65536});
  }

 private:
  bool is_wrong(const char* fault) const { return fault_ == fault && updates_ > 3; }
  // On another thread than the caller's, which takes the last piece alone.
  static void overflow() {
    eggroll::Threads threads(2);
    threads.split(64, [caller = std::this_thread::get_id()](size_t begin, size_t end) {
      const bool is_others = std::this_thread::get_id() != caller;
      if (is_others || end == 64) deep(static_cast<int>(begin));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
  }
  // Calls itself until its thread's stack is used up.
  static int deep(int depth) {
    volatile char here[4096];
    here[0] = static_cast<char>(depth);
    return depth < 0 ? here[0] : deep(depth + 1) + here[0];
  }
  int32_t weights_of(uint32_t param) const { return program_.params[param].rows * program_.params[param].cols; }

  const egg_program& program_;
  std::string fault_;
  size_t state_bytes_ = 0;
  uint64_t updates_ = 0;
  std::map<uint32_t, std::vector<int8_t>> weights_;
};

class HostileBackend : public eggroll::Backend {
 public:
  explicit HostileBackend(eggroll::Settings& settings) : fault_(settings.text("fault")) {}
  eggroll::SessionPlan plan_session(const egg_session_spec&) override { return {1, "nothing", "nothing is computed"}; }
  std::unique_ptr<eggroll::Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<HostileSession>(spec, fault_);
  }

 private:
  std::string fault_;
};

}  // namespace

EGGROLL_BACKEND("hostile_backend", "1.0", HostileBackend, &eggroll::probe_always);
