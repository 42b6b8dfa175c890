#include "open.h"
#include "session.h"
#include "simd_neon.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_neon_dotprod(const egg_session_spec& spec) {
  return std::make_unique<TileSession<NeonDotprod>>(spec);
}

}  // namespace eggroll::tile
