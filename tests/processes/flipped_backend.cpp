// The reference backend with a fault. On the process FLIP_PROCESS it flips the lowest bit of the first weight after
// step FLIP_STEP, before it evaluates members.
#include <cstdlib>
#include <string>
#include <vector>

#include "eggroll/cpu_plan.h"
#include "session.h"

namespace eggroll::test {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

class FlippedSession : public reference::ReferenceSession {
 public:
  explicit FlippedSession(const egg_session_spec& spec)
      : ReferenceSession(spec),
        weights_(static_cast<size_t>(spec.program->params[0].rows * spec.program->params[0].cols)) {}

  void evaluate(const egg_evaluate& arguments) override {
    const bool here = variable("FLIP_PROCESS") == variable("OMPI_COMM_WORLD_RANK");
    if (here && !flipped_ && variable("FLIP_STEP") == std::to_string(arguments.step - 1)) {
      get_weights(0, weights_.data());
      weights_[0] = static_cast<int8_t>(weights_[0] ^ 1);
      set_weights(0, weights_.data());
      flipped_ = true;  // a step may take several calls
    }
    ReferenceSession::evaluate(arguments);
  }

 private:
  std::vector<int8_t> weights_;
  bool flipped_ = false;
};

class FlippedBackend : public Backend {
 public:
  explicit FlippedBackend(Settings& settings) { settings.finish(); }
  SessionPlan plan_session(const egg_session_spec& spec) override {
    return plan_on_cpu(spec, "scalar",
                       [&](uint32_t population) { return reference::ReferenceSession::memory(spec, population); });
  }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<FlippedSession>(spec);
  }
};

}  // namespace
}  // namespace eggroll::test

EGGROLL_BACKEND("flipped", "1.0.0", eggroll::test::FlippedBackend, &eggroll::probe_always);
