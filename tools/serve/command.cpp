#include "serve/command.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "cli/stops.h"
#include "serve/server.h"
#include "system/machine.h"
#include "system/text.h"

namespace eggroll {

int serve_command(const std::filesystem::path& results, uint16_t port) {
  // These signals are blocked in every thread and taken here.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  if (heeds_hangup()) sigaddset(&ends, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const Server server(results, port);
  fmt::print("{} shows {}; Ctrl-C ends it\n", server.address(), shown(results.string()));
  std::fflush(stdout);
  int taken = 0;
  sigwait(&ends, &taken);
  std::puts("ended");  // fmt::print would throw where the terminal has closed
  std::fflush(stdout);
  // There is nothing to save, and a client whose request never ends would keep the server from ending.
  end_process(0);
}

}  // namespace eggroll
