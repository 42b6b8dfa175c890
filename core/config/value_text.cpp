#include "config/value_text.h"

#include <algorithm>

#include "config/tree.h"

namespace eggroll {
namespace {

constexpr const char* kSpaces = " \t\r\n";

// The position after the quote that closes the one at `at`, or the end.
size_t skip_quoted(std::string_view text, size_t at) {
  const char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) return at + 1;
      ++at;  // '' within '...'
    }
  }
  return text.size();
}

}  // namespace

size_t word_length(std::string_view text) {
  size_t length = 0;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  while (length < text.size() &&
         (is_letter(text[length]) || (length > 0 && text[length] >= '0' && text[length] <= '9'))) {
    ++length;
  }
  return length;
}

bool is_call(std::string_view text) {
  const size_t word = word_length(text);
  return word > 0 && word < text.size() && text[word] == '(';
}

std::string with_spaced_keys(std::string_view text) {
  if (!text.starts_with('[') && !text.starts_with('{')) return std::string(text);
  std::string spaced;
  std::string open;     // brackets, and $ for the brace of ${
  bool in_key = false;  // of the innermost map
  char before = ',';    // the last that is no blank
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins = std::string_view("[{,:").find(before) != std::string_view::npos;
    if (begins && (c == '"' || c == '\'')) {
      const size_t end = skip_quoted(text, at);
      spaced += text.substr(at, end - at);
      at = end - 1;
      before = c;
      continue;
    }
    spaced += c;
    if (c == '{' || c == '[') {
      open += c == '{' && before == '$' ? '$' : c;
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    }
    const bool in_map = open.ends_with('{');
    if (c == '{' || c == ',') {
      in_key = in_map;
    } else if (c == ':' && in_map && in_key) {
      spaced += ' ';
      in_key = false;
    }
    if (std::string_view(kSpaces).find(c) == std::string_view::npos) before = c;
  }
  return spaced;
}

size_t element_length(std::string_view text, std::optional<size_t>* closed) {
  size_t start = std::min(text.find_first_not_of(kSpaces), text.size());
  const size_t word = word_length(text.substr(start));
  if (word > 0 && start + word < text.size() && text[start + word] == '=') start += word + 1;
  const bool call = is_call(text.substr(start));
  const bool nests =
      call || (start < text.size() && std::string_view("[{\"'").find(text[start]) != std::string_view::npos);
  std::string open;  // what closes the brackets that are open
  char before = ',';
  for (size_t at = start; at < text.size();) {
    const char c = text[at];
    const bool begins = std::string_view("[{(,:=").find(before) != std::string_view::npos;
    if (nests && begins && (c == '"' || c == '\'')) {
      at = skip_quoted(text, at);
      before = c;
      continue;
    }
    if (c == ',' && open.empty()) return at;
    if (text.substr(at, 2) == "${") {
      open += '}';
      ++at;
    } else if (nests && (c == '[' || c == '{' || (call && c == '('))) {
      open += c == '[' ? ']' : c == '{' ? '}' : ')';
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
      if (call && open.empty() && closed != nullptr && !*closed) *closed = at + 1;
    }
    if (std::string_view(kSpaces).find(c) == std::string_view::npos) before = c;
    ++at;
  }
  return text.size();
}

std::vector<std::string> split_elements(std::string_view text) {
  std::vector<std::string> elements;
  for (;;) {
    const size_t length = element_length(text);
    elements.push_back(trimmed(text.substr(0, length)));
    if (length == text.size()) return elements;
    text.remove_prefix(length + 1);
  }
}

}  // namespace eggroll
