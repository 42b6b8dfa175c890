// eggroll: the command line. Parses, calls one command, turns an Error into one sentence and a non-zero exit code.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "cli/commands.h"
#include "cli/misuse.h"
#include "cli/terminal.h"
#include "eggroll/error.h"
#include "plugin/calls.h"
#include "record/sentence.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

int dispatch(int argc, char** argv) {
  CommandLine line(argc, argv);
#define EGGROLL_DECLARE(name) commands::declare_##name(line);
  EGGROLL_COMMANDS(EGGROLL_DECLARE)
#undef EGGROLL_DECLARE
  // The scripts of shells call this. Its words are no command line yet.
  if (argc > 1 && line.typed[1] == "complete") {
    print_completions(line, {line.typed.begin() + 2, line.typed.end()});
    return 0;
  }
  if (argc == 1) {
    fmt::print("{}", line.app.help());
    return 0;
  }
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);  // --help, --version
    throw misused(line.app, error, line.typed);
  }
  return line.exit_code;
}

}  // namespace
}  // namespace eggroll

int main(int argc, char** argv) {
  const eggroll::PluginGuard guard;
  eggroll::open_standard_descriptors();
  // A file that reaches its size limit is an error to report; the signal would end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // A parent may have it ignored, and then no child could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    try {
      eggroll::watch_parent();  // if this is a point of a sweep, it ends with the sweep
      const int exit_code = eggroll::dispatch(argc, argv);
      // The terminal has closed, or what read from the pipe has ended.
      const bool has_gone = exit_code == 128 + SIGHUP || eggroll::reader_has_gone();
      if (!has_gone && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
        throw eggroll::Error("the output could not be written; free space there or send it elsewhere");
      }
      return exit_code;
    } catch (...) {
      std::fflush(stdout);
      eggroll::print_error("eggroll", eggroll::sentence_of_exception());
    }
  } catch (...) {
    std::fputs("eggroll: the memory is used up; raise the limit (ulimit -v)\n", stderr);  // no sentence could be made
  }
  return 1;
}
