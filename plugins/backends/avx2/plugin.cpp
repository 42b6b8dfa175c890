// The avx2 backend: the population-tile engine on AVX2, with AVX-VNNI where the processor has it.
#include "common/x86_features.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

bool has_avx_vnni() { return __builtin_cpu_supports("avxvnni") != 0; }

const Engine& best_engine() { return has_avx_vnni() ? kAvxVnni : kAvx2; }

int32_t probe_avx2(egg_error* why) {
  const X86Feature features[] = {
      {"sse4.2", __builtin_cpu_supports("sse4.2") != 0, false},
      {"avx", __builtin_cpu_supports("avx") != 0, false},
      {"avx2", __builtin_cpu_supports("avx2") != 0, true},
  };
  return probe_x86(features, std::size(features), has_avx_vnni() ? 200 : 100, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("avx2", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::best_engine>, &eggroll::tile::probe_avx2);
