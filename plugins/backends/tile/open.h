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

}  // namespace eggroll::tile

#endif
