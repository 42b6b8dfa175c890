#include "open.h"
#include "session.h"
#include "simd_avx_vnni.h"

namespace eggroll::tile {

std::unique_ptr<Session> open_avx_vnni(const egg_session_spec& spec) {
  return std::make_unique<TileSession<AvxVnni>>(spec);
}

}  // namespace eggroll::tile
