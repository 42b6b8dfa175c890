// Shortens a compiler's output to a line, for a session's plan and for errors.
#ifndef EGGROLL_METAL_COMPILER_MESSAGE_H
#define EGGROLL_METAL_COMPILER_MESSAGE_H

#include <string>

namespace eggroll::metal {

// The first line that has "error:", or else the first line; in ASCII, cut to `most` characters.
inline std::string first_error(const std::string& output, size_t most) {
  const size_t error = output.find("error:");
  const size_t begin = error == std::string::npos ? 0 : output.rfind('\n', error) + 1;
  std::string line = output.substr(begin, output.find('\n', begin) - begin).substr(0, most);
  for (char& c : line) {
    if (c < ' ' || c > '~') c = ' ';
  }
  return line;
}

}  // namespace eggroll::metal

#endif
