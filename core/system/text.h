// Text functions that the libraries of some systems lack: the same code on all systems.
#ifndef EGGROLL_SYSTEM_TEXT_H
#define EGGROLL_SYSTEM_TEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace eggroll {

// The whole text as a decimal number, "-1.5e3", rounded correctly, whatever the locale. Nothing if it is none, begins
// with a plus, or is too large or (other than 0) too small for 64 bits. Apple's std::from_chars() reads no reals.
std::optional<double> real_of(const std::string& text);

// Orders names by the numbers in them, "run-9" before "run-10", as glibc's strverscmp() does.
bool is_before(const std::string& a, const std::string& b);

// The text as one printable line of valid UTF-8: a blank for a tab or a line's end, U+FFFD for other bytes that a
// terminal would obey or that are no text. A text of more than `most` bytes is cut and ends in "...".
std::string one_line(std::string_view text, size_t most);

// The word, quoted for a shell if it must be.
std::string shell_word(const std::string& word);

// The text in at most `most` characters of UTF-8; a longer one has "..." in its middle.
std::string middle_cut(const std::string& text, size_t most);

// Escapes what a terminal would obey, except newline and tab: control characters and bytes that are no UTF-8 become \x
// and two hexadecimal digits for each byte.
std::string escaped(std::string_view text);

// Escapes newline and tab too, for names of files and texts from files of results that must stay on one line.
std::string shown(std::string_view text);

}  // namespace eggroll

#endif
