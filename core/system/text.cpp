#include "system/text.h"

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
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
unsigned char byte_at(const std::string& text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
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
    // Of two whole numbers the longer one is larger.
    const bool both = a_digits + at > number && b_digits + at > number;
    if (both && a_digits != b_digits) return a_digits < b_digits;
  } else if (at > number && a.find_first_not_of('0', number) >= at && (a_digits > 0) != (b_digits > 0)) {
    return a_digits > 0;  // of leading zeros more come first
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
    } else if (c < 0x20 || c == 0x7f) {
      line += kReplacement;
    } else if (c == 0xc2 && byte_at(valid, i + 1) < 0xa0) {  // U+0080 to U+009F
      line += kReplacement;
      ++i;
    } else {
      line += valid[i];
    }
  }
  return text.size() > most ? line + "..." : line;
}

}  // namespace eggroll
