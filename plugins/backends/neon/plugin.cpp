// The neon backend: the population-tile engine on 64-bit ARM, multiplying bytes the best way that the processor has.
#include "tile_backend.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#else
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace eggroll::tile {
namespace {

// A path's value is its score.
enum class Path : int32_t { kBase = 100, kDotprod = 200, kI8mm = 300 };

#if defined(__APPLE__)
bool reports(const char* feature) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(feature, &value, &size, nullptr, 0) == 0 && value != 0;
}
bool has_dotprod() { return reports("hw.optional.arm.FEAT_DotProd"); }
bool has_i8mm() { return reports("hw.optional.arm.FEAT_I8MM"); }
#else
bool has_dotprod() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
bool has_i8mm() { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; }
#endif

Path best_path() {
  if (!has_dotprod()) return Path::kBase;
  return has_i8mm() ? Path::kI8mm : Path::kDotprod;
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
