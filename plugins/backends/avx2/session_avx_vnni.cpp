#include "engine.h"
#include "session.h"
#include "simd_avx_vnni.h"

namespace eggroll::tile {

constinit const Engine kAvxVnni = engine_of<AvxVnni>("avx_vnni");

}  // namespace eggroll::tile
