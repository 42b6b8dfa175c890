#include "engine.h"
#include "session.h"
#include "simd_neon.h"

namespace eggroll::tile {

constinit const Engine kNeonI8mm = engine_of<NeonI8mm>("neon_i8mm");

}  // namespace eggroll::tile
