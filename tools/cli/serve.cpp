// eggroll serve.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/stops.h"
#include "serve/server.h"
#include "system/machine.h"
#include "system/text.h"

namespace eggroll {
namespace {

// Serves the page until SIGINT, SIGTERM or SIGHUP.
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

}  // namespace

void commands::declare_serve(CommandLine& line) {
  static std::filesystem::path results;
  static uint16_t port = 8650;
  CLI::App* command = line.add("serve", "Show the runs of a results folder in the browser, live",
                               [] { return serve_command(existing_results(results), port); });
  line.takes(command, "results", results, "A folder with runs at any depth, or the name of a sweep", {Words::kResults})
      ->required();
  command->add_option("--port", port, "The port on 127.0.0.1; 0 takes a free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
}

}  // namespace eggroll
