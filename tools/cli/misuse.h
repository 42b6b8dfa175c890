// The answer to a command line that cannot be read.
#ifndef EGGROLL_TOOLS_CLI_MISUSE_H
#define EGGROLL_TOOLS_CLI_MISUSE_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "eggroll/error.h"

namespace eggroll {

// CLI11's message as one sentence with the cure; a misspelt command or option gets a suggestion.
Error misused(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& command_line);

// The command of this name. Throws Error, with a suggestion, if there is none.
const CLI::App& command_named(const CLI::App& app, const std::string& name);

}  // namespace eggroll

#endif
