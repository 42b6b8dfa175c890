#include "system/text.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace eggroll {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many digits there are from here on.
size_t digits_at(const std::string& text, size_t at) {
  size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) ++count;
  return count;
}

// 0 at the end.
unsigned char byte_at(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// Whether a terminal would obey the character there: U+0000 to U+001F and U+007F to U+009F.
bool is_control_at(std::string_view text, size_t at) {
  const unsigned char c = byte_at(text, at);
  return c < 0x20 || c == 0x7f || (c == 0xc2 && byte_at(text, at + 1) < 0xa0);
}

// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none.
size_t character_size(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  const size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, 1);
  const bool is_too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return is_too_long || is_no_character ? 0 : size;
}

}  // namespace

std::optional<double> real_of(const std::string& text) {
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  if (text.empty() || text[0] == '+' || text.find_first_not_of("0123456789+-.eE") != std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double value = ::strtod_l(text.c_str(), &end, plain);
  if (end != text.c_str() + text.size() || std::isinf(value)) return std::nullopt;
  const bool too_small =
      value == 0 && text.substr(0, text.find_first_of("eE")).find_first_of("123456789") != std::string::npos;
  return too_small ? std::nullopt : std::optional(value);
}

bool is_before(const std::string& a, const std::string& b) {
  size_t at = 0;      // where they differ
  size_t number = 0;  // where the number begins that ends or goes on there
  while (at < a.size() && at < b.size() && a[at] == b[at]) {
    ++at;
    if (!is_digit(a[at - 1])) number = at;
  }
  const bool fraction = a.compare(number, 1, "0") == 0 || b.compare(number, 1, "0") == 0;
  const size_t a_digits = digits_at(a, at);
  const size_t b_digits = digits_at(b, at);
  if (!fraction) {
    // The longer of two whole numbers is larger.
    const bool both = a_digits + at > number && b_digits + at > number;
    if (both && a_digits != b_digits) return a_digits < b_digits;
  } else if (at > number && a.find_first_not_of('0', number) >= at && (a_digits > 0) != (b_digits > 0)) {
    return a_digits > 0;  // more leading zeros come first
  }
  return byte_at(a, at) < byte_at(b, at);
}

std::string one_line(std::string_view text, size_t most) {
  using nlohmann::json;
  const std::string cut(text.substr(0, most));
  // The library replaces what is no UTF-8 when it writes a text.
  const auto valid = json::parse(json(cut).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string line;
  for (size_t i = 0; i < valid.size(); ++i) {
    const unsigned char c = byte_at(valid, i);
    if (c == '\n' || c == '\r' || c == '\t') {
      line += ' ';
    } else if (is_control_at(valid, i)) {
      line += kReplacement;
      if (c == 0xc2) ++i;
    } else {
      line += valid[i];
    }
  }
  return text.size() > most ? line + "..." : line;
}

std::string shell_word(const std::string& word) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string middle_cut(const std::string& text, size_t most) {
  std::vector<std::string_view> characters;
  for (std::string_view left = text; !left.empty(); left.remove_prefix(characters.back().size())) {
    characters.push_back(left.substr(0, std::max<size_t>(character_size(left), 1)));
  }
  if (characters.size() <= most) return text;
  const std::string dots(std::min<size_t>(most, 3), '.');
  const size_t kept = most - dots.size();
  std::string result;
  for (size_t i = 0; i < characters.size(); ++i) {
    if (i == kept - kept / 2) result += dots;
    if (i < kept - kept / 2 || i + kept / 2 >= characters.size()) result += characters[i];
  }
  return result;
}

namespace {

std::string without_controls(std::string_view text, bool keeps_lines) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text.substr(at));
    const bool is_kept = keeps_lines && (text[at] == '\n' || text[at] == '\t');
    const bool is_plain = size > 0 && (is_kept || !is_control_at(text, at));
    const std::string_view bytes = text.substr(at, std::max<size_t>(size, 1));
    if (is_plain) {
      result += bytes;
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      for (size_t i = 0; i < bytes.size(); ++i) {
        result += {'\\', 'x', kDigits[byte_at(bytes, i) >> 4], kDigits[byte_at(bytes, i) & 15]};
      }
    }
    at += bytes.size();
  }
  return result;
}

}  // namespace

std::string escaped(std::string_view text) { return without_controls(text, true); }

std::string shown(std::string_view text) { return without_controls(text, false); }

}  // namespace eggroll
