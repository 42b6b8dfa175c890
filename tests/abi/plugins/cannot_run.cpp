// A backend for a machine that is not this one.
#include "stub_backend.h"

namespace {

int32_t probe(egg_error* why) {
  eggroll::set_error(why, EGG_ERROR_DEVICE, "needs avx512vnni; this CPU reports avx2 f16c");
  return 0;
}

}  // namespace

EGGROLL_BACKEND("cannot_run", "1.0", StubBackend, &probe);
