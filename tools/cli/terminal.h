// Standard output, and the terminal that it may be.
#ifndef EGGROLL_TOOLS_CLI_TERMINAL_H
#define EGGROLL_TOOLS_CLI_TERMINAL_H

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace eggroll {

bool on_terminal();
size_t terminal_width();  // the number of columns; 80 where the terminal does not say

// How many characters a row of a table may have: it does not wrap on a terminal, and elsewhere nothing is cut.
size_t row_width();

// The words in lines of `width` columns; a word that is longer has a line of its own. Lines after the first begin with
// `indent` blanks, which do not count.
std::string wrapped(const std::string& text, size_t width, size_t indent = 0);

// Prints at once. Unlike fmt::print it does not throw if the text cannot be written, because a closed terminal must not
// end a run. main() reports the failure at the end.
void say(const std::string& text);

// A line with what comes from outside: names of files, and what files of results say. A terminal would obey control
// characters in it, and a newline would begin a line that looks like eggroll's own.
void say_line(const std::string& line);

// For a command that works for long: it goes on, and prints no more, where the program that reads its output ends, as
// `head` does. Other commands end then, as SIGPIPE has it.
void outlive_reader();
bool reader_has_gone();

// Prints what a command says to programs (--json). Names of files and texts of models need not be UTF-8, as JSON must
// be: bytes that are not become U+FFFD.
void print_json(const nlohmann::ordered_json& json);
// Null where the text is empty.
nlohmann::ordered_json or_null(const std::string& text);

}  // namespace eggroll

#endif
