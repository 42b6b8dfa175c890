#include "open.h"
#include "session.h"
#include "simd_neon.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_neon(const egg_session_spec& spec) { return std::make_unique<TileSession<Neon>>(spec); }

}  // namespace eggroll::tile
