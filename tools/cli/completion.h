// What follows the beginning of a command line, for shells, and the manual page: both are made from the commands.
#ifndef EGGROLL_TOOLS_CLI_COMPLETION_H
#define EGGROLL_TOOLS_CLI_COMPLETION_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eggroll {

// Prints what the last of the words may become, one a line: the whole word, a tab and what it means. words: those
// behind "eggroll"; the last is the one to complete, and may be empty. Prints nothing where it knows nothing, as in a
// folder without a configuration.
void print_completions(const CLI::App& app, const std::vector<std::string>& words);

// The script that makes a shell (bash, zsh or fish) ask for these. Throws Error for any other.
std::string completion_script(const std::string& shell);

// In the language of man.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace eggroll

#endif
