#include "engine.h"
#include "session.h"
#include "simd_avx2.h"

namespace eggroll::tile {

constinit const Engine kAvx2 = engine_of<Avx2>("avx2");

}  // namespace eggroll::tile
