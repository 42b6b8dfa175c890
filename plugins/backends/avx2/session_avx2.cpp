#include "open.h"
#include "session.h"
#include "simd_avx2.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_avx2(const egg_session_spec& spec) { return std::make_unique<TileSession<Avx2>>(spec); }

}  // namespace eggroll::tile
