// A scalar backend, written to be read. `reference` is the yardstick of every other backend, and `eggroll new backend`
// copies its sources.
#include "eggroll/cpu_plan.h"
#include "session.h"

namespace eggroll::reference {

class ReferenceBackend : public Backend {
 public:
  explicit ReferenceBackend(Settings& settings) { settings.finish(); }
  bool supports_site(const egg_program&, const egg_site&) override { return true; }
  SessionPlan plan_session(const egg_session_spec& spec) override {
    return plan_on_cpu(spec, "scalar", [&](uint32_t population) { return ReferenceSession::memory(spec, population); });
  }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<ReferenceSession>(spec);
  }
};

}  // namespace eggroll::reference

EGGROLL_BACKEND("reference", "1.0.0", eggroll::reference::ReferenceBackend, &eggroll::probe_always);
