// The engine's builds, one for each instruction set. Each build is a file that is compiled with that set's flags.
#ifndef EGGROLL_TILE_ENGINE_H
#define EGGROLL_TILE_ENGINE_H

#include <cstdint>
#include <memory>

#include "eggroll/backend.h"

namespace eggroll::tile {

struct Engine {
  const char* instructions;  // the instructions that it multiplies with
  uint32_t tile;             // members in a tile
  std::unique_ptr<Session> (*open)(const egg_session_spec& spec);
  uint64_t (*memory)(const egg_session_spec& spec, uint32_t population);  // see TileSession::memory
};

extern const Engine kAvx512;
extern const Engine kAvx2;
extern const Engine kAvxVnni;
extern const Engine kNeon;
extern const Engine kNeonDotprod;
extern const Engine kNeonI8mm;

}  // namespace eggroll::tile

#endif
