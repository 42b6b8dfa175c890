// The engine's build for AMX.
#ifndef EGGROLL_AMX_ENGINE_H
#define EGGROLL_AMX_ENGINE_H

#include "engine.h"

namespace eggroll::tile {

extern const Engine kAmx;

}  // namespace eggroll::tile

#endif
