// The avx512 backend: the population-tile engine on AVX-512 with VNNI and VBMI (Ice Lake, Zen 4 and later).
#include "common/x86_features.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

const Engine& engine() { return kAvx512; }

int32_t probe_avx512(egg_error* why) {
  const X86Feature features[] = {
      {"sse4.2", __builtin_cpu_supports("sse4.2") != 0, false},
      {"avx2", __builtin_cpu_supports("avx2") != 0, false},
      {"avx512f", __builtin_cpu_supports("avx512f") != 0, true},
      {"avx512bw", __builtin_cpu_supports("avx512bw") != 0, true},
      {"avx512dq", __builtin_cpu_supports("avx512dq") != 0, true},
      {"avx512vl", __builtin_cpu_supports("avx512vl") != 0, true},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi") != 0, true},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0, true},
  };
  return probe_x86(features, std::size(features), 300, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("avx512", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>, &eggroll::tile::probe_avx512);
