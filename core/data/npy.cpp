// Reads the header, a Python dictionary literal with three known keys in any order.
#include "data/npy.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {
namespace {

constexpr std::string_view kSaveAgain = "save it again with numpy.save";

struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<uint64_t>> shape;
};

class Scanner {
 public:
  Scanner(std::string_view text, const NamedFile& file) : rest_(text), file_(file) {}

  Fields dictionary() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !fields.descr) {
        fields.descr = quoted();
      } else if (key == "fortran_order" && !fields.fortran_order) {
        fields.fortran_order = boolean();
      } else if (key == "shape" && !fields.shape) {
        fields.shape = tuple();
      } else {
        throw malformed();
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (!rest_.empty() || !fields.descr || !fields.fortran_order || !fields.shape) throw malformed();
    return fields;
  }

 private:
  Error malformed() const {
    return file_.error("whose .npy header is malformed", "a dictionary of descr, fortran_order and shape", kSaveAgain);
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) throw malformed();
  }

  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = rest_.find(quote);
    if (end == std::string_view::npos) throw malformed();
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    throw malformed();
  }

  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_space();
      uint64_t value = 0;
      const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (code != std::errc()) throw malformed();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      values.push_back(value);
      if (accept(',')) continue;
      if (values.size() == 1) throw malformed();  // Python reads (5) as a number
      expect(')');
      break;
    }
    return values;
  }

  std::string_view rest_;
  const NamedFile& file_;
};

uint32_t width_of(const std::string& descr, const NamedFile& file) {
  if (descr == "|u1") return 1;
  if (descr == "<u2") return 2;
  if (descr == "<u4") return 4;
  throw file.error(fmt::format("whose items are '{}'", descr), "'|u1', '<u2' or '<u4'",
                   "convert the array to little-endian uint8, uint16 or uint32");
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const NamedFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("\x93NUMPY")) {
    throw file.error("which is not a .npy file", "one", "set dataset.dtype to the type of a raw file's tokens");
  }
  const auto byte = [&](size_t i) {
    if (i >= bytes.size()) throw file.error("whose .npy header is cut short", "all of it", kSaveAgain);
    return std::to_integer<uint32_t>(bytes[i]);
  };
  const uint32_t major = byte(6);
  const uint32_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw file.error(fmt::format("whose .npy version is {}.{}", major, minor), "1.0, 2.0 or 3.0", kSaveAgain);
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  uint64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= uint64_t{byte(8 + i)} << (8 * i);
  const uint64_t start = 8 + length_bytes;
  if (length > bytes.size() - start) throw file.error("whose .npy header is cut short", "all of it", kSaveAgain);

  const Fields fields = Scanner(text.substr(start, length), file).dictionary();
  NpyHeader header;
  header.offset = start + length;
  header.width = width_of(*fields.descr, file);
  if (fields.shape->size() != 1) {
    throw file.error(fmt::format("which has {} dimensions", fields.shape->size()), "one", "save array.ravel()");
  }
  if (*fields.fortran_order) throw file.error("which is in Fortran order", "C order", kSaveAgain);
  header.count = fields.shape->front();
  const uint64_t data = bytes.size() - header.offset;
  if (data % header.width != 0 || data / header.width != header.count) {
    throw file.error(fmt::format("which holds {} bytes of data", data),
                     fmt::format("{} tokens of {} bytes", header.count, header.width), kSaveAgain);
  }
  return header;
}

}  // namespace eggroll
