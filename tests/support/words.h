// Lists of words, as arguments and overrides are, and the lines of a text.
#ifndef EGGROLL_TESTS_SUPPORT_WORDS_H
#define EGGROLL_TESTS_SUPPORT_WORDS_H

#include <string>
#include <string_view>
#include <vector>

namespace eggroll::test {

inline std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A last line without its end is none.
inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    lines.emplace_back(text.substr(begin, end - begin));
  }
  return lines;
}

inline size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace eggroll::test

#endif
