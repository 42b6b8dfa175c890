// A plugin whose probe throws across the seam.
#include <stdexcept>

#include "stub_backend.h"

namespace {

int32_t probe(egg_error*) { throw std::runtime_error("no driver"); }

}  // namespace

EGGROLL_BACKEND("throws_in_probe", "1.0", StubBackend, &probe);
