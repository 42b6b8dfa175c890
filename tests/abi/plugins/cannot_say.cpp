// A backend that cannot run and does not say why.
#include "stub_backend.h"

EGGROLL_BACKEND("cannot_say", "1.0", StubBackend, [](egg_error*) { return 0; });
