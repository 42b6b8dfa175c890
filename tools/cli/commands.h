// The list of commands. docs/adding.md says how to add one.
#ifndef EGGROLL_TOOLS_CLI_COMMANDS_H
#define EGGROLL_TOOLS_CLI_COMMANDS_H

#include "cli/command_line.h"

// In the order of help, completion and the manual page.
#define EGGROLL_COMMANDS(X) \
  X(run)                    \
  X(show)                   \
  X(config)                 \
  X(keys)                   \
  X(help)                   \
  X(completion)             \
  X(man)                    \
  X(points)                 \
  X(sweep)                  \
  X(point)                  \
  X(ls)                     \
  X(rm)                     \
  X(tag)                    \
  X(note)                   \
  X(resume)                 \
  X(fork)                   \
  X(replay)                 \
  X(eval)                   \
  X(sample)                 \
  X(serve)                  \
  X(plugins)                \
  X(check)                  \
  X(new)                    \
  X(report)                 \
  X(compare)                \
  X(export)

namespace eggroll {

namespace commands {
#define EGGROLL_DECLARE(name) void declare_##name(CommandLine& line);
EGGROLL_COMMANDS(EGGROLL_DECLARE)
#undef EGGROLL_DECLARE
}  // namespace commands

// completion.cpp. Prints what the last of the words may become, one a line: the whole word, a tab and what it means.
// words: those after "eggroll"; the last is to be completed, and may be empty. Prints nothing if it knows nothing, as
// in a folder without a configuration.
void print_completions(const CommandLine& line, const std::vector<std::string>& words);

}  // namespace eggroll

#endif
