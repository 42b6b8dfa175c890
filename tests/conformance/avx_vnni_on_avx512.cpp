// The avx2 backend's AVX-VNNI path with AVX-512's encoding of the same instructions, for processors without AVX-VNNI.
#define EGG_VNNI_ENCODING ""

#include "common/x86_features.h"
#include "session.h"
#include "simd_avx_vnni.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

constexpr Engine kEngine = engine_of<AvxVnni>("avx_vnni encoded as avx512vl");
const Engine& engine() { return kEngine; }

int32_t probe(egg_error* why) {
  const X86Feature features[] = {{"avx512vl", __builtin_cpu_supports("avx512vl") != 0, true},
                                 {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0, true}};
  return probe_x86(features, std::size(features), 1, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("avx_vnni_on_avx512", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>,
                &eggroll::tile::probe);
