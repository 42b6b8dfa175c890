// `run --multirun`: every combination of the overrides' values, each as a process of its own, one after the other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "cli/commands.h"
#include "eggroll/error.h"
#include "ranks/ranks.h"
#include "system/machine.h"

namespace eggroll {
namespace {

// Waits for `eggroll run` with these overrides; returns its wait status.
int run_process(const HostOptions& host, const Overrides& overrides, bool show_monitor) {
  std::vector<std::string> words = {(executable_folder() / "eggroll").string()};
  for (const std::filesystem::path& folder : host.config_dirs) {
    words.insert(words.end(), {"--config-dir", folder.string()});
  }
  words.emplace_back("run");
  if (show_monitor) words.emplace_back("--monitor");
  words.insert(words.end(), overrides.begin(), overrides.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environment());
  if (failure != 0) {
    throw Error(fmt::format("cannot start {}: {}", words[0], std::generic_category().message(failure)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

int multirun_command(const HostOptions& host, const Overrides& overrides, bool show_monitor) {
  require_no_launcher("run --multirun");
  const ConfigSearch search = config_search(host);
  const std::vector<Overrides> combinations = expand_sweeps(search, overrides);
  for (const Overrides& combination : combinations) compose(search, combination);
  // The terminal's Ctrl-C reaches the run too, which saves and says so.
  std::signal(SIGINT, SIG_IGN);
  std::vector<std::string> failures;
  for (size_t i = 0; i < combinations.size(); ++i) {
    fmt::print("== {} of {}: {}\n", i + 1, combinations.size(), fmt::join(combinations[i], " "));
    std::fflush(stdout);
    const int status = run_process(host, combinations[i], show_monitor);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (code == 128 + SIGINT || code == 128 + SIGTERM) {
      fmt::print("stopped at {} of {}; the same command goes on from there\n", i + 1, combinations.size());
      return code;
    }
    if (status != 0) failures.push_back(fmt::format("{} ({})", i + 1, ending_of(status)));
  }
  fmt::print("== {} of {} runs completed\n", combinations.size() - failures.size(), combinations.size());
  if (!failures.empty())
    throw Error(fmt::format("runs failed: {}; their words stand above", fmt::join(failures, ", ")));
  return 0;
}

}  // namespace eggroll
