// The metal backend: Apple's GPUs, through whatever device is linked with it.
#include <memory>
#include <string>

#include "eggroll/backend.h"
#include "session.h"

namespace eggroll::metal {

namespace {

class MetalBackend : public Backend {
 public:
  explicit MetalBackend(Settings& settings) { settings.finish(); }
  bool supports_site(const egg_program& program, const egg_site& site) override { return has_site(program, site); }
  SessionPlan plan_session(const egg_session_spec& spec) override {
    const Plan plan(spec);
    const std::shared_ptr<Device> gpu = device();
    const MemoryPlan memory(plan, spec, gpu->free_memory(), gpu->largest_buffer());
    return {memory.total, gpu->name(),
            "a tile of " + std::to_string(kTileRows) + " members a threadgroup, " + std::to_string(memory.tiles) +
                (memory.tiles == 1 ? " tile" : " tiles") + " a dispatch, linears on " + gpu->matrix_units()};
  }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<MetalSession>(device(), spec);
  }

 private:
  // Its kernels are compiled when they are first needed.
  std::shared_ptr<Device> device() {
    if (device_ == nullptr) device_ = open_device(wanted_units());
    return device_;
  }

  std::shared_ptr<Device> device_;
};

}  // namespace
}  // namespace eggroll::metal

EGGROLL_BACKEND("metal", "0.1.0", eggroll::metal::MetalBackend, &eggroll::metal::probe_device);
