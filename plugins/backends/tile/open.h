// The engine's builds, one for each instruction set: each is a file of its own with that set's flags.
#ifndef EGGROLL_TILE_OPEN_H
#define EGGROLL_TILE_OPEN_H

#include <memory>

#include "eggroll/backend.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_avx512(const egg_session_spec& spec);
std::unique_ptr<Session> open_avx2(const egg_session_spec& spec);
std::unique_ptr<Session> open_avx_vnni(const egg_session_spec& spec);
std::unique_ptr<Session> open_neon(const egg_session_spec& spec);
std::unique_ptr<Session> open_neon_dotprod(const egg_session_spec& spec);
std::unique_ptr<Session> open_neon_i8mm(const egg_session_spec& spec);

// What a plugin of the engine exports: any program and any rule, in the sessions that kOpen makes.
template <std::unique_ptr<Session> (*kOpen)(const egg_session_spec&)>
class TileBackend : public Backend {
 public:
  explicit TileBackend(Settings& settings) { settings.finish(); }
  bool supports_op(const egg_program&, uint32_t) override { return true; }
  bool supports_rule_op(int32_t) override { return true; }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override { return kOpen(spec); }
};

}  // namespace eggroll::tile

#endif
