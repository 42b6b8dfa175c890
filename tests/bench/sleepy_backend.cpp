// A backend that computes nothing and takes known times, so that the shares of a step are known too.
#include <algorithm>
#include <chrono>
#include <thread>

#include "eggroll/backend.h"

namespace eggroll {

// Milliseconds. A step with 32 tokens takes 100: 20 for noise, 32 for the forward pass, 30 for votes, 18 for the rule.
constexpr double kNoise = 20.0;
constexpr double kForwardToken = 1.0;
constexpr double kVotes = 30.0;
constexpr double kRule = 18.0;
constexpr double kInferredToken = 0.01;

class SleepySession : public Session {
 public:
  explicit SleepySession(const egg_session_spec& spec) : has_scalars_(spec.rule->scalar_count > 0) {}
  void set_weights(uint32_t, const int8_t*) override {}
  void get_weights(uint32_t, int8_t*) override {}
  void set_slot(uint32_t, uint32_t, const void*) override {}
  void get_slot(uint32_t, uint32_t, void*) override {}
  void set_states(uint32_t, uint32_t, const int8_t*) override {}
  void get_states(uint32_t, uint32_t, int8_t*) override {}
  void evaluate(const egg_evaluate& e) override {
    std::fill_n(e.losses, e.count, 0);  // the host refuses losses that nobody has written
    sleep(kNoise + kForwardToken * e.batch.tokens);
  }
  void update(const egg_update&) override { sleep(kVotes + (has_scalars_ ? kRule : 0.0)); }
  void infer(const egg_infer& i) override {
    std::fill_n(i.losses, i.batch.streams, 0);
    sleep(kInferredToken * i.batch.streams * i.batch.tokens);
  }

 private:
  static void sleep(double milliseconds) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
  }

  bool has_scalars_;  // true under sign_es; the benchmark's own rule has no scalar
};

class SleepyBackend : public Backend {
 public:
  explicit SleepyBackend(Settings& settings) { settings.finish(); }
  SessionPlan plan_session(const egg_session_spec&) override { return {1, "a bed", "asleep"}; }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<SleepySession>(spec);
  }
};

}  // namespace eggroll

EGGROLL_BACKEND("sleepy", "1.0.0", eggroll::SleepyBackend, &eggroll::probe_always);
