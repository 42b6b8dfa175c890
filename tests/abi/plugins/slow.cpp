// A backend with score 1.
#include "stub_backend.h"

namespace {

int32_t probe(egg_error*) { return 1; }

}  // namespace

EGGROLL_BACKEND("slow", "1.0", StubBackend, &probe);
