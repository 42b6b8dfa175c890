#include "config/value_text.h"

#include "config/tree.h"

namespace eggroll {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_one_of(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

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

std::string as_yaml(std::string_view text) {
  if (text.empty() || !is_one_of(text.front(), "[{")) return std::string(text);
  std::string yaml;
  std::string open;     // brackets, and $ for the brace of ${
  bool in_key = false;  // of the innermost map
  char before = ',';    // the last that is no blank
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_one_of(c, "\"'") && is_one_of(before, "[{,:")) {
      const size_t after = skip_quoted(text, at);
      yaml += text.substr(at, after - at);
      at = after - 1;
      before = c;
      continue;
    }
    if (is_one_of(c, "{[")) {
      open += c == '{' && before == '$' ? '$' : c;
    } else if (is_one_of(c, "}]") && !open.empty()) {
      open.pop_back();
    }
    const bool in_map = open.ends_with('{');
    yaml += c;
    if (is_one_of(c, "{,")) {
      in_key = in_map;
    } else if (c == ':' && in_map && in_key) {
      yaml += ' ';
      in_key = false;
    }
    if (!is_one_of(c, kSpaces)) before = c;
  }
  return yaml;
}

size_t element_length(std::string_view text, std::optional<size_t>* closed) {
  size_t start = std::min(text.find_first_not_of(kSpaces), text.size());
  const size_t word = word_length(text.substr(start));
  if (word > 0 && text.substr(start + word).starts_with('=')) start += word + 1;
  const bool call = is_call(text.substr(start));
  const bool nests = call || (start < text.size() && is_one_of(text[start], "[{\"'"));
  std::string open;  // what closes the brackets that are open
  char before = ',';
  for (size_t at = start; at < text.size(); ++at) {
    const char c = text[at];
    if (nests && is_one_of(c, "\"'") && is_one_of(before, "[{(,:=")) {
      at = skip_quoted(text, at) - 1;
      before = c;
      continue;
    }
    if (c == ',' && open.empty()) return at;
    if (text.substr(at, 2) == "${") {
      open += '}';
      ++at;
    } else if (nests && (is_one_of(c, "[{") || (call && c == '('))) {
      open += c == '[' ? ']' : c == '{' ? '}' : ')';
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
      if (call && open.empty() && closed != nullptr && !*closed) *closed = at + 1;
    }
    if (!is_one_of(c, kSpaces)) before = c;
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
