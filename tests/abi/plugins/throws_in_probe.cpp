// A plugin whose probe throws across the seam.
#include "stub_backend.h"

EGGROLL_BACKEND("throws_in_probe", "1.0", StubBackend,
                [](egg_error*) -> int32_t { throw std::runtime_error("no driver"); });
