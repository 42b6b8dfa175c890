// Texts for the page, of files that may be long and may be written meanwhile.
#ifndef EGGROLL_TOOLS_SERVE_READ_TEXT_H
#define EGGROLL_TOOLS_SERVE_READ_TEXT_H

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace eggroll {

// At most so many bytes of the file's beginning; "" where it cannot be read.
inline std::string read_beginning(const std::filesystem::path& path, size_t size, uint64_t from = 0) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// At most so many of its end, from the beginning of a line where there is one among them.
inline std::string read_end(const std::filesystem::path& path, size_t size) {
  std::error_code failure;
  const uint64_t whole = std::filesystem::file_size(path, failure);
  if (failure || whole <= size) return read_beginning(path, size);
  const std::string text = read_beginning(path, size, whole - size);
  const size_t line = text.find('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace eggroll

#endif
