// The avx512 backend: the population-tile engine on AVX-512 with VNNI and VBMI (Ice Lake, Zen 4 and later).
#include "common/x86_features.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

const Engine& engine() { return kAvx512; }

int32_t probe_avx512(egg_error* why) {
  const std::vector<X86Feature> features = avx512_features();
  return probe_x86(features.data(), features.size(), 300, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("avx512", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>, &eggroll::tile::probe_avx512);
