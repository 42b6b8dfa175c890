// The amx backend: the population-tile engine with the products of `linear` on AMX (Sapphire Rapids and later).
#include "amx_engine.h"
#include "common/x86_features.h"
#include "eggroll/amx_features.h"
#include "eggroll/error.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

// A process that probes plugins is not the one that runs sessions, so the permission is asked for here again.
const Engine& engine() {
  if (!ask_for_amx()) throw Error("Linux does not give this process the memory of AMX's tiles; use backend=avx512");
  return kAmx;
}

int32_t probe_amx(egg_error* why) {
  const X86Feature features[] = {
      {"sse4.2", __builtin_cpu_supports("sse4.2") != 0, false},
      {"avx2", __builtin_cpu_supports("avx2") != 0, false},
      {"avx512f", __builtin_cpu_supports("avx512f") != 0, true},
      {"avx512bw", __builtin_cpu_supports("avx512bw") != 0, true},
      {"avx512dq", __builtin_cpu_supports("avx512dq") != 0, true},
      {"avx512vl", __builtin_cpu_supports("avx512vl") != 0, true},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi") != 0, true},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0, true},
      {"amx_int8", has_amx_int8(), true},
      {"amx_permission", ask_for_amx(), true},
  };
  return probe_x86(features, std::size(features), 400, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("amx", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>, &eggroll::tile::probe_amx);
