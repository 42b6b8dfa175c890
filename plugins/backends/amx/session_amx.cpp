#include "amx_engine.h"
#include "session.h"
#include "simd_amx.h"

namespace eggroll::tile {

constinit const Engine kAmx = engine_of<Amx>("amx_int8");

}  // namespace eggroll::tile
