// Standard output, and the terminal that it may be.
#ifndef EGGROLL_TOOLS_CLI_TERMINAL_H
#define EGGROLL_TOOLS_CLI_TERMINAL_H

#include <cstddef>
#include <string>

namespace eggroll {

bool on_terminal();
size_t terminal_width();  // in columns; 80 where the terminal does not say

// Prints at once. Unlike fmt::print it does not throw if the text cannot be written, as on a terminal that has closed:
// that must not end a run. main() reports it at the end.
void say(const std::string& text);

}  // namespace eggroll

#endif
