// `run --multirun` runs every combination of the overrides' values, each in a process of its own, one after the other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "cli/begin_run.h"
#include "cli/stops.h"
#include "cli/terminal.h"
#include "eggroll/error.h"
#include "processes/processes.h"
#include "system/machine.h"
#include "system/process.h"

namespace eggroll {
namespace {

std::atomic<pid_t> running_child{0};

// The running run saves and says so; the other runs then do not begin.
void pass_on(int number) {
  stop_signal.store(number);
  if (const pid_t child = running_child.load(); child != 0) ::kill(child, number);
}

// Waits for `eggroll run` with these overrides; returns its wait status.
int run_process(const HostOptions& host, const Overrides& overrides, bool show_monitor) {
  std::vector<std::string> words = {(executable_folder() / "eggroll").string()};
  for (const std::filesystem::path& folder : host.config_dirs) {
    words.insert(words.end(), {"--config-dir", folder.string()});
  }
  words.emplace_back("run");
  if (show_monitor) words.emplace_back("--monitor");
  words.insert(words.end(), overrides.begin(), overrides.end());
  pid_t child = 0;
  const int failure = spawn(words, {}, child);
  if (failure != 0) {
    throw Error(fmt::format("cannot start {}: {}", words[0], std::generic_category().message(failure)));
  }
  running_child.store(child);
  if (const int number = stop_signal.load(); number != 0)
    ::kill(child, number);  // it came before running_child was set
  const int status = wait_for(child);
  running_child.store(0);
  return status;
}

}  // namespace

int multirun_command(const HostOptions& host, const Overrides& overrides, bool show_monitor) {
  require_no_launcher("run --multirun");
  const ConfigSearch search = config_search(host);
  const std::vector<Overrides> combinations = expand_sweeps(search, overrides);
  for (const Overrides& combination : combinations) require_no_sweep(compose(search, combination));
  outlive_reader();
  // The terminal sends Ctrl-C to the run too, which saves and says so.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, pass_on);
  catch_hangup(pass_on);
  std::vector<std::string> failures;
  for (size_t i = 0; i < combinations.size(); ++i) {
    say(fmt::format("== {} of {}: {}\n", i + 1, combinations.size(), fmt::join(combinations[i], " ")));
    const int status = run_process(host, combinations[i], show_monitor);
    const int passed_on = stop_signal.load();
    const int number = passed_on != 0 ? passed_on : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
      say(fmt::format("stopped at {} of {}; the same command goes on from there\n", i + 1, combinations.size()));
      return 128 + number;
    }
    if (status != 0) failures.push_back(fmt::format("{} ({})", i + 1, ending_of(status)));
  }
  say(fmt::format("== {} of {} runs completed\n", combinations.size() - failures.size(), combinations.size()));
  if (!failures.empty())
    throw Error(fmt::format("runs failed: {}; see what they printed above", fmt::join(failures, ", ")));
  return 0;
}

}  // namespace eggroll
