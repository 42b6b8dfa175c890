// A backend with score 10.
#include "stub_backend.h"

EGGROLL_BACKEND("rapid", "1.0", StubBackend, [](egg_error*) { return 10; });
