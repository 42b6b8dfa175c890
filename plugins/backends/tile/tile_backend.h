// What a plugin of the engine exports. Not for files with an instruction set's flags.
#ifndef EGGROLL_TILE_TILE_BACKEND_H
#define EGGROLL_TILE_TILE_BACKEND_H

#include <string>

#include "eggroll/cpu_plan.h"
#include "engine.h"

namespace eggroll::tile {

// Any program and any rule, in the sessions of the build that kChoose names.
template <const Engine& (*kChoose)()>
class TileBackend : public Backend {
 public:
  explicit TileBackend(Settings& settings) { settings.finish(); }
  bool supports_site(const egg_program&, const egg_site&) override { return true; }
  SessionPlan plan_session(const egg_session_spec& spec) override {
    const Engine& engine = kChoose();
    const std::string how = std::string(engine.instructions) + ", tiles of " + std::to_string(engine.tile) + " members";
    return plan_on_cpu(spec, how, [&](uint32_t population) { return engine.memory(spec, population); });
  }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override { return kChoose().open(spec); }
};

}  // namespace eggroll::tile

#endif
