// A backend that cannot run and does not say why.
#include "stub_backend.h"

namespace {

int32_t probe(egg_error*) { return 0; }

}  // namespace

EGGROLL_BACKEND("cannot_say", "1.0", StubBackend, &probe);
