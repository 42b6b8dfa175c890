// Opens token files; every refusal is a sentence.
#include "data/tokens.h"

#include <algorithm>

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

}  // namespace eggroll
