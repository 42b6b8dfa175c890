// A plugin whose probe never returns.
#include <chrono>
#include <thread>

#include "stub_backend.h"

namespace {

int32_t probe(egg_error*) {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

EGGROLL_BACKEND("hangs_in_probe", "1.0", StubBackend, &probe);
