#include "engine.h"
#include "session.h"
#include "simd_avx512.h"

namespace eggroll::tile {

constinit const Engine kAvx512 = engine_of<Avx512>("avx512_vnni");

}  // namespace eggroll::tile
