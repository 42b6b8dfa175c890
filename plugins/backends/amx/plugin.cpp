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
  std::vector<X86Feature> features = avx512_features();
  features.push_back({"amx_int8", has_amx_int8(), true});
  features.push_back({"amx_permission", ask_for_amx(), true});
  return probe_x86(features.data(), features.size(), 400, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("amx", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>, &eggroll::tile::probe_amx);
