// A read-only array of tokens: memory-mapped from a file or owned.
#ifndef EGGROLL_DATA_TOKENS_H
#define EGGROLL_DATA_TOKENS_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/named_file.h"

namespace eggroll {

static_assert(std::endian::native == std::endian::little, "token files are little-endian and mapped as they are");

// Loads of a known width at any alignment: what follows a .npy header need not be aligned.
template <class T>
class TokenReader {
 public:
  explicit TokenReader(const std::byte* data) : data_(data) {}
  T operator[](uint64_t i) const {
    T value;
    std::memcpy(&value, data_ + i * sizeof(T), sizeof(T));
    return value;
  }

 private:
  const std::byte* data_;
};

class DataFile;

// Copies share the memory; it lives as long as the last of them.
class Tokens {
 public:
  Tokens() = default;

  // size tokens of width bytes (1, 2 or 4) that begin at data, within the file.
  Tokens(const std::shared_ptr<const DataFile>& file, const std::byte* data, uint64_t size, uint32_t width,
         std::string source)
      : owner_(file), file_(file.get()), data_(data), size_(size), width_(width), source_(std::move(source)) {}

  // size tokens of width bytes (1, 2 or 4) at data, which owner keeps alive. source names them in messages.
  Tokens(std::shared_ptr<const void> owner, const std::byte* data, uint64_t size, uint32_t width, std::string source)
      : owner_(std::move(owner)), data_(data), size_(size), width_(width), source_(std::move(source)) {}

  // T: uint8_t, uint16_t or uint32_t.
  template <class T>
  static Tokens own(std::vector<T> values, std::string source) {
    static_assert(std::is_unsigned_v<T> && sizeof(T) <= 4);
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    return Tokens(owner, std::as_bytes(std::span(*owner)).data(), owner->size(), sizeof(T), std::move(source));
  }

  uint64_t size() const { return size_; }
  uint32_t width() const { return width_; }
  const std::string& source() const { return source_; }
  const DataFile* file() const { return file_; }  // that they are mapped from, if they are
  std::span<const std::byte> bytes() const { return {data_, size_ * width_}; }

  // Calls f with the TokenReader of the right width.
  template <class F>
  auto visit(F&& f) const {
    if (width_ == 1) return f(TokenReader<uint8_t>(data_));
    if (width_ == 2) return f(TokenReader<uint16_t>(data_));
    return f(TokenReader<uint32_t>(data_));
  }

  uint32_t operator[](uint64_t i) const {
    return visit([i](auto reader) { return static_cast<uint32_t>(reader[i]); });
  }

  // The largest token, 0 if there is none.
  uint32_t max() const;

  // The number of tokens that equal `token`.
  uint64_t count(uint32_t token) const;

  // Tokens [first, first + size) of the same memory.
  Tokens part(uint64_t first, uint64_t size) const {
    Tokens some = *this;
    some.data_ = data_ + first * width_;
    some.size_ = size;
    return some;
  }

 private:
  std::shared_ptr<const void> owner_;
  const DataFile* file_ = nullptr;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  uint32_t width_ = 1;
  std::string source_;
};

enum class TokenFormat { kUint8, kUint16, kUint32, kNpy };

// Whether the path is a pattern for several files, as the shell matches names: it holds one of * ? [ and is no file.
bool is_pattern(const std::string& path);

// Opens a path that may be a pattern: the files that match, one after the other in the order of their names, which does
// not depend on the language. Several files are copied to memory. Throws Error if none matches, or if their tokens have
// different widths.
Tokens open_all_tokens(const NamedFile& file, TokenFormat format);

// Maps the file. Throws Error if it is missing, a directory, empty, unreadable, or does not hold whole tokens of that
// format. data/data_file.h says what happens if the file changes while it is in use.
Tokens open_tokens(const NamedFile& file, TokenFormat format);

}  // namespace eggroll

#endif
