// A backend for a machine that is not this one.
#include "stub_backend.h"

EGGROLL_BACKEND("cannot_run", "1.0", StubBackend, [](egg_error* why) {
  eggroll::set_error(why, EGG_ERROR_DEVICE, "needs avx512vnni; this CPU reports avx2 f16c");
  return 0;
});
