#include "engine.h"
#include "session.h"
#include "simd_neon.h"

namespace eggroll::tile {

constinit const Engine kNeonDotprod = engine_of<NeonDotprod>("neon_dotprod");

}  // namespace eggroll::tile
