// A plugin whose probe never returns.
#include <chrono>
#include <thread>

#include "stub_backend.h"

EGGROLL_BACKEND("hangs_in_probe", "1.0", StubBackend, [](egg_error*) -> int32_t {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
});
