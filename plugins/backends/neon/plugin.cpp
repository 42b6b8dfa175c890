// The neon backend: the population-tile engine on 64-bit ARM, multiplying bytes the best way that the processor has.
#include "eggroll/arm_features.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

// A path's value is its score.
enum class Path : int32_t { kBase = 100, kDotprod = 200, kI8mm = 300 };

Path best_path() {
  if (!arm_has_dotprod()) return Path::kBase;
  return arm_has_i8mm() ? Path::kI8mm : Path::kDotprod;
}

int32_t probe_neon(egg_error*) { return static_cast<int32_t>(best_path()); }

const Engine& best_engine() {
  switch (best_path()) {
    case Path::kI8mm:
      return kNeonI8mm;
    case Path::kDotprod:
      return kNeonDotprod;
    case Path::kBase:
      break;
  }
  return kNeon;
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("neon", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::best_engine>, &eggroll::tile::probe_neon);
