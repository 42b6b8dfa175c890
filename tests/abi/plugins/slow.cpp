// A backend with score 1.
#include "stub_backend.h"

EGGROLL_BACKEND("slow", "1.0", StubBackend, [](egg_error*) { return 1; });
