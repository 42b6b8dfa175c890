// Opens token files; every refusal is a sentence.
#include "data/tokens.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "data/data_file.h"
#include "data/npy.h"

namespace eggroll {
uint32_t Tokens::max() const {
  return visit([n = size_](auto reader) {
    auto largest = decltype(reader[0]){0};
    for (uint64_t i = 0; i < n; ++i) largest = std::max(largest, reader[i]);
    return static_cast<uint32_t>(largest);
  });
}

uint64_t Tokens::count(uint32_t token) const {
  return visit([n = size_, token](auto reader) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; ++i) found += reader[i] == token ? 1U : 0U;
    return found;
  });
}

Tokens open_tokens(const NamedFile& file, TokenFormat format) {
  const auto opened = std::make_shared<const DataFile>(file);
  const std::span<const std::byte> bytes = opened->bytes();
  if (format == TokenFormat::kNpy) {
    const NpyHeader header = parse_npy_header(bytes, file);
    return Tokens(opened, bytes.data() + header.offset, header.count, header.width, file.path);
  }
  const uint32_t width = format == TokenFormat::kUint8 ? 1 : format == TokenFormat::kUint16 ? 2 : 4;
  if (bytes.size() % width != 0) {
    throw file.error(fmt::format("whose {} bytes are not a multiple of {}", bytes.size(), width),
                     fmt::format("whole uint{} tokens", 8 * width), "correct dataset.dtype or the file");
  }
  return Tokens(opened, bytes.data(), bytes.size() / width, width, file.path);
}

bool is_pattern(const std::string& path) {
  std::error_code failure;
  return path.find_first_of("*?[") != std::string::npos && !std::filesystem::exists(path, failure);
}

namespace {

std::vector<NamedFile> files_matching(const NamedFile& pattern) {
  glob_t found{};
  std::vector<NamedFile> files;
  if (::glob(pattern.path.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) files.push_back({pattern.key, found.gl_pathv[i]});
  }
  ::globfree(&found);
  std::sort(files.begin(), files.end(), [](const NamedFile& a, const NamedFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace

Tokens open_all_tokens(const NamedFile& file, TokenFormat format) {
  if (!is_pattern(file.path)) return open_tokens(file, format);
  const std::vector<NamedFile> files = files_matching(file);
  if (files.empty()) {
    throw file.error("which matches no file", "a file, or a pattern that files match", "correct the path");
  }
  if (files.size() == 1) return open_tokens(files.front(), format);
  const auto all = std::make_shared<std::vector<std::byte>>();
  uint32_t width = 0;
  for (const NamedFile& each : files) {
    const Tokens tokens = open_tokens(each, format);
    if (width != 0 && tokens.width() != width) {
      throw each.error(fmt::format("whose tokens have {} bytes", tokens.width()),
                       fmt::format("{}, as in '{}'", width, files.front().path), "give all files the same type");
    }
    width = tokens.width();
    all->insert(all->end(), tokens.bytes().begin(), tokens.bytes().end());
  }
  return Tokens(std::shared_ptr<const void>(all), all->data(), all->size() / width, width, file.path);
}

}  // namespace eggroll
