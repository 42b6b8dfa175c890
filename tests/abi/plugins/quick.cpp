// A backend with score 10.
#include "stub_backend.h"

namespace {

int32_t probe(egg_error*) { return 10; }

}  // namespace

EGGROLL_BACKEND("quick", "1.0", StubBackend, &probe);
