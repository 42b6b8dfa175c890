#include "engine.h"
#include "session.h"
#include "simd_neon.h"

namespace eggroll::tile {

constinit const Engine kNeon = engine_of<Neon>("neon");

}  // namespace eggroll::tile
