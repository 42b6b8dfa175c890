#include "config/value_text.h"

#include <algorithm>

#include "config/tree.h"

namespace eggroll {
namespace {

constexpr const char* kSpaces = " \t\r\n";

constexpr std::string_view kEscapable = "\\()[]{}:=, \t";

// Whether a backslash stands here that takes the next character literally; others are characters like any.
bool is_escape(std::string_view text, size_t at) {
  return text[at] == '\\' && at + 1 < text.size() && kEscapable.find(text[at + 1]) != std::string_view::npos;
}

size_t end_of_backslashes(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of('\\', at), text.size());
}

// The position after the quote that closes the one at `at`, or the end.
size_t skip_quoted(std::string_view text, size_t at) {
  const char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == '\\') {
      // Within '...' an odd number of backslashes escapes the quote behind them.
      const size_t end = end_of_backslashes(text, at);
      const bool escapes = end < text.size() && text[end] == quote && (end - at) % 2 == 1;
      at = escapes ? end : end - 1;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) return at + 1;
      ++at;  // '' within '...'
    }
  }
  return text.size();
}

// "..." stays as it is. In '...' each \' becomes '', and backslashes before a quote are halved.
std::string quoted_for_yaml(std::string_view quoted) {
  if (quoted.front() == '"') return std::string(quoted);
  std::string result;
  for (size_t at = 0; at < quoted.size(); ++at) {
    const size_t end = end_of_backslashes(quoted, at);
    const size_t count = end - at;
    if (count == 0) {
      result += quoted[at];
    } else if (end == quoted.size() || quoted[end] != '\'') {
      result.append(count, '\\');
      at = end - 1;
    } else {
      result.append(count / 2, '\\');
      if (count % 2 == 1) result += "''";
      at = count % 2 == 1 ? end : end - 1;
    }
  }
  return result;
}

std::string in_double_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
  }
  return quoted + '"';
}

// A scalar without quotes: what has an escape is text. ${...} has none.
std::string scalar_for_yaml(std::string_view text) {
  std::string plain;
  bool is_escaped = false;
  size_t open = 0;  // braces of ${
  for (size_t at = 0; at < text.size(); ++at) {
    if (open == 0 && is_escape(text, at)) {
      is_escaped = true;
      ++at;
    } else if (text.substr(at, 2) == "${") {
      ++open;
    } else if (text[at] == '}' && open > 0) {
      --open;
    }
    plain += text[at];
  }
  return is_escaped ? in_double_quotes(plain) : plain;
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
  if (text.empty()) return "";
  if (text.front() == '\'' || text.front() == '"') {
    const size_t end = skip_quoted(text, 0);
    return quoted_for_yaml(text.substr(0, end)) + std::string(text.substr(end));
  }
  if (text.front() != '[' && text.front() != '{') return scalar_for_yaml(text);
  std::string yaml;
  std::string open;             // brackets, and $ for the brace of ${
  bool in_key = false;          // of the innermost map
  char before = ',';            // the last that is no blank
  std::optional<size_t> begin;  // in the text, of a scalar without quotes
  size_t end = 0;               // of that scalar, without blanks behind it
  const auto end_scalar = [&](size_t at) {
    if (begin) yaml.append(scalar_for_yaml(text.substr(*begin, end - *begin))).append(text.substr(end, at - end));
    begin.reset();
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins = std::string_view("[{,:").find(before) != std::string_view::npos;
    if (begins && !begin && (c == '"' || c == '\'')) {
      const size_t after = skip_quoted(text, at);
      yaml += quoted_for_yaml(text.substr(at, after - at));
      at = after - 1;
      before = c;
      continue;
    }
    const bool escapes = !open.ends_with('$') && is_escape(text, at);
    const bool is_blank = !escapes && std::string_view(kSpaces).find(c) != std::string_view::npos;
    if (!escapes && (c == '{' || c == '[')) {
      open += c == '{' && before == '$' ? '$' : c;
      if (open.back() != '$') end_scalar(at);
    } else if (!escapes && (c == '}' || c == ']') && !open.empty()) {
      if (open.back() != '$') end_scalar(at);
      open.pop_back();
    } else if (!is_blank && c != ',' && c != ':' && !begin) {
      begin = at;
    }
    const bool in_map = open.ends_with('{');
    const bool ends_key = c == ':' && !escapes && in_map && in_key;
    if ((c == ',' && !escapes && !open.ends_with('$')) || ends_key) end_scalar(at);
    if (!begin) {
      yaml += c;
    } else {
      at += escapes ? 1 : 0;
      if (!is_blank) end = at + 1;
    }
    if (!escapes && (c == '{' || c == ',')) {
      in_key = in_map;
    } else if (ends_key) {
      yaml += ' ';
      in_key = false;
    }
    if (!is_blank) before = escapes ? '\\' : c;
  }
  end_scalar(text.size());
  return yaml;
}

std::string trimmed_value(std::string_view text) {
  std::string value = trimmed(text);
  const size_t after = text.find_first_not_of(kSpaces) + value.size();
  const size_t backslashes = value.size() - (value.find_last_not_of('\\') + 1);
  if (backslashes % 2 == 1 && after < text.size() && is_escape(text, after - 1)) value += text[after];
  return value;
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
    if (is_escape(text, at)) {
      before = c;
      at += 2;
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
    elements.push_back(trimmed_value(text.substr(0, length)));
    if (length == text.size()) return elements;
    text.remove_prefix(length + 1);
  }
}

}  // namespace eggroll
