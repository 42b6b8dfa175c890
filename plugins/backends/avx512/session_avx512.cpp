#include "open.h"
#include "session.h"
#include "simd_avx512.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_avx512(const egg_session_spec& spec) {
  return std::make_unique<TileSession<Avx512>>(spec);
}

}  // namespace eggroll::tile
